// The WebSocket: opens it with a ticket, checks it with heartbeats, and opens it again after a wait when it
// is lost.
import {
  accountEndpoints,
  type ClientFrame,
  decodeRelayFrame,
  encodeFrame,
  type RelayFrame,
  TOKEN_DEAD_CLOSE_CODE,
} from '@sotto/protocol'
import { asClientError, ClientError } from '../client-error.ts'
import type { NetworkState } from '../events/events.ts'
import type { Platform, SocketLike } from '../platform/platform.ts'
import { Backoff } from '../platform/platform.ts'
import { baseOf, type Http } from './http.ts'

const OPEN_TIMEOUT_MS = 15_000
const PONG_TIMEOUT_MS = 10_000
/** A user who returns to a page is waiting, so a connection that died meanwhile has to be detected sooner. */
const WAKE_PONG_TIMEOUT_MS = 5000
/** After a connection of at least this duration, the waits before new attempts start small again. */
const STABLE_MS = 10_000
const RECONNECT = { firstMs: 1000, maxMs: 30_000 }
/** The longest time that a relay can make the client wait before it connects again. */
const MAX_ASKED_WAIT_MS = 300_000
/** A longer frame is not read. The longest one of an honest relay has a post twice. */
const MAX_FRAME_CHARACTERS = 1024 * 1024

type GoawayReason = Extract<RelayFrame, { type: 'goaway' }>['reason']

/** Sends a frame. Returns false without a connection. */
export type SendFrame = (frame: ClientFrame) => boolean

/** The login that supplies the connection's tokens. */
export interface ConnectionLogin {
  /** Drops the token, because the relay no longer accepts it. */
  dropAnyToken(): void
}

/** Receives the events of a connection. */
export interface ConnectionListener {
  onState(state: NetworkState): void
  /**
   * The connection is open. The listener now sends everything that waits. `features` are those of the relay.
   */
  onOpen(features: readonly string[]): void
  /** `bytes` is the frame's length, which the queue of frames needs for its limit. */
  onFrame(frame: RelayFrame, bytes: number): void
  /** It is time to check for missing answers. Called also while a pong is missing. */
  onHeartbeat(): void
  /** A ping is about to be sent. */
  onPing(): void
  /** The relay has handled everything that was sent before the latest ping. */
  onPong(): void
  onGoaway(reason: GoawayReason): void
  onError(error: ClientError): void
}

/** Keeps one account connected to its relay from `start` to `stop`. */
export class Connection {
  readonly #platform: Platform
  readonly #http: Http
  readonly #login: ConnectionLogin
  readonly #uuid: string
  readonly #listener: ConnectionListener
  readonly #backoff: Backoff
  readonly #timers = new Set<() => void>()
  #state: NetworkState = 'disconnected'
  #isStarted = false
  #isOpen = false
  #socket: SocketLike | undefined
  /** Counts attempts and stops. A late result of an abandoned attempt has an old number. */
  #attemptId = 0
  /** Counts received frames, to detect silence. */
  #received = 0
  #isPingOut = false
  #attemptedAt = 0
  /** Ends the wait before the next attempt early, except for a wait that the relay asked for. */
  #endWait: (() => void) | undefined
  #removeWakeListener: (() => void) | undefined

  constructor(
    platform: Platform,
    http: Http,
    login: ConnectionLogin,
    uuid: string,
    listener: ConnectionListener,
  ) {
    this.#platform = platform
    this.#http = http
    this.#login = login
    this.#uuid = uuid
    this.#listener = listener
    this.#backoff = new Backoff(platform.random, RECONNECT)
  }

  get state(): NetworkState {
    return this.#state
  }

