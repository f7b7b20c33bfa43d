// A proxy between clients and the relay that makes connections half-open. It drops one side's data, or delays
// it until the client has long reconnected, and neither side learns that the other is gone.
import { connect, createServer, type Server, type Socket } from 'node:net'

export const ailments = ['swallow-to-relay', 'swallow-to-client', 'swallow-both', 'hold-to-relay'] as const

export type Ailment = (typeof ailments)[number]

interface Pair {
  readonly client: Socket
  readonly relay: Socket
  ailment: Ailment | undefined
  readonly held: Buffer[]
}

export class FaultyWire {
  readonly port: number
  readonly #server: Server
  readonly #pairs = new Set<Pair>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  static async start(relayPort: number): Promise<FaultyWire> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
    const proxy = new FaultyWire(server, address.port)
    server.on('connection', (client) => proxy.#accept(client, relayPort))
    return proxy
  }

  /** Makes randomly chosen connections half-open until {@link heal}. @returns their number */
  ail(ailment: Ailment, choose: () => boolean): number {
    let count = 0
    for (const pair of this.#pairs) {
      if (pair.ailment || !choose()) continue
      pair.ailment = ailment
      count += 1
    }
    return count
  }

  /** Delivers the delayed data and ends every half-open connection. */
  heal(): void {
    for (const pair of this.#pairs) {
      if (!pair.ailment) continue
      for (const bytes of pair.held) pair.relay.write(bytes)
      pair.relay.end()
      pair.client.destroy()
      this.#pairs.delete(pair)
    }
  }

  stop(): void {
    this.#server.close()
    for (const { client, relay } of this.#pairs) {
      client.destroy()
      relay.destroy()
    }
  }

  #accept(client: Socket, relayPort: number): void {
    const relay = connect(relayPort, '127.0.0.1')
    const pair: Pair = { client, relay, ailment: undefined, held: [] }
    this.#pairs.add(pair)
    client.on('data', (bytes) => {
      if (pair.ailment === 'hold-to-relay') pair.held.push(Buffer.from(bytes))
      else if (pair.ailment !== 'swallow-to-relay' && pair.ailment !== 'swallow-both')
        pass(bytes, client, relay)
    })
    relay.on('data', (bytes) => {
      if (pair.ailment !== 'swallow-to-client' && pair.ailment !== 'swallow-both') pass(bytes, relay, client)
    })
    const ended = (): void => {
      if (pair.ailment) return
      this.#pairs.delete(pair)
      client.destroy()
      relay.destroy()
    }
    for (const side of [client, relay]) side.on('close', ended).on('error', () => undefined)
  }
}

function pass(bytes: Buffer | string, from: Socket, to: Socket): void {
  if (to.write(bytes)) return
  from.pause()
  to.once('drain', () => from.resume())
}
