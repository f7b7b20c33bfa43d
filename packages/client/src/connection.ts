// The life of the WebSocket: opened with a ticket, watched by heartbeats, opened again after a wait when it is lost.
import {
  accountEndpoints,
  type ClientFrame,
  closeCodes,
  decodeRelayFrame,
  encodeFrame,
  type RelayFrame,
} from '@sotto/protocol'
import { asClientError, ClientError } from './client-error.ts'
import { Backoff } from './clock.ts'
import type { NetworkState } from './events.ts'
import { baseOf, type Http } from './http.ts'
import type { Login } from './login.ts'
import type { Platform, SocketLike } from './options.ts'

const OPEN_TIMEOUT_MS = 15_000
const PONG_TIMEOUT_MS = 10_000
/** Whoever has just come back to a page waits for it: a connection that died meanwhile is found out sooner. */
const WAKE_PONG_TIMEOUT_MS = 5000
/** A connection that lived this long was a good one: the next wait starts small again. */
const STABLE_MS = 10_000
const RECONNECT = { firstMs: 1000, maxMs: 30_000 }
/** The longest wait a relay may ask for before it is tried again. */
const MAX_ASKED_WAIT_MS = 300_000

type GoawayReason = Extract<RelayFrame, { type: 'goaway' }>['reason']

/** What a connection tells its owner. */
export interface ConnectionListener {
  onState(state: NetworkState): void
  /** The connection is there; what should go out goes out now. */
  onOpen(): void
  /** `bytes` is the frame's length, for whoever must bound what waits. */
  onFrame(frame: RelayFrame, bytes: number): void
  /** It is time to look whether what was sent was answered. Told also while a pong is missing. */
  onHeartbeat(): void
  /** A ping left. */
  onPing(): void
  /** The relay has handled everything sent before the latest heartbeat. */
  onPong(): void
  onGoaway(reason: GoawayReason): void
  onError(error: ClientError): void
}

/** Keeps one account connected to its relay for as long as it is wanted. */
export class Connection {
  readonly #platform: Platform
  readonly #http: Http
  readonly #login: Login
  readonly #uuid: string
  readonly #listener: ConnectionListener
  readonly #backoff: Backoff
  readonly #timers = new Set<() => void>()
  #state: NetworkState = 'disconnected'
  #wanted = false
  #isOpen = false
  #socket: SocketLike | undefined
  /** Counts attempts and stops, so that what belongs to an abandoned one is known when it comes in late. */
  #life = 0
  /** Counts what was received, so that a silence can be told. */
  #received = 0
  #isPingOut = false
  #attemptedAt = 0
  /** Ends the wait before the next attempt early; the relay's own wish for a wait is kept. */
  #hurry: (() => void) | undefined
  #stopWaking: (() => void) | undefined