  /** Connects, and reconnects until `stop`, a final goaway, or a final refusal. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#backoff.reset()
    this.#removeWakeListener = this.#platform.wake(() => this.#wake())
    void this.#attempt()
  }

  stop(): void {
    this.#end()
    this.#setState('disconnected')
  }

  /** Sends a frame. Returns false without a connection. */
  send(frame: ClientFrame): boolean {
    if (!this.#isOpen || !this.#socket) return false
    try {
      this.#socket.send(encodeFrame(frame))
      return true
    } catch {
      return false
    }
  }

  /** Asks for everything that is not confirmed. */
  sync(): void {
    this.send({ type: 'sync', receipts: 'by_seq', ...(this.#platform.forwardSecrecy ? { crypto_v: 3 } : {}) })
  }

  /** Closes a connection that is open but does not work, and connects again. */
  reopen(): void {
    if (!this.#isStarted) return
    this.#abandon()
    this.#reconnectLater()
  }

  async #attempt(): Promise<void> {
    this.#abandon()
    const attemptId = this.#attemptId
    this.#attemptedAt = this.#platform.clock.now()
    this.#setState('connecting')
    try {
      const { ticket, features } = await this.#http.call(accountEndpoints.wsTicket, {}, { retry: 'none' })
      if (attemptId === this.#attemptId) this.#open(ticket, features)
    } catch (thrown) {
      if (attemptId !== this.#attemptId) return
      const error = asClientError(thrown, 'NETWORK')
      if (error.retry === 'login') this.#login.dropAnyToken()
      // Being offline is reported as a state, not as an error.
      if (error.code !== 'NETWORK') this.#listener.onError(error)
      // The account was deleted, or its keys are others: a retry cannot help.
      if (error.retry === 'never') this.stop()
      else this.#reconnectLater(error.retryAfterMs)
    }
  }

  #open(ticket: string, features: readonly string[] = []): void {
    const query = new URLSearchParams({ user_uuid: this.#uuid, ticket })
    const socket = new this.#platform.WebSocket(
      `${baseOf(this.#platform.relayUrl).replace(/^http/, 'ws')}/ws?${query}`,
    )
    this.#socket = socket
    const cancelTimeout = this.#after(OPEN_TIMEOUT_MS, () => this.reopen())
    socket.addEventListener('open', () => {
      if (this.#socket !== socket) return
      cancelTimeout()
      this.#isOpen = true
      this.#after(STABLE_MS, () => this.#backoff.reset())
      this.#scheduleHeartbeat()
      this.sync()
      this.#setState('connected')
      this.#listener.onOpen(features)
    })
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#receive(data)
    })
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket === socket) this.#lost(code)
    })
    // A `close` event follows. Without a listener for `error` some runtimes end the process.
    socket.addEventListener('error', () => {})
  }

  /** The device has woken from sleep, or has a network again: checks the connection, or connects now. */
  #wake(): void {
    if (this.#isOpen) this.#probe(WAKE_PONG_TIMEOUT_MS)
    else if (this.#endWait) this.#endWait()
    // An attempt from before the sleep would hang until its time-out.
    else if (this.#platform.clock.now() - this.#attemptedAt > WAKE_PONG_TIMEOUT_MS) void this.#attempt()
  }

  #receive(data: unknown): void {
    this.#received += 1
    const isReadable = typeof data === 'string' && data.length <= MAX_FRAME_CHARACTERS
    const decoded = isReadable ? decodeRelayFrame(data) : undefined
    if (!decoded?.frame) {
      // A newer relay may send types of frames that this version does not know. That is no error.
      if (decoded?.fault.code !== 'UNKNOWN_FRAME') {
        this.#listener.onError(new ClientError('BAD_REPLY', 'the relay sent an invalid frame'))
      }
      return
    }
    const { frame } = decoded
    if (frame.type === 'pong') this.#onPong()
    else if (frame.type === 'goaway') this.#goAway(frame.reason)
    else this.#listener.onFrame(frame, isReadable ? data.length : 0)
  }

  #goAway(reason: GoawayReason): void {
    this.#login.dropAnyToken()
    if (reason === 'jwt_revoked') this.reopen()
    else this.#end()
    // The reason comes before the state, so that a handler of the state knows it. It may connect again.
    this.#listener.onGoaway(reason)
    if (!this.#isStarted) this.#setState('disconnected')
  }

  #end(): void {
    this.#isStarted = false
    this.#removeWakeListener?.()
    this.#removeWakeListener = undefined
    this.#abandon()
  }

  #lost(code: number): void {
    if (code === TOKEN_DEAD_CLOSE_CODE) this.#login.dropAnyToken()
    this.#abandon()
    this.#reconnectLater()
  }

  #reconnectLater(askedMs = 0): void {
    if (!this.#isStarted) return
    const { clock } = this.#platform
    const asked = Math.min(askedMs, MAX_ASKED_WAIT_MS)
    const mayAttemptAt = clock.now() + asked
    const cancel = this.#after(Math.max(this.#backoff.nextMs(), asked), () => void this.#attempt())
    this.#endWait = () => {
      cancel()
      this.#endWait = undefined
      this.#backoff.reset()
      const waitMs = mayAttemptAt - clock.now()
      if (waitMs > 0) this.#after(waitMs, () => void this.#attempt())
      else void this.#attempt()
    }
    // Last, because a handler of this event may disconnect.
    this.#setState('connecting')
  }

  #scheduleHeartbeat(): void {
    this.#after(this.#platform.heartbeatMs, () => {
      this.#listener.onHeartbeat()
      // The listener may have closed the connection.
      if (!this.#isOpen) return
      this.#probe(PONG_TIMEOUT_MS)
      this.#scheduleHeartbeat()
    })
  }

  /**
   * Sends a ping, and reconnects if nothing arrives in time. Half-open connections accept data but never
   * answer.
   */
  #probe(withinMs: number): void {
    // One ping at a time: two pongs could not be distinguished, but each proves what the relay has received
    // by then.
    if (!this.#isPingOut) {
      this.#isPingOut = true
      this.#listener.onPing()
      this.send({ type: 'ping' })
    }
    const received = this.#received
    this.#after(withinMs, () => {
      if (this.#received === received) this.reopen()
    })
  }

  #onPong(): void {
    if (!this.#isPingOut) return
    this.#isPingOut = false
    this.#listener.onPong()
  }

  /** Closes the socket and cancels everything that waits for it. */
  #abandon(): void {
    this.#attemptId += 1
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#isOpen = false
    this.#isPingOut = false
    this.#endWait = undefined
    const socket = this.#socket
    this.#socket = undefined
    if (socket) closeSocket(socket)
  }

  #after(ms: number, run: () => void): () => void {
    const cancel = this.#platform.clock.after(ms, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
    return () => {
      this.#timers.delete(cancel)
      cancel()
    }
  }

  #setState(state: NetworkState): void {
    if (this.#state === state) return
    this.#state = state
    this.#listener.onState(state)
  }
}

function closeSocket(socket: SocketLike): void {
  try {
    socket.close(1000)
  } catch {}
}
