// Carries packets between nodes by NATS: one subject for all nodes of a relay, core NATS only. What is sent
// while no server is connected is lost, which the numbers of the packets show to the others.
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { NatsServers } from './nats-settings.ts'
import type { Carrier, CarrierEvents, OpenCarrier } from './shared-bus.ts'

/** Servers take 1 MiB by default. Smaller packets let those of other nodes through in between. */
const MOST_BYTES = 64 * 1024
const CONNECT_MS = 5000
/** Between two attempts to connect. */
const PAUSE_MS = 500
/** A server that does not answer two of these is left. */
const PING_MS = 5000

/**
 * Opens the carrier. It connects to one of the servers, and again whenever the connection ends, for as long
 * as the relay runs. It opens although none answers: the nodes work without it, but notify each other later.
 * @param subject belongs to the relay, so that relays that share a server do not hear each other
 */
export function natsCarrier(nats: NatsServers, subject: string): OpenCarrier {
  return async (events) => {
    const carrier = new NatsCarrier(nats, subject, events)
    await carrier.open()
    return carrier
  }
}

class NatsCarrier implements Carrier {
  readonly mostBytes = MOST_BYTES
  readonly #nats: NatsServers
  readonly #subject: string
  readonly #events: CarrierEvents
  readonly #stopped = new AbortController()
  #connection: NatsConnection | undefined
  /** Fails the packets that are under way: the library tells nothing of them when the connection ends. */
  #failSending: ((error: Error) => void) | undefined

  constructor(nats: NatsServers, subject: string, events: CarrierEvents) {
    this.#nats = nats
    this.#subject = subject
    this.#events = events
  }

  /** Resolves after the first attempt to connect. */
  async open(): Promise<void> {
    await this.#connect()
    void this.#stayConnected()
  }

  async send(packets: readonly string[]): Promise<void> {
    const connection = this.#connection
    if (!connection) throw new Error('no NATS server is connected')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#failSending = reject
    for (const packet of packets) connection.publish(this.#subject, packet)
    // The server answers once it has read all of it. So the next packets wait here, and not in the socket.
    connection.flush().then(resolve, reject)
    await promise
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#connection?.close()
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#stopped
    for (;;) {
      if (this.#connection) await this.#ended(this.#connection)
      await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      await this.#connect()
    }
  }

  async #connect(): Promise<void> {
    const { servers, isTls, user, password } = this.#nats
    try {
      const connection = await connect({
        servers: [...servers],
        ...(isTls ? { tls: {} } : {}),
        // A name without a password is a token, as in NATS's own tools.
        ...(user !== undefined && (password ? { user, pass: password } : { token: user })),
        reconnect: false,
        timeout: CONNECT_MS,
        pingInterval: PING_MS,
      })
      await this.#use(connection)
    } catch (error) {
      this.#events.onFailure(error)
    }
  }

  async #use(connection: NatsConnection): Promise<void> {
    const most = connection.info?.max_payload ?? MOST_BYTES
    if (this.#stopped.signal.aborted || most < MOST_BYTES) await connection.close()
    if (this.#stopped.signal.aborted) return
    if (most < MOST_BYTES) throw new Error(`max_payload of the NATS server is ${most}, below ${MOST_BYTES}`)
    connection.subscribe(this.#subject, {
      callback: (error, message) => {
        if (!error) return this.#events.onPacket(message.string())
        // Without its subscription the connection is of no use. The status tells the error.
        void connection.close()
      },
    })
    void this.#watch(connection)
    await Promise.race([connection.flush(), connection.closed()])
    if (connection.isClosed()) throw new Error('the NATS server ended the new connection')
    this.#connection = connection
    this.#events.onAgain()
  }

  /** Tells what the server refuses. Ends with the connection. */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status())
      if (status.type === 'error') this.#events.onFailure(status.error)
  }

  async #ended(connection: NatsConnection): Promise<void> {
    const error = await connection.closed()
    this.#connection = undefined
    this.#failSending?.(error ?? new Error('the connection to NATS ended'))
    if (!this.#stopped.signal.aborted) this.#events.onFailure(error ?? new Error('the NATS server ended'))
  }
}
