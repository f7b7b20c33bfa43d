// A WebSocket's life: upgrade, decode, pace, dispatch, answer, close. Knows features only as handlers of frames.
import {
  type ClientFrame,
  closeCodes,
  closeMeanings,
  decodeClientFrame,
  encodeFrame,
  errorMeanings,
  type FrameFault,
  type Limits,
  ProtocolError,
  type Rates,
  type RelayFrame,
  type RelayFrameOf,
} from '@sotto/protocol'
import type { ServerWebSocket, WebSocketHandler } from 'bun'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import { Connections, type RetireToken } from './connections.ts'
import type {
  Answers,
  ConnectionFollower,
  DeliveryFollower,
  FeatureFrame,
  FrameHandlers,
} from './frame-handlers.ts'
import { AccountPace, PacedFrames } from './pacing.ts'

/** Why a token of ours opens no WebSocket. */
export type Farewell = 'jwt_revoked' | 'new_device_login'

/** What an upgrade found out: an account, or a token that was ours and is dead. */
export type Admission =
  | { readonly owner: ConnectionOwner; readonly farewell?: undefined }
  | { readonly owner?: undefined; readonly farewell: Farewell }

/** What a socket carries from upgrade to close. */
export interface SocketData {
  readonly admission: Admission
  session?: Session
}

interface Session {
  readonly connection: Connection
  readonly frames: PacedFrames
  badFrames: number
  /** When the peer was last heard of, in monotonic milliseconds. */
  heardAt: number
}

type Socket = ServerWebSocket<SocketData>

/** What the gateway is built from. */
export interface GatewayParts {
  readonly handlers: FrameHandlers<FeatureFrame>
  readonly follower: DeliveryFollower
  /** Features that only want to know who is there. */
  readonly watchers: readonly ConnectionFollower[]
  readonly retireToken: RetireToken
  /** Why the token behind a connection counts no more, if so. */
  readonly farewellOf: (owner: ConnectionOwner) => Promise<Farewell | undefined>
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly rates: Rates
  readonly log: Log
}

export class Gateway {
  readonly #parts: GatewayParts
  readonly #connections: Connections
  readonly #paces = new Map<AccountId, AccountPace>()
  readonly #sockets = new Set<Socket>()
  #silenceCheck: ReturnType<typeof setInterval> | undefined
  #isDraining = false

  constructor(parts: GatewayParts) {
    this.#parts = parts
    this.#connections = new Connections(parts)
    parts.bus.listen((account, ring) => this.#connections.hear(account, ring))
  }

  /** What Bun's server needs to know of WebSockets. */
  webSocket(): WebSocketHandler<SocketData> {
    const { limits } = this.#parts
    this.#silenceCheck = setInterval(() => this.#endSilent(), (limits.idleSeconds * 1000) / 8)
    return {
      maxPayloadLength: limits.frameBytes,
      idleTimeout: limits.idleSeconds,
      sendPings: false, // Silence is the peer's; it pings us.
      perMessageDeflate: false, // Ciphertext does not shrink, and compressed lengths tell tales.
      backpressureLimit: limits.outboundBytes * 2,
      // Reached only by what is published: who misses a post has to come back and read the channel's history.
      closeOnBackpressureLimit: true,
      open: (socket) => this.#opened(socket),
      message: (socket, data) => this.#received(socket, data),
      ping: (socket) => this.#pinged(socket),
      pong: (socket) => {
        this.#heard(socket)
        const { session } = socket.data
        if (!session) return
        // Who answers pings and reads nothing else is not there.
        if (session.connection.isOverfull) session.connection.close('overload')
        else this.#parts.follower.ponged(session.connection)
      },
      drain: (socket) => {
        const { session } = socket.data
        if (session) this.#parts.follower.drained(session.connection)
      },
      close: (socket) => this.#closed(socket),
    }
  }

  /** Lets what is published go out through the server the sockets belong to. */
  attach(server: { publish(topic: string, data: string): unknown }): void {
    this.#parts.bus.listenToTopics((topic, frame) => server.publish(topic, frame))
  }

  /** Takes no new frames from here on. Those that wait for their rate were not acknowledged and are dropped. */
  stopReceiving(): void {
    this.#isDraining = true
  }

  /**
   * Closes every connection with 1012: come back, to this node or another. First what was sent is taken by the peers,
   * as far as they do so within `mostMs`: the end of the server cuts off what is still unread.
   */
  async closeAll(mostMs: number): Promise<void> {
    clearInterval(this.#silenceCheck)
    const late = this.#parts.clock.monotonic() + mostMs
    const isUnread = (connection: Connection): boolean => connection.bufferedBytes > 0
    while (this.#connections.all().some(isUnread) && this.#parts.clock.monotonic() < late) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    for (const connection of this.#connections.all()) connection.close('restart')
  }

  /** Forgets the rates of accounts that have not used theirs for a while. */
  forgetPaces(): void {
    for (const [account, pace] of this.#paces) {
      if (!this.#connections.find(account) && pace.isFresh()) this.#paces.delete(account)
    }
  }

  #opened(socket: Socket): void {
    const { admission } = socket.data
    if (!admission.owner) {
      this.#sayFarewell(socket, admission.farewell)
      return
    }
    if (this.#isDraining) {
      socket.close(closeCodes.restart, closeMeanings.restart)
      return
    }
    const { limits, randomBytes, bus, follower } = this.#parts
    const { outboundBytes, windowBytes } = limits
    const options = { id: randomText(randomBytes, 9), outboundBytes, windowBytes }
    const connection = new Connection(socket, admission.owner, options)
    const frames = new PacedFrames(this.#paceOf(connection.account), limits.heldBytes, (frame) =>
      this.#dispatch(frame, connection),
    )
    socket.data.session = { connection, frames, badFrames: 0, heardAt: this.#parts.clock.monotonic() }
    this.#sockets.add(socket)
    this.#connections.add(connection)
    bus.ring(connection.account, { kind: 'connected', connection: connection.id, jti: connection.jti })
    follower.opened(connection)
    for (const watcher of this.#parts.watchers) watcher.opened(connection)
    void this.#lookAgain(connection)
  }

  // The token may have died between the upgrade's look at it and this connection being there to hear of it.
  async #lookAgain(connection: Connection): Promise<void> {
    try {
      const reason = await this.#parts.farewellOf(connection)
      if (reason) connection.goAway(reason, reason === 'jwt_revoked' ? 'tokenDead' : 'replaced')
    } catch (error) {
      this.#parts.log.error('token_check_failed', { error, account: connection.account })
      connection.close('overload')
    }
  }

  // Published clients learn from this, and only from this, that they have to log in again or to stay away.
  #sayFarewell(socket: Socket, reason: Farewell): void {
    const close = reason === 'jwt_revoked' ? 'tokenDead' : 'replaced'
    socket.sendText(encodeFrame({ type: 'goaway', reason }))
    socket.close(closeCodes[close], closeMeanings[close])
  }

  // The server's own idle timeout is set back by whatever is sent, too: a peer that is gone would stay for as long
  // as there is something to tell it.
  #endSilent(): void {
    const { clock, limits } = this.#parts
    const before = clock.monotonic() - limits.idleSeconds * 1000
    for (const socket of this.#sockets) {
      if (socket.data.session && socket.data.session.heardAt < before) socket.terminate()
    }
  }

  #heard(socket: Socket): void {
    if (socket.data.session) socket.data.session.heardAt = this.#parts.clock.monotonic()
  }

  // The server answers by itself, past every count of ours: so they are counted here.
  #pinged(socket: Socket): void {
    this.#heard(socket)
    const { session } = socket.data
    if (!session || session.connection.isClosing) return
    if (!session.frames.allowsAtOnce() || session.connection.isOverfull) session.connection.close('overload')
  }

