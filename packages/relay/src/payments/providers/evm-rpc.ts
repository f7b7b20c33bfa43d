// The JSON-RPC endpoints of one chain. If an endpoint fails, the next one is used, and the failing one is not
// used for a while.
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

/** No endpoint of the chain answered. The problem of each was logged. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable'
}

interface RpcParts {
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
  /** The chain that the endpoints must serve; undefined: any chain, but all the same one. */
  readonly chainId: number | undefined
  /** Chains that the endpoints must not serve. */
  readonly notChainIds?: readonly number[]
}

const ANSWER_WITHIN_MS = 10_000
const LONGEST_REST = 8
const LONGEST_RETRY_AFTER_MS = 300_000
/** Enough for a block with all its transactions. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024

/** The endpoints of one chain. */
export class Rpc {
  readonly #parts: RpcParts
  readonly #endpoints: readonly Endpoint[]
  #chainId: number | undefined

  constructor(urls: readonly string[], parts: RpcParts) {
    this.#parts = parts
    this.#chainId = parts.chainId
    this.#endpoints = urls.map((url) => new Endpoint(url, parts))
  }

  /** The id of the chain, requested if it is not known yet. @throws ChainUnreachable */
  async chainId(): Promise<number> {
    if (this.#chainId === undefined) await this.ask(async () => undefined)
    if (this.#chainId === undefined) throw new ChainUnreachable()
    return this.#chainId
  }

  /**
   * Lets one endpoint answer the whole `question`, so that an answer never mixes endpoints that see different
   * blocks. If the endpoint fails or the answer is undefined, the next endpoint is used. @returns undefined
   * if no endpoint has the answer
   * @throws ChainUnreachable if no endpoint answered
   * @throws RequestTooLarge if the question must be asked in parts
   */
  async ask<T>(question: (chain: EvmRpcRequests) => Promise<T | undefined>): Promise<T | undefined> {
    let isAnswered = false
    for (const endpoint of this.#endpoints) {
      if (this.#parts.stopping.aborted || endpoint.isResting) continue
      try {
        if (!(await this.#isOnRightChain(endpoint))) continue
        const answer = await question(endpoint.requests)
        endpoint.recordSuccess()
        if (answer !== undefined) return answer
        isAnswered = true
      } catch (error) {
        if (error instanceof RpcFailure) {
          endpoint.recordFailure(error)
          continue
        }
        if (!(error instanceof NotAvailable)) throw error
        endpoint.recordSuccess()
        isAnswered = true
      }
    }
    if (!isAnswered) throw new ChainUnreachable()
    return undefined
  }

  // Checked again after every failure: by then another node may be behind the same address.
  async #isOnRightChain(endpoint: Endpoint): Promise<boolean> {
    if (endpoint.isChainChecked) return true
    const chainId = await endpoint.requests.chainId()
    if (this.#parts.notChainIds?.includes(chainId))
      return endpoint.refuse(`its chain is ${chainId}, which is watched already`)
    this.#chainId ??= chainId
    if (chainId !== this.#chainId)
      return endpoint.refuse(`its chain is ${chainId}, where ${this.#chainId} was expected`)
    endpoint.isChainChecked = true
    return true
  }
}

/** A failure of an endpoint. The message contains nothing of its URL. */
class RpcFailure extends Error {
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

class Endpoint {
  readonly #parts: RpcParts
  readonly #client: HttpRpcClient
  /** Only the host, because the rest of a URL may contain a key. */
  readonly #host: string
  /** Whether its chain was checked since its last failure. */
  isChainChecked = false
  #unusedUntil = 0
  #failures = 0
  #loggedProblem: string | undefined
  #response: { readonly status: number; readonly retryAfter: string | null } | undefined
  readonly requests: EvmRpcRequests

  constructor(url: string, parts: RpcParts) {
    this.#parts = parts
    this.#host = new URL(url).host
    this.#client = getHttpRpcClient(url, {
      timeout: 0, // viem's timeout ends when an answer begins; ours covers the whole answer.
      maxResponseBodySize: MOST_ANSWER_BYTES,
      onResponse: ({ status, headers }) => {
        this.#response = { status, retryAfter: headers.get('Retry-After') }
      },
    })
    this.requests = new EvmRpcRequests(this.#request)
  }

  get isResting(): boolean {
    return this.#unusedUntil > this.#parts.clock.monotonic()
  }

  recordSuccess(): void {
    this.#failures = 0
    if (this.#loggedProblem === undefined) return
    this.#loggedProblem = undefined
    this.#parts.log.info('rpc_endpoint_back', { url: this.#host })
  }

  recordFailure({ message, retryAfterMs }: RpcFailure): void {
    if (this.#parts.stopping.aborted) return
    this.isChainChecked = false
    this.#failures++
    const doubled = Math.min(LONGEST_REST, 2 ** (this.#failures - 1)) * this.#parts.restMs
    // Half of it is random, so that many relays do not return at the same moment.
    this.#rest(retryAfterMs ?? doubled / 2, doubled / 2)
    if (this.#loggedProblem === undefined) {
      this.#parts.log.warn('rpc_endpoint_failing', { url: this.#host, reason: message })
    }
    this.#loggedProblem ??= message
  }

  /** Stops using it for a while, because it serves another chain. */
  refuse(reason: string): false {
    this.#rest(LONGEST_REST * this.#parts.restMs, 0)
    if (this.#loggedProblem !== reason)
      this.#parts.log.error('rpc_endpoint_refused', { url: this.#host, reason })
    this.#loggedProblem = reason
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
