// What a client is given: the relay's address, a store, and the parts of the platform it may use.
import type { RandomBytes } from '@sotto/crypto'
import { ClientError } from './client-error.ts'
import type { ClientStore } from './stores/store.ts'

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

/** Options of `SottoClient.open`. */
export interface ClientOptions {
  /** Where the relay is, such as `http://localhost:8080` or `https://relay.example`. */
  readonly relayUrl: string
  readonly store: ClientStore
  readonly fetch?: FetchLike
  /** The WebSocket class; the global one unless told. Node 20 has none: pass the class of `ws`. */
  readonly WebSocket?: SocketClass
  readonly clock?: Clock
  /** Random bytes for keys, nonces, ids and jitter; `crypto.getRandomValues` unless told. */
  readonly random?: RandomBytes
  /** Own messages under way to the relay and not acknowledged yet, at most. 100 unless told. */
  readonly maxInFlight?: number
  /** Milliseconds between two heartbeats. 25,000 unless told; the relay ends a connection silent for 75 seconds. */
  readonly heartbeatMs?: number
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
}

/**
 * The options with their defaults filled in.
 * @throws ClientError `INVALID_ARGUMENT`, `NO_WEBSOCKET`.
 */
export function decideOptions(options: ClientOptions): Platform {
  const WebSocketClass = options.WebSocket ?? globalSocketClass()
  if (!WebSocketClass) {
    throw new ClientError(
      'NO_WEBSOCKET',
      'this runtime has no WebSocket: pass one, such as the class of "ws", as the option WebSocket',
    )
  }
  return {
    relayUrl: parseRelayUrl(options.relayUrl),
    store: options.store,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    WebSocket: WebSocketClass,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    maxInFlight: options.maxInFlight ?? 100,
    heartbeatMs: options.heartbeatMs ?? 25_000,
  }
}

const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

const systemRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length))

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