  #received(socket: Socket, data: string | Buffer): void {
    this.#heard(socket)
    const { session } = socket.data
    if (!session || this.#isDraining || session.connection.isClosing) return
    const decoded =
      typeof data === 'string' ? decodeClientFrame(data) : { fault: { code: 'INVALID_JSON' as const } }
    // What is answered on arrival waits for no rate, so whoever floods with it is sent away.
    const isAnsweredAtOnce = decoded.fault !== undefined || decoded.frame.type === 'ping'
    if (isAnsweredAtOnce && !session.frames.allowsAtOnce()) {
      session.connection.close('overload')
      return
    }
    if (decoded.fault) {
      this.#refuse(session, decoded.fault)
      return
    }
    const { frame } = decoded
    this.#parts.follower.frameReceived(session.connection)
    if (frame.type === 'ping') {
      session.connection.send(encodeFrame({ type: 'pong', at: this.#parts.clock.now() }))
      return
    }
    if (!session.frames.push(frame, data.length)) session.connection.close('overload')
  }

  #refuse(session: Session, fault: FrameFault): void {
    const { code, field, rule, id, conv_id } = fault
    session.connection.send(
      encodeFrame(errorFrame(new ProtocolError(code, { field, rule }), { id, conv_id })),
    )
    if (code !== 'INVALID_JSON') return
    session.badFrames += 1
    if (session.badFrames >= this.#parts.limits.badFrames) session.connection.close('badFrames')
  }

  #dispatch(frame: ClientFrame, connection: Connection): void {
    this.#handle(frame, connection)?.then(
      (frames) => {
        for (const answer of frames) connection.send(encodeFrame(answer))
      },
      (error) => this.#failed(frame, connection, error),
    )
  }

  #handle(frame: ClientFrame, connection: Connection): Promise<Answers> | undefined {
    const { handlers } = this.#parts
    switch (frame.type) {
      case 'ping':
        return undefined // Answered on arrival: it does not wait behind paced frames.
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

  #failed(frame: ClientFrame, connection: Connection, error: unknown): void {
    const names = {
      id: 'id' in frame ? frame.id : undefined,
      conv_id: 'conv_id' in frame ? frame.conv_id : undefined,
    }
    const known = error instanceof ProtocolError ? error : new ProtocolError('INTERNAL')
    if (known !== error)
      this.#parts.log.error('frame_failed', { error, frame: frame.type, account: connection.account })
    connection.send(encodeFrame(errorFrame(known, names)))
  }

  #closed(socket: Socket): void {
    this.#sockets.delete(socket)
    const { session } = socket.data
    if (!session) return
    session.frames.stop()
    this.#connections.remove(session.connection)
    this.#parts.follower.closed(session.connection)
    for (const watcher of this.#parts.watchers) watcher.closed(session.connection)
  }

  #paceOf(account: AccountId): AccountPace {
    let pace = this.#paces.get(account)
    if (!pace) {
      pace = new AccountPace(this.#parts.rates, this.#parts.clock)
      this.#paces.set(account, pace)
    }
    return pace
  }
}

/** What a frame was refused for. */
function errorFrame(
  error: ProtocolError,
  names: { id?: string | undefined; conv_id?: string | undefined },
): RelayFrameOf<'error'> & RelayFrame {
  const { field, rule, retryAfterMs } = error.details
  return {
    type: 'error',
    error: error.code,
    message: field ? `${field} ${rule ?? 'is not valid'}` : errorMeanings[error.code],
    ...(names.id === undefined ? {} : { id: names.id }),
    ...(names.conv_id === undefined ? {} : { conv_id: names.conv_id }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  }
}
