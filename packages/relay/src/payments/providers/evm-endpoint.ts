// One JSON-RPC endpoint of a chain: its requests, the failures it answers with, and for how long it is not
// used after them.
import * as v from 'valibot'
import { getHttpRpcClient, type HttpRpcClient } from 'viem/utils'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { type RandomBytes, randomBelow } from '../../operations/random.ts'
import {
  CallReverted,
  EvmRpcRequests,
  NotAvailable,
  RequestTooLarge,
  type RpcRequest,
} from './evm-rpc-requests.ts'

/** What an endpoint needs. */
export interface EndpointParts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  /** Aborts running requests. */
  readonly stopping: AbortSignal
  /**
   * About how long an endpoint is not used after its first failure; at most eight times that after further
   * ones.
   */
  readonly restMs: number
}

const ANSWER_WITHIN_MS = 10_000
const LONGEST_REST = 8
const LONGEST_RETRY_AFTER_MS = 300_000
/** Enough for a block with all its transactions. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024

/** A failure of an endpoint. The message contains nothing of its URL. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

const RpcAnswer = v.union([
  v.object({ error: v.looseObject({ code: v.number(), message: v.string() }) }),
  v.object({ result: v.unknown(), error: v.nullish(v.never()) }),
])

// The error codes of providers for too many requests, besides HTTP 429. Other providers only say it in words,
// or use -32005, which also means that a range is too wide.
const LIMITED_CODES: readonly number[] = [429, -32007, -32016]
const MAYBE_LIMITED_CODE = -32005
// Messages that a single block contains too much.
const CROWDED = /results|response size|too large/i
const LIMITED = /limit|too many requests|capacity|quota|throttl/i

/** One endpoint of a chain. */
export class Endpoint {
  readonly #parts: EndpointParts
  readonly #client: HttpRpcClient
  /** Only the host, because the rest of a URL may contain a key. */
  readonly host: string
  /** Whether its chain was checked since its last failure. */
  isChainChecked = false
  #unusedUntil = 0
  #failures = 0
  #loggedProblem: string | undefined
  #isHeadEmpty = false
  #response: { readonly status: number; readonly retryAfter: string | null } | undefined
  readonly requests: EvmRpcRequests

