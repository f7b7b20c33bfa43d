// Connections of one address that all send the same bytes, opened again when the relay closes them. They have
// a process of their own: in the process of the test, they would delay whatever the test measures.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** How many connections are opened again at a time, and how long after the ones before, at least. */
const [AGAIN, AGAIN_EVERY_MS] = [50, 30]

interface Orders {
  readonly host: string
  readonly port: number
  readonly from: string
  readonly count: number
  /** What each connection sends. */
  readonly bytes: string
}

/** An attack that runs until it is disposed. */
export interface ConnectionAttack extends AsyncDisposable {
  /** Resolves when some of the closed connections have been opened again, or none is closed. */
  reopened(): Promise<void>
}

/** Begins an attack with so many connections from this address. Resolves when each was open once. */
export async function attackWith(
  relayUrl: string,
  attack: Pick<Orders, 'from' | 'count' | 'bytes'>,
): Promise<ConnectionAttack> {
  const { hostname: host, port } = new URL(relayUrl)
  const orders: Orders = { ...attack, host, port: Number(port) }
  const child = fork(import.meta.path, [JSON.stringify(orders)])
  const failed = once(child, 'exit').then(() => {
    throw new Error('the attack ended too early')
  })
  const said = (): Promise<unknown> => Promise.race([once(child, 'message'), failed])
  await said()
  return {
    reopened: async () => {
      child.send('reopen')
      await said()
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect()
      await failed.catch(() => undefined)
    },
  }
}

/** The process of an attack. A message orders it to open connections again. It ends with the test. */
function run({ host, port, from, count, bytes }: Orders): void {
  let [connected, closed] = [0, 0]
  const open = (more: number): void => {
    for (let n = 0; n < more; n++) {
      const socket: Socket = connect({ host, port, localAddress: from })
      socket.on('connect', () => {
        socket.write(bytes)
        connected += 1
        if (connected === count) process.send?.('begun')
      })
      socket.on('error', () => undefined)
      socket.on('data', () => undefined)
      socket.on('close', () => {
        closed += 1
      })
    }
  }
  process.on('message', async () => {
    await Bun.sleep(AGAIN_EVERY_MS)
    const again = Math.min(AGAIN, closed)
    closed -= again
    open(again)
    process.send?.('opened again')
  })
  process.on('disconnect', () => process.exit(0))
  open(count)
}

if (import.meta.main) run(JSON.parse(process.argv[2] ?? ''))