  constructor(platform: Platform, http: Http, login: Login, uuid: string, listener: ConnectionListener) {
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

  /** Connects, and goes on connecting until `stop`, a goaway that is for good, or a refusal that is. */
  start(): void {
    if (this.#wanted) return
    this.#wanted = true
    this.#backoff.reset()
    this.#stopWaking = this.#platform.wake(() => this.#wake())
    void this.#attempt()
  }

  stop(): void {
    this.#wanted = false
    this.#stopWaking?.()
    this.#stopWaking = undefined
    this.#abandon()
    this.#setState('disconnected')
  }

  /** Sends a frame, or answers false where there is no connection. */
  send(frame: ClientFrame): boolean {
    if (!this.#isOpen || !this.#socket) return false
    try {
      this.#socket.send(encodeFrame(frame))
      return true
    } catch {
      return false
    }
  }

  /** Gives up a connection that is open but does not work, and connects anew. */
  reopen(): void {
    if (!this.#wanted) return
    this.#abandon()
    this.#reconnectLater()
  }

  async #attempt(): Promise<void> {
    this.#abandon()
    const life = this.#life
    this.#attemptedAt = this.#platform.clock.now()
    this.#setState('connecting')
    try {
      const { ticket } = await this.#http.call(accountEndpoints.wsTicket, {}, { retry: 'none' })
      if (life === this.#life) this.#open(ticket)
    } catch (thrown) {
      if (life !== this.#life) return
      const error = asClientError(thrown, 'NETWORK')
      if (error.retry === 'login') this.#login.dropAnyToken()
      // Being offline is a state, and told as one.
      if (error.code !== 'NETWORK') this.#listener.onError(error)
      // The account is gone, or the keys are not its: asking again and again would change nothing.
      if (error.retry === 'never') this.stop()
      else this.#reconnectLater(error.retryAfterMs)
    }
  }

  #open(ticket: string): void {
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
      this.send({ type: 'sync' })
      this.#setState('connected')
      this.#listener.onOpen()
    })
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#receive(data)
    })
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket === socket) this.#lost(code)
    })
    // A close follows; without a listener some runtimes end the process.
    socket.addEventListener('error', () => {})
  }

  /** The device is back from sleep or without a network: what was waited for may be there now. */
  #wake(): void {
    if (this.#isOpen) this.#probe(WAKE_PONG_TIMEOUT_MS)
    else if (this.#hurry) this.#hurry()
    // An attempt from before the sleep hangs until it is timed out.
    else if (this.#platform.clock.now() - this.#attemptedAt > WAKE_PONG_TIMEOUT_MS) void this.#attempt()
  }

  #receive(data: unknown): void {
    this.#received += 1
    const decoded = typeof data === 'string' ? decodeRelayFrame(data) : undefined
    if (!decoded?.frame) {
      // A frame of a kind this version does not know is a newer relay's, and no fault.
      if (decoded?.fault.code !== 'UNKNOWN_FRAME') {
        this.#listener.onError(
          new ClientError('BAD_REPLY', 'the relay sent a frame that breaks the protocol'),
        )
      }
      return
    }
    const { frame } = decoded
    if (frame.type === 'pong') this.#ponged()
    else if (frame.type === 'goaway') this.#goAway(frame.reason)
    else this.#listener.onFrame(frame, typeof data === 'string' ? data.length : 0)
  }

  #goAway(reason: GoawayReason): void {
    this.#login.dropAnyToken()
    if (reason === 'jwt_revoked') this.reopen()
    else this.stop()
    this.#listener.onGoaway(reason)
  }

  #lost(code: number): void {
    if (code === closeCodes.tokenDead) this.#login.dropAnyToken()
    this.#abandon()
    this.#reconnectLater()
  }

  #reconnectLater(askedMs = 0): void {
    if (!this.#wanted) return
    const { clock } = this.#platform
    const asked = Math.min(askedMs, MAX_ASKED_WAIT_MS)
    const mayAttemptAt = clock.now() + asked
    const cancel = this.#after(Math.max(this.#backoff.nextMs(), asked), () => void this.#attempt())
    this.#hurry = () => {
      cancel()
      this.#hurry = undefined
      this.#backoff.reset()
      const waitMs = mayAttemptAt - clock.now()
      if (waitMs > 0) this.#after(waitMs, () => void this.#attempt())
      else void this.#attempt()
    }
    // Last: who hears it may disconnect.
    this.#setState('connecting')
  }

  #scheduleHeartbeat(): void {
    this.#after(this.#platform.heartbeatMs, () => {
      this.#listener.onHeartbeat()
      // Who heard it may have given the connection up.
      if (!this.#isOpen) return
      this.#probe(PONG_TIMEOUT_MS)
      this.#scheduleHeartbeat()
    })
  }

  /** Asks for a sign of life. Half-open connections take what is sent and never answer. */
  #probe(withinMs: number): void {
    // One at a time: two pongs could not be told apart, and each says what the relay has by then.
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

  #ponged(): void {
    if (!this.#isPingOut) return
    this.#isPingOut = false
    this.#listener.onPong()
  }

  /** Lets go of the socket and of everything that waits for it. */
  #abandon(): void {
    this.#life += 1
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#isOpen = false
    this.#isPingOut = false
    this.#hurry = undefined
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