  constructor(url: string, parts: EndpointParts) {
    this.#parts = parts
    this.host = new URL(url).host
    this.#client = getHttpRpcClient(url, {
      timeout: 0, // viem's timeout ends when an answer begins; ours covers the whole answer.
      maxResponseBodySize: MOST_ANSWER_BYTES,
      onResponse: ({ status, headers }) => {
        this.#response = { status, retryAfter: headers.get('Retry-After') }
      },
    })
    this.requests = new EvmRpcRequests(this.host, this.#request)
  }

  get isResting(): boolean {
    return this.#unusedUntil > this.#parts.clock.monotonic()
  }

  recordSuccess(): void {
    this.#failures = 0
    if (this.#loggedProblem === undefined) return
    this.#loggedProblem = undefined
    this.#parts.log.info('rpc_endpoint_back', { url: this.host })
  }

  recordFailure({ message, retryAfterMs }: RpcFailure): void {
    if (this.#parts.stopping.aborted) return
    this.isChainChecked = false
    this.#failures++
    const doubled = Math.min(LONGEST_REST, 2 ** (this.#failures - 1)) * this.#parts.restMs
    // Half of it is random, so that many relays do not return at the same moment.
    this.#rest(retryAfterMs ?? doubled / 2, doubled / 2)
    if (this.#loggedProblem === undefined) {
      this.#parts.log.warn('rpc_endpoint_failing', { url: this.host, reason: message })
    }
    this.#loggedProblem ??= message
  }

  /** Logs, once until it is heeded again, that its newest block is far above what any endpoint has. */
  recordEmptyHead(excess: number): void {
    if (!this.#isHeadEmpty) this.#parts.log.warn('rpc_head_without_blocks', { url: this.host, count: excess })
    this.#isHeadEmpty = true
  }

  recordHead(): void {
    this.#isHeadEmpty = false
  }

  /** Stops using it for a while, because it serves another chain. */
  refuse(reason: string): false {
    this.#rest(LONGEST_REST * this.#parts.restMs, 0)
    if (this.#loggedProblem !== reason)
      this.#parts.log.error('rpc_endpoint_refused', { url: this.host, reason })
    this.#loggedProblem = reason
    this.isChainChecked = false
    return false
  }

  #rest(ms: number, chanceMs: number): void {
    const chance = randomBelow(this.#parts.randomBytes, 1000) / 1000
    this.#unusedUntil = this.#parts.clock.monotonic() + ms + chance * chanceMs
  }

  // Requests run one after the other, so #response belongs to the current one.
  readonly #request: RpcRequest = async (method, params, read, parts) => {
    const { stopping } = this.#parts
    const ending = new AbortController()
    const end = (): void => ending.abort()
    const timer = setTimeout(end, ANSWER_WITHIN_MS)
    stopping.addEventListener('abort', end, { once: true })
    if (stopping.aborted) end()
    this.#response = undefined
    let answer: unknown
    try {
      answer = await this.#client.request({
        body: { method, params },
        fetchOptions: { signal: ending.signal, redirect: 'error' },
      })
    } catch (error) {
      // The error's message is not used, because it repeats the URL.
      const isTooLarge = error instanceof Error && error.name === 'ResponseBodyTooLargeError'
      if (isTooLarge && parts) throw new RequestTooLarge()
      throw this.#failureOf(ending.signal.aborted, parts === 'blocks')
    } finally {
      clearTimeout(timer)
      stopping.removeEventListener('abort', end)
    }
    const result = this.#resultOf(method, answer, parts)
    try {
      return read(result)
    } catch (error) {
      if (error instanceof NotAvailable) throw error
      throw new RpcFailure('its answer is not valid')
    }
  }

  #resultOf(method: string, answer: unknown, parts: Parameters<RpcRequest>[3]): unknown {
    const parsed = v.safeParse(RpcAnswer, answer)
    if (!parsed.success) throw new RpcFailure('its answer is not JSON-RPC')
    const { output } = parsed
    if (output.error) {
      const { code, message } = output.error
      if (this.#response?.status === 429 || LIMITED_CODES.includes(code)) throw this.#limited()
      // Providers report a range that is too wide in many ways. So any error counts as one; a smaller request
      // shows whether that was the reason.
      if (parts === 'blocks' || (parts === 'block' && CROWDED.test(message))) throw new RequestTooLarge()
      if (code === MAYBE_LIMITED_CODE || LIMITED.test(message)) throw this.#limited()
      if (method === 'eth_call' && (code === 3 || /revert/i.test(message))) throw new CallReverted()
      throw new RpcFailure(`it answered JSON-RPC error ${code}`)
    }
    return output.result
  }

  #failureOf(isTimedOut: boolean, isRange: boolean): RpcFailure | RequestTooLarge {
    const status = this.#response?.status
    if (status === 429) return this.#limited()
    if (isRange && (isTimedOut || status !== undefined)) return new RequestTooLarge()
    if (isTimedOut) return new RpcFailure('it did not answer in time')
    if (status === undefined) return new RpcFailure('it cannot be reached')
    const isGood = status >= 200 && status < 300
    return new RpcFailure(
      isGood ? 'its answer is cut off, too large or not JSON' : `it answered HTTP ${status}`,
      this.#retryAfterMs(),
    )
  }

  #limited(): RpcFailure {
    return new RpcFailure('it limits how often it is asked', this.#retryAfterMs())
  }

  // The header holds seconds or a date (RFC 9110, 10.2.3).
  #retryAfterMs(): number | undefined {
    const text = this.#response?.retryAfter
    if (!text) return undefined
    const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - this.#parts.clock.now()
    return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : undefined
  }
}
