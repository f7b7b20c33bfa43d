// The options of a client: the relay's address, a store, and the platform functions that it uses.
import type { RandomBytes } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import type { ClientStore, Vault } from '../stores/stores.ts'
import { type Clock, systemClock } from './clock.ts'

/** The part of a WebSocket that the client uses. Browsers, Bun and `ws` have it. */
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

/** The part of `fetch` that the client uses. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>

/**
 * Calls `callback` each time the device may have woken from sleep, come to the foreground, or got a network.
 * Returns a function that stops the calls.
 */
export type WakeSource = (callback: () => void) => () => void

/**
 * Work to do: find a string `nonce` such that the hex SHA-256 of `challenge + nonce` begins with `difficulty`
 * zeros.
 */
export interface ProofOfWork {
  readonly challenge: string
  readonly difficulty: number
  /** After this many attempts the search fails, and the client fetches another challenge. */
  readonly maxAttempts: number
  /** Call it from time to time with the number of attempts until now. */
  readonly onProgress: (attempts: number) => void
  /** Aborts the search, which then fails. */
  readonly signal: AbortSignal | undefined
  /**
   * Call it if the work has to be done in a slower way than was asked for. The client's event `error` reports
   * it.
   */
  readonly onFallback?: (error: ClientError) => void
}

/** Does a proof of work. Resolves with the nonce. */
export type ProofOfWorkSolver = (work: ProofOfWork) => Promise<string>

/** Options of `SottoClient.open`. */
export interface ClientOptions {
  /** The address of the relay, such as `http://localhost:8080` or `https://relay.example`. */
  readonly relayUrl: string
  readonly store: ClientStore
  /**
   * Seals the recovery phrase and the session keys in the store: `passphraseVault()`, `keyVault(key)`, or
   * `deviceKeyVault()` in browsers. Messages and contacts are not sealed. `setPassphrase` sets a passphrase;
   * call it before `create` so that no secret is ever stored in plain. The other two seal the secrets on
   * opening, also those that were stored before.
   *
   * With two vaults, one for a passphrase and one of the others, the user can choose to have a passphrase:
   * `setPassphrase` changes from one vault to the other.
   */
  readonly secrets?: Vault | readonly Vault[]
  readonly fetch?: FetchLike
  /** The WebSocket class. The default is the global one. Node 20 has none: pass the class of `ws`. */
  readonly WebSocket?: SocketClass
  readonly clock?: Clock
  /** Random bytes for keys, nonces, ids and jitter. The default is `crypto.getRandomValues`. */
  readonly random?: RandomBytes
  /**
   * The maximum of messages in transit that the relay has not acknowledged; 100 by default. Together they
   * also have at most 1 MiB. With a relay that does not check their order, it is one per conversation.
   */
  readonly maxInFlight?: number
  /**
   * Milliseconds between two heartbeats; 25,000 by default. The relay ends a connection that is silent for 75
   * seconds.
   */
  readonly heartbeatMs?: number
  /**
   * Ends a wait for the next attempt to connect, and makes the client check an open connection. The default:
   * `online`, and `visibilitychange` to a visible page, in runtimes that have these events.
   */
  readonly wake?: WakeSource
  /** Does the proof of work of a registration. The default works on this thread, in slices with pauses. */
  readonly solveProofOfWork?: ProofOfWorkSolver
  /**
   * `forwardSecrecy()` of `@sotto/client/forward-secrecy`: messages get forward secrecy (`crypto_v` 3) with
   * contacts whose client has it, too. A contact that has once announced it is sent nothing without it. False
   * by default.
   */
  readonly forwardSecrecy?: boolean
}

/** The options with their defaults. */
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
  /** Without a solver the work is done on this thread. */
  readonly solveProofOfWork: ProofOfWorkSolver | undefined
  readonly forwardSecrecy: boolean
}

/**
 * Checks the options and adds the defaults.
 * @throws ClientError `INVALID_ARGUMENT`, `NO_WEBSOCKET`.
 */
export function decideOptions(options: ClientOptions): Platform {
  return { ...decideSurroundings(options), store: options.store }
}

/**
 * The platform without the store, for shared clients, which open the store later. Throws as `decideOptions`
 * does.
 */
export function decideSurroundings(options: Omit<ClientOptions, 'store'>): Omit<Platform, 'store'> {
  const WebSocketClass: SocketClass | undefined = options.WebSocket ?? globalThis.WebSocket
  if (!WebSocketClass) {
    throw new ClientError('NO_WEBSOCKET', 'no WebSocket: pass the class of "ws" as the option WebSocket')
  }
  return {
    relayUrl: parseRelayUrl(options.relayUrl),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    WebSocket: WebSocketClass,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    maxInFlight: options.maxInFlight ?? 100,
    heartbeatMs: options.heartbeatMs ?? 25_000,
    wake: options.wake ?? systemWake,
    solveProofOfWork: options.solveProofOfWork,
    forwardSecrecy: options.forwardSecrecy ?? false,
  }
}

const systemRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length))

function systemWake(callback: () => void): () => void {
  // Workers have no document. Node has neither the events nor `addEventListener`.
  const page: Document | undefined = globalThis.document
  const onVisibility = (): void => {
    if (page?.visibilityState === 'visible') callback()
  }
  globalThis.addEventListener?.('online', callback)
  page?.addEventListener('visibilitychange', onVisibility)
  return () => {
    globalThis.removeEventListener?.('online', callback)
    page?.removeEventListener('visibilitychange', onVisibility)
  }
}

function parseRelayUrl(text: string): URL {
  try {
    const url = new URL(text)
    if (/^https?:$/.test(url.protocol) && !url.username && !url.password) return url
  } catch {
    // Not an address at all.
  }
  throw new ClientError('INVALID_ARGUMENT', 'the address of a relay looks like https://relay.example')
}
