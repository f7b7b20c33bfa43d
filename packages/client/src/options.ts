// What a client is given: the relay's address, a store, and the parts of the platform it may use.
import type { RandomBytes } from '@sotto/crypto'
import { ClientError } from './client-error.ts'
import { type ProofOfWorkSolver, solveInSlices } from './proof-of-work.ts'
import type { ClientStore } from './stores/store.ts'
import type { Vault } from './stores/vault.ts'

/** Time, as the client uses it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs once after `ms`; returns what prevents it. */
  after(ms: number, run: () => void): () => void
}

/** The part of a WebSocket the client uses; browsers', Bun's and `ws`'s have it. */
export interface SocketLike {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
  addEventListener(type: 'error', listener: (event: unknown) => void): void
}
/** A WebSocket class. */
export type SocketClass = new (url: string) => SocketLike

/** The part of `fetch` the client uses. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>

/**
 * Tells when the device may be back: from sleep, from the background, or with a network. Calls `callback` each time, and
 * returns what ends that.
 */
export type WakeSource = (callback: () => void) => () => void

/** Options of `SottoClient.open`. */
export interface ClientOptions {
  /** Where the relay is, such as `http://localhost:8080` or `https://relay.example`. */
  readonly relayUrl: string
  readonly store: ClientStore
  /**
   * Seals the recovery phrase and the session keys in the store: `passphraseVault()`, `keyVault(key)`, or `deviceKeyVault()`
   * in browsers. Messages and contacts are not sealed. A passphrase is set by `setPassphrase`, before `create` if nothing is
   * ever to lie open; the other two seal on opening, also what was stored before.
   *
   * Two of them, one by passphrase and one of the others, let the user have a passphrase or none: by `setPassphrase` the
   * secrets go from one vault to the other.
   */
  readonly secrets?: Vault | readonly Vault[]
  readonly fetch?: FetchLike
  /** The WebSocket class; the global one unless told. Node 20 has none: pass the class of `ws`. */
  readonly WebSocket?: SocketClass
  readonly clock?: Clock
  /** Random bytes for keys, nonces, ids and jitter; `crypto.getRandomValues` unless told. */
  readonly random?: RandomBytes
  /**
   * Own messages under way to the relay and not acknowledged yet, at most; one a conversation, whatever this says, so
   * that the order in which they are accepted is the order they were posted in. 100 unless told.
   */
  readonly maxInFlight?: number
  /** Milliseconds between two heartbeats. 25,000 unless told; the relay ends a connection silent for 75 seconds. */
  readonly heartbeatMs?: number
  /**
   * What ends a wait for the next attempt to connect, and has an open connection looked at. Unless told: `online`, and
   * `visibilitychange` to a visible page, in runtimes that have these events.
   */
  readonly wake?: WakeSource
  /** Who does the proof of work of a registration. Unless told: this thread, in slices, giving way in between. */
  readonly solveProofOfWork?: ProofOfWorkSolver
}

/** The options with everything decided. */
export interface Platform {
  readonly relayUrl: URL
  readonly store: ClientStore
  readonly fetch: FetchLike
  readonly WebSocket: SocketClass
  readonly clock: Clock
  readonly random: RandomBytes
  readonly maxInFlight: number
  readonly heartbeatMs: number
  readonly wake: WakeSource
  readonly solveProofOfWork: ProofOfWorkSolver
}

/**
 * The options with their defaults filled in.
 * @throws ClientError `INVALID_ARGUMENT`, `NO_WEBSOCKET`.
 */
export function decideOptions(options: ClientOptions): Platform {
  return { ...decideSurroundings(options), store: options.store }
}

/** All of the platform but the store, for whoever opens that later. Throws what `decideOptions` throws. */
export function decideSurroundings(options: Omit<ClientOptions, 'store'>): Omit<Platform, 'store'> {
  const WebSocketClass = options.WebSocket ?? globalSocketClass()
  if (!WebSocketClass) {
    throw new ClientError(
      'NO_WEBSOCKET',
      'this runtime has no WebSocket: pass one, such as the class of "ws", as the option WebSocket',
    )
  }
  const clock = options.clock ?? systemClock
  return {
    relayUrl: parseRelayUrl(options.relayUrl),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    WebSocket: WebSocketClass,
    clock,
    random: options.random ?? systemRandom,
    maxInFlight: options.maxInFlight ?? 100,
    heartbeatMs: options.heartbeatMs ?? 25_000,
    wake: options.wake ?? systemWake,
    solveProofOfWork: options.solveProofOfWork ?? solveInSlices(clock),
  }
}

/** The clock of the runtime. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

const systemRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length))

function systemWake(callback: () => void): () => void {
  // Workers have no document, and Node has neither these events nor who would hear them.
  const page = typeof document === 'object' ? document : undefined
  const onVisibility = (): void => {
    if (page?.visibilityState === 'visible') callback()
  }
  const hasEvents = typeof globalThis.addEventListener === 'function'
  if (hasEvents) globalThis.addEventListener('online', callback)
  page?.addEventListener('visibilitychange', onVisibility)
  return () => {
    if (hasEvents) globalThis.removeEventListener('online', callback)
    page?.removeEventListener('visibilitychange', onVisibility)
  }
}

function globalSocketClass(): SocketClass | undefined {
  return typeof globalThis.WebSocket === 'function' ? globalThis.WebSocket : undefined
}

function parseRelayUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username || url.password) {
    throw new ClientError(
      'INVALID_ARGUMENT',
      'the address of a relay looks like https://relay.example or http://localhost:8080',
    )
  }
  return url
}
