// Calls the relay's HTTP endpoints. Returns a checked reply or throws a ClientError.
import { type Endpoint, errors, isErrorCode, parseObject } from '@sotto/protocol'
import { ClientError, orAborted, throwIfAborted, unreachable } from '../client-error.ts'
import type { Platform } from '../platform/platform.ts'
import { Backoff, delay } from '../platform/platform.ts'
import { type CallInput, type CallReply, type RelayRequest, readReply, requestOf } from './relay-request.ts'

const TIMEOUT_MS = 15_000
const MAX_REPLY_BYTES = 16 * 1024 * 1024
/**
 * A call waits this long at most if the relay asks for a wait. A longer wait fails the call, so that the
 * caller decides.
 */
const MAX_WAIT_IN_CALL_MS = 5000
const ATTEMPTS = 4

/** Options of a call. */
export interface CallOptions {
  /** Makes one attempt only. */
  readonly retry?: 'none'
  /** Aborts the call, which then throws `ABORTED`. */
  readonly signal?: AbortSignal | undefined
}

/** Supplies tokens for calls, and drops refused ones. */
export interface TokenSource {
  getToken(): Promise<string>
  /** Call it if the relay no longer accepts this token. */
  dropToken(token: string): void
}

/** Sends HTTP requests to one relay. */
export class Http {
  readonly #platform: Platform
  #tokens: TokenSource | undefined

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** Sets the source of tokens, for calls that need one. */
  useTokens(tokens: TokenSource): void {
    this.#tokens = tokens
  }

  /**
   * Calls an endpoint. Retries if the error registry says that this can help: after a failure of the network
   * or the relay, after the wait that the relay asks for, and once with a new token.
   * @throws ClientError `NETWORK`, `REFUSED`, `BAD_REPLY`, `ABORTED`, and the errors of logging in;
   *   `OUTCOME_UNKNOWN` instead of `NETWORK` if a retry could repeat the effect.
   */
  async call<E extends Endpoint>(
    endpoint: E,
    input: CallInput<E>,
    options: CallOptions = {},
  ): Promise<CallReply<E>> {
    return readReply(endpoint, await this.request(requestOf(endpoint, input), options))
  }

  /** Sends a request with the same retries, and returns the relay's answer as text. @throws as `call` does */
  async request(request: RelayRequest, options: CallOptions = {}): Promise<string> {
    const attempts = options.retry === 'none' ? 1 : ATTEMPTS
    const backoff = new Backoff(this.#platform.random, { firstMs: 500, maxMs: 4000 })
    let freshToken = false
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(options.signal)
      const token = request.auth === 'account' ? await this.#token(options.signal) : undefined
      try {
        return await this.#requestOnce(request, token, options.signal)
      } catch (error) {
        if (!(error instanceof ClientError)) throw error
        if (request.notIdempotent && mayBeDone(error)) throw outcomeUnknown(error)
        if (attempt >= attempts) throw error
        if (token !== undefined && error.retry === 'login') {
          this.#tokens?.dropToken(token)
          if (freshToken) throw error
          freshToken = true
          continue
        }
        const waitMs = waitBeforeRetry(error, backoff)
        if (waitMs === undefined) throw error
        await delay(this.#platform.clock, waitMs, options.signal)
      }
    }
  }

  #token(signal: AbortSignal | undefined): Promise<string> {
    if (!this.#tokens) throw new ClientError('NO_IDENTITY', 'no identity yet')
    // Other calls may wait for the same login, so it continues.
    return orAborted(this.#tokens.getToken(), signal)
  }

  async #requestOnce(
    { method, path, body }: RelayRequest,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const headers = new Headers({ accept: 'application/json' })
    if (body !== undefined) headers.set('content-type', 'application/json')
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return this.#fetch(
      `${baseOf(this.#platform.relayUrl)}${path}`,
      {
        method,
        headers,
        // A redirect would send the token to another server.
        redirect: 'error',
        credentials: 'omit',
        ...(body === undefined ? {} : { body }),
      },
      signal,
    )
  }

  async #fetch(url: string, init: RequestInit, signal: AbortSignal | undefined): Promise<string> {
    const { clock, fetch } = this.#platform
    const abort = new AbortController()
    const end = (): void => abort.abort()
    const cancelTimeout = clock.after(TIMEOUT_MS, end)
    signal?.addEventListener('abort', end)
    try {
      const response = await fetch(url, { ...init, signal: abort.signal })
      const text = await readText(response, MAX_REPLY_BYTES)
      if (!response.ok) throw refusal(response, text)
      return text
    } catch (error) {
      if (error instanceof ClientError) throw error
      throwIfAborted(signal)
      throw new ClientError('NETWORK', `the relay at ${this.#platform.relayUrl.host} cannot be reached`, {
        cause: error,
      })
    } finally {
      cancelTimeout()
      signal?.removeEventListener('abort', end)
    }
  }
}

/** How long to wait before a failed call is retried; undefined if a retry cannot help, or not soon enough. */
export function waitBeforeRetry(error: ClientError, backoff: Backoff): number | undefined {
  if (error.code === 'NETWORK') return backoff.nextMs()
  if (error.refusal === undefined) return undefined
  const { retry, status } = errors[error.refusal]
  switch (retry) {
    case 'after': {
      const waitMs = error.retryAfterMs ?? backoff.nextMs()
      return waitMs <= MAX_WAIT_IN_CALL_MS ? waitMs : undefined
    }
    case 'later':
      // A failing or restarting relay recovers while the caller waits; a full list does not.
      return status >= 500 ? backoff.nextMs() : undefined
    case 'login':
    case 'never':
      return undefined
    default:
      return unreachable(retry)
  }
}

/** Whether a call may have taken effect although it failed like this. */
function mayBeDone({ code, refusal }: ClientError): boolean {
  return code === 'NETWORK' || refusal === 'INTERNAL'
}

function outcomeUnknown(cause: ClientError): ClientError {
  return new ClientError('OUTCOME_UNKNOWN', 'it may have been done or not', {
    cause,
  })
}

/** The relay's address without a trailing slash. */
export function baseOf(relayUrl: URL): string {
  return `${relayUrl.origin}${relayUrl.pathname.replace(/\/+$/, '')}`
}

/** The error for an answer of the relay that is not a success and has this text. */
export function refusal({ status, headers }: Response, text: string): ClientError {
  const { error: code, uuid, alias_id, detail, title } = parseObject(text) ?? {}
  if (typeof code !== 'string' || !isErrorCode(code)) {
    // From 500 on it is often the error page of a proxy, while the relay behind it restarts.
    return new ClientError(status < 500 ? 'BAD_REPLY' : 'NETWORK', `the relay answered ${status}`)
  }
  const words = [detail, title].find((text) => typeof text === 'string')
  const retryAfterMs = Number(headers.get('retry-after') ?? Number.NaN) * 1000
  return new ClientError('REFUSED', words === undefined ? code : `${code}: ${words}`, {
    refusal: code,
    account: typeof uuid === 'string' && typeof alias_id === 'string' ? { uuid, alias_id } : undefined,
    retryAfterMs: Number.isFinite(retryAfterMs) && retryAfterMs >= 0 ? retryAfterMs : undefined,
  })
}

/** Reads the text of an answer. @throws ClientError `BAD_REPLY` if it is larger than `maxBytes` */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > maxBytes) {
      await reader.cancel()
      throw new ClientError('BAD_REPLY', 'the relay’s answer is too large')
    }
    text += decoder.decode(value, { stream: true })
  }
}
