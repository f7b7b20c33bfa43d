// Calls of the relay's HTTP endpoints: one request in, a checked reply or a ClientError out.
import { type Endpoint, errors, isErrorCode } from '@sotto/protocol'
import { ClientError, throwIfAborted } from './client-error.ts'
import { Backoff, delay } from './clock.ts'
import type { Platform } from './options.ts'
import { type CallInput, type CallReply, type RelayRequest, readReply, requestOf } from './relay-request.ts'

const TIMEOUT_MS = 15_000
const MAX_REPLY_BYTES = 16 * 1024 * 1024
/** A wait a relay asks for is waited out within a call if it is at most this; a longer one is the caller's to know. */
const MAX_WAIT_IN_CALL_MS = 5000
const ATTEMPTS = 4

/** How a call is made. */
export interface CallOptions {
  /** Calls once, whatever comes of it. */
  readonly retry?: 'none'
  /** Ends the call, which then throws `ABORTED`. */
  readonly signal?: AbortSignal | undefined
}

/** Gives tokens, and is told of dead ones. */
export interface TokenSource {
  getToken(): Promise<string>
  /** The relay no longer takes this token. */
  dropToken(token: string): void
}

/** Speaks HTTP with one relay. */
export class Http {
  readonly #platform: Platform
  #tokens: TokenSource | undefined

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** Where the tokens of calls that need one come from. */
  useTokens(tokens: TokenSource): void {
    this.#tokens = tokens
  }

  /**
   * Calls an endpoint, again where the registry says that it can help: after a failure of the network or the relay, after
   * the wait the relay asks for, and once with a fresh token.
   * @throws ClientError `NETWORK`, `REFUSED`, `BAD_REPLY`, `ABORTED`, and what logging in may throw; `OUTCOME_UNKNOWN` in
   *   place of `NETWORK` where asking again might do it twice.
   */
  async call<E extends Endpoint>(
    endpoint: E,
    input: CallInput<E>,
    options: CallOptions = {},
  ): Promise<CallReply<E>> {
    return readReply(endpoint, await this.request(requestOf(endpoint, input), options))
  }

  /** Makes the request of a call, in the same way, and answers what the relay answered. @throws what `call` throws */
  async request(request: RelayRequest, options: CallOptions = {}): Promise<string> {
    const attempts = options.retry === 'none' ? 1 : ATTEMPTS
    const backoff = new Backoff(this.#platform.random, { firstMs: 500, maxMs: 4000 })
    let freshToken = false
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(options.signal)
      const token = request.auth === 'account' ? await this.#token() : undefined
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

  #token(): Promise<string> {
    if (!this.#tokens) throw new ClientError('NO_IDENTITY', 'no identity on this device yet')
    return this.#tokens.getToken()
  }

  async #requestOnce(
    { method, path, body }: RelayRequest,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const headers = new Headers({ accept: 'application/json' })
    if (body !== undefined) headers.set('content-type', 'application/json')
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const { status, text } = await this.#fetch(
      `${baseOf(this.#platform.relayUrl)}${path}`,
      {
        method,
        headers,
        // A relay that sends elsewhere would have the token sent there.
        redirect: 'error',
        credentials: 'omit',
        ...(body === undefined ? {} : { body }),
      },
      signal,
    )
    if (status < 200 || status > 299) throw refusal(status, text)
    return text
  }

  async #fetch(
    url: string,
    init: RequestInit,
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; text: string }> {
    const { clock, fetch } = this.#platform
    const abort = new AbortController()
    const end = (): void => abort.abort()
    const cancelTimeout = clock.after(TIMEOUT_MS, end)
    signal?.addEventListener('abort', end)
    try {
      const response = await fetch(url, { ...init, signal: abort.signal })
      const text = await readText(response, MAX_REPLY_BYTES)
      return { status: response.status, text: withRetryAfter(response, text) }
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

/** How long to wait before a failed call is made again; undefined where that cannot help, or not soon enough. */
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
      // A relay that fails or restarts comes back by itself; a full list does not while the caller waits here.
      return status >= 500 ? backoff.nextMs() : undefined
    case 'login':
    case 'never':
      return undefined
    default:
      return unknownRule(retry)
  }
}

function unknownRule(rule: never): never {
  throw new TypeError(`no such rule: ${JSON.stringify(rule)}`)
}

/** Whether a call that failed like this may have been done all the same. */
function mayBeDone({ code, refusal }: ClientError): boolean {
  return code === 'NETWORK' || refusal === 'INTERNAL'
}

function outcomeUnknown(cause: ClientError): ClientError {
  return new ClientError('OUTCOME_UNKNOWN', 'it may have been done or not', {
    cause,
  })
}

/** The relay's address without a slash at its end. */
export function baseOf(relayUrl: URL): string {
  return `${relayUrl.origin}${relayUrl.pathname.replace(/\/+$/, '')}`
}

/** A problem with its `Retry-After`, which travels in a header, put beside the rest: a refusal is read from one place. */
export function withRetryAfter(response: Response, text: string): string {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  if (response.ok || !Number.isFinite(seconds) || seconds < 0) return text
  const problem = parseRecord(text)
  return problem ? JSON.stringify({ ...problem, retry_after_ms: seconds * 1000 }) : text
}

/** What a relay's answer of such a status, with such a text, refuses. */
export function refusal(status: number, text: string): ClientError {
  const problem = parseRecord(text)
  const code = problem?.error
  if (typeof code !== 'string' || !isErrorCode(code)) {
    // Often a proxy's own page, while the relay behind it restarts.
    if (status >= 500) return new ClientError('NETWORK', `the relay answered ${status}`)
    return new ClientError('BAD_REPLY', `the relay answered ${status} without a known code`)
  }
  const { uuid, alias_id, retry_after_ms, detail, title } = problem ?? {}
  const words = [detail, title].find((text) => typeof text === 'string')
  return new ClientError('REFUSED', words === undefined ? code : `${code}: ${words}`, {
    refusal: code,
    ...(typeof uuid === 'string' && typeof alias_id === 'string' ? { account: { uuid, alias_id } } : {}),
    ...(typeof retry_after_ms === 'number' ? { retryAfterMs: retry_after_ms } : {}),
  })
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** An answer's text. @throws ClientError `BAD_REPLY` where it is larger than `maxBytes` */
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
