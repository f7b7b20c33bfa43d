// Runs the WebSockets: opens them, passes on what they receive, calls the features' handlers, sends the
// answers, closes them. Knows features only as handlers of frames.
import {
  type ClientFrame,
  closeCodes,
  closeMeanings,
  encodeFrame,
  type Limits,
  ProtocolError,
  type Rates,
} from '@sotto/protocol'
import type { ServerWebSocket, WebSocketHandler } from 'bun'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import type { SecurityLog } from '../operations/security-log.ts'
import type { AccountId } from '../storage/storage.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import { type ConnectionCheckParts, ConnectionChecks, type DeadTokenReason } from './connection-checks.ts'
import { Connections } from './connections.ts'
import { ReplacedError } from './epochs.ts'
import { errorFrame } from './error-frame.ts'
import type {
  Answers,
  CallHandler,
  CallSignal,
  ConnectionFollower,
  DeliveryFollower,
  FeatureFrame,
  FrameHandlers,
  PlainFrame,
} from './frame-handlers.ts'
import { AccountRates } from './frame-rates.ts'
import { HeldFrames } from './held-frames.ts'
import { IncomingFrames, type IncomingParts } from './incoming-frames.ts'
import { RECEIVED_TIMES } from './oversized-frame.ts'
import { UnreadBytes } from './unread-bytes.ts'

/** The result of an upgrade: the account, or the reason why a token that this relay issued is dead. */
export type Admission =
  | { readonly owner: ConnectionOwner; readonly deadToken?: undefined }
  | { readonly owner?: undefined; readonly deadToken: DeadTokenReason }

/** The data attached to a socket from upgrade to close. */
export interface SocketData {
  readonly admission: Admission
  /** Called when the connection is closed. */
  readonly onClosed: () => void
  session?: Session
}

interface Session {
  readonly connection: Connection
  readonly incoming: IncomingFrames
  /** When something last arrived from the peer, in monotonic milliseconds. */
  lastActiveAt: number
}

type Socket = ServerWebSocket<SocketData>

export interface GatewayParts extends ConnectionCheckParts {
  readonly handlers: FrameHandlers<FeatureFrame>
  readonly calls: CallHandler
  readonly follower: DeliveryFollower
  /** Features that only need to know who is connected. */
  readonly watchers: readonly ConnectionFollower[]
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly rates: Rates
  readonly metrics: RelayMetrics
  readonly securityLog: SecurityLog
}

export type { DeadTokenReason } from './connection-checks.ts'

export class Gateway {
  readonly #parts: GatewayParts
  readonly #connections: Connections
  readonly #rates = new Map<AccountId, AccountRates>()
  readonly #sockets = new Set<Socket>()
  readonly #unread: UnreadBytes
  readonly #incoming: IncomingParts
  readonly #held: HeldFrames
  readonly #checks: ConnectionChecks
  #silenceCheck: ReturnType<typeof setInterval> | undefined
  #isDraining = false

  constructor(parts: GatewayParts) {
    this.#parts = parts
    this.#connections = new Connections(parts)
    this.#unread = new UnreadBytes(parts.limits.unreadBytes, () => this.#connections.all())
    const { clock, limits, log, follower, metrics } = parts
    const heldFull = new RepeatedWarning('held_frames_full', { log, clock })
    this.#held = new HeldFrames(limits, ({ connection: { account } }) => heldFull.happened({ account }))
    this.#incoming = {
      clock,
      limits,
      metrics,
      held: this.#held,
      decoded: (connection) => follower.frameReceived(connection),
      carryOut: (frame, connection) => this.#dispatch(frame, connection),
      carryOutCall: (signal, connection) => this.#dispatchCall(signal, connection),
    }
    this.#checks = new ConnectionChecks(parts, this.#connections)
    parts.bus.listen((account, ring) => this.#connections.onRing(account, ring))
  }

  /** How many accounts are connected to this node. */
  get connectionCount(): number {
    return this.#connections.count
  }

  /** The settings and callbacks of WebSockets for Bun's server. */
  webSocket(): WebSocketHandler<SocketData> {
    const { limits } = this.#parts
    this.#silenceCheck = setInterval(() => this.#terminateSilent(), (limits.idleSeconds * 1000) / 8)
    return {
      maxPayloadLength: limits.frameBytes * RECEIVED_TIMES,
      idleTimeout: limits.idleSeconds,
      sendPings: false, // Clients send pings; a client that stays silent is disconnected.
      // Ciphertext does not compress, and compressed lengths could reveal its content.
      perMessageDeflate: false,
      backpressureLimit: limits.outboundBytes * 2,
      // Only published posts reach this limit. A client that misses a post reconnects and reads the channel's
      // history.
      closeOnBackpressureLimit: true,
      open: (socket) => this.#opened(socket),
      message: (socket, data) => this.#received(socket, data),
      ping: (socket) => void this.#controlled(socket),
      pong: (socket) => {
        // A client that answers pings but reads nothing counts as disconnected.
        const connection = this.#controlled(socket)
        if (connection) this.#parts.follower.pongReceived(connection)
      },
      drain: (socket) => {
        const { session } = socket.data
        if (session) this.#parts.follower.drained(session.connection)
      },
      close: (socket) => this.#closed(socket),
    }
  }

  /** Sends published frames through the server that the sockets belong to. */
  attach(server: {
    publish(topic: string, data: string): unknown
    subscriberCount(topic: string): number
  }): void {
    this.#parts.bus.listenToTopics((topic, frame) => {
      server.publish(topic, frame)
      this.#unread.countWritten(frame.length * server.subscriberCount(topic))
    })
  }

  /**
   * Ignores new frames from now on. Frames that wait for their rate are dropped when their connections close.
   */
  stopReceiving(): void {
    this.#isDraining = true
  }

  /**
   * Closes every connection with 1012, which asks the clients to reconnect to this node or another. Waits
   * first, at most `mostMs`, until the peers have received what was sent. The end of the server cuts off the
   * rest.
   */
  async closeAll(mostMs: number): Promise<void> {
    clearInterval(this.#silenceCheck)
    await this.#checks.stop()
    const deadline = this.#parts.clock.monotonic() + mostMs
    const isUnread = (connection: Connection): boolean => connection.bufferedBytes > 0
    while (this.#connections.all().some(isUnread) && this.#parts.clock.monotonic() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const connections = this.#connections.all()
    for (const connection of connections) connection.close('restart')
    await this.#checks.endAll(connections, mostMs)
  }

  /** Closes the connections whose tokens are dead, after the keys of tokens were dropped. */
  closeDeadTokens(isAlive: (jti: string) => boolean): void {
    for (const connection of this.#connections.all())
      if (!isAlive(connection.jti)) connection.goAway('jwt_revoked', 'tokenDead')
  }

  /** Drops the rates of accounts that are not connected and have used none for a while. */
  dropUnusedRates(): void {
    for (const [account, rates] of this.#rates) {
      if (!this.#connections.find(account) && rates.isFresh()) this.#rates.delete(account)
    }
  }

  /** Bytes that were sent and that the peers have not received yet. */
  get unreadBytes(): number {
    return this.#connections.all().reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0)
  }

  /** Bytes of the frames that wait for their rates. */
  get heldBytes(): number {
    return this.#held.bytes
  }

  #opened(socket: Socket): void {
    const { admission } = socket.data
    if (!admission.owner) {
      this.#refuseDeadToken(socket, admission.deadToken)
      return
    }
    if (this.#isDraining) {
      socket.close(closeCodes.restart, closeMeanings.restart)
      return
    }
    const { limits, randomBytes, follower, metrics } = this.#parts
    const { outboundBytes, windowBytes, frameBytes } = limits
    const options = { id: randomText(randomBytes, 9), outboundBytes, windowBytes, frameBytes, metrics }
    const connection = new Connection(socket, admission.owner, options)
    const incoming = new IncomingFrames(connection, this.#ratesOf(connection.account), this.#incoming)
    socket.data.session = { connection, incoming, lastActiveAt: this.#parts.clock.monotonic() }
    this.#sockets.add(socket)
    this.#connections.add(connection)
    this.#checks.opened(connection)
    follower.opened(connection)
    for (const watcher of this.#parts.watchers) watcher.opened(connection)
  }

  // Only this frame tells published clients to log in again or to stay disconnected.
  #refuseDeadToken(socket: Socket, reason: DeadTokenReason): void {
    const close = reason === 'jwt_revoked' ? 'tokenDead' : 'replaced'
    socket.sendText(encodeFrame({ type: 'goaway', reason }))
    socket.close(closeCodes[close], closeMeanings[close])
  }

  // Bun's idle timeout also restarts when the relay sends something. A peer that is gone would stay connected
  // as long as frames are sent to it, so the relay checks by itself when something last arrived.
  #terminateSilent(): void {
    const { clock, limits } = this.#parts
    this.#unread.closeFullest()
    const before = clock.monotonic() - limits.idleSeconds * 1000
    for (const socket of this.#sockets) {
      if (socket.data.session && socket.data.session.lastActiveAt < before) socket.terminate()
    }
  }

  #markActive(socket: Socket): void {
    if (socket.data.session) socket.data.session.lastActiveAt = this.#parts.clock.monotonic()
  }

  // Bun answers pings by itself, without any limit, and a client may send pongs that nobody asked for. Both
  // are counted here. Returns the connection if it stays open.
  #controlled(socket: Socket): Connection | undefined {
    this.#markActive(socket)
    const { session } = socket.data
    if (!session || session.connection.isClosing) return undefined
    const { connection, incoming } = session
    if (incoming.rates.allowsAtOnce() && !connection.isFull) return connection
    connection.close('overload')
    return undefined
  }

  #received(socket: Socket, data: string | Buffer): void {
    this.#markActive(socket)
    const { session } = socket.data
    if (!session || this.#isDraining || session.connection.isClosing) return
    session.incoming.received(data)
  }

  #dispatch(frame: PlainFrame, connection: Connection): void {
    // What a replaced connection sent must not come after what the newer one sent (protocol, Delivery 3). The
    // client sends it again.
    if (this.#connections.find(connection.account) !== connection) return
    const { clock, metrics } = this.#parts
    const startedAt = frame.type === 'msg' ? clock.monotonic() : undefined
    this.#handle(frame, connection)?.then(
      (frames) => {
        for (const answer of frames) connection.send(encodeFrame(answer))
        if (startedAt !== undefined) metrics.ackSeconds.observe((clock.monotonic() - startedAt) / 1000)
      },
      (error) => this.#answerFailure(frame, connection, error),
    )
  }

  #dispatchCall(signal: CallSignal, connection: Connection): void {
    this.#parts
      .calls(signal, connection)
      .catch((error) => this.#answerFailure(signal.frame, connection, error))
  }

  #handle(frame: PlainFrame, connection: Connection): Promise<Answers> | undefined {
    const { handlers } = this.#parts
    switch (frame.type) {
      case 'ping':
        return undefined // Answered by IncomingFrames, so that it does not wait behind other frames.
      case 'sync':
        return handlers.sync(frame, connection)
      case 'msg':
        return handlers.msg(frame, connection)
      case 'delivered':
        return handlers.delivered(frame, connection)
      case 'read':
        return handlers.read(frame, connection)
      case 'typing':
        return handlers.typing(frame, connection)
      case 'retract':
        return handlers.retract(frame, connection)
      default:
        return frame satisfies never
    }
  }

  #answerFailure(frame: ClientFrame, connection: Connection, error: unknown): void {
    if (error instanceof ReplacedError) {
      this.#checks.wasReplaced(connection)
      return
    }
    const names = {
      id: 'id' in frame ? frame.id : undefined,
      conv_id: 'conv_id' in frame ? frame.conv_id : undefined,
      call_id: 'call_id' in frame ? frame.call_id : undefined,
    }
    const known = error instanceof ProtocolError ? frameRefusalOf(error) : new ProtocolError('INTERNAL')
    if (!(error instanceof ProtocolError))
      this.#parts.log.error('frame_failed', { error, frame: frame.type, account: connection.account })
    this.#parts.metrics.errors.count(known.code)
    connection.send(encodeFrame(errorFrame(known, names)))
  }

  #closed(socket: Socket): void {
    this.#sockets.delete(socket)
    socket.data.onClosed()
    const { session } = socket.data
    if (!session) return
    session.incoming.stop()
    this.#connections.remove(session.connection)
    if (!this.#isDraining) this.#checks.closed(session.connection) // A node that stops ends all together.
    this.#parts.follower.closed(session.connection)
    for (const watcher of this.#parts.watchers) watcher.closed(session.connection)
  }

  #ratesOf(account: AccountId): AccountRates {
    let rates = this.#rates.get(account)
    if (!rates) {
      const { clock, metrics, securityLog } = this.#parts
      rates = new AccountRates(this.#parts.rates, clock, (rate) => {
        metrics.ratesReached.count(rate)
        securityLog.record('rate_reached', { rate, account })
      })
      this.#rates.set(account, rates)
    }
    return rates
  }
}

// Clients that know no `STORE_UNAVAILABLE` would give up a message after a few of them.
function frameRefusalOf(error: ProtocolError): ProtocolError {
  return error.code === 'STORE_UNAVAILABLE' ? new ProtocolError('INTERNAL', error.details) : error
}
