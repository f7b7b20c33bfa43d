// JSON-RPC endpoints of one chain: the next is asked where one fails, and one that fails is left alone for a while.
import * as v from 'valibot'
import { getHttpRpcClient, type HttpRpcClient } from 'viem/utils'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { type RandomBytes, randomBelow } from '../../operations/random.ts'
import { type Call, CallReverted, EvmCalls, NotHere, TooMuchAsked } from './evm-calls.ts'

/** No endpoint of the chain answered; what is wrong with each was logged. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable'
}

interface RpcParts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  /** Ends what is under way. */
  readonly stopping: AbortSignal
  /** How long an endpoint rests after its first failure, about; eight times that at most. */
  readonly restMs: number
  /** Which chain it has to be; undefined: any, and from then on that one. */
  readonly chainId: number | undefined
  /** A chain it must not be. */
  readonly notChainId?: number
}

const ANSWER_WITHIN_MS = 10_000
const LONGEST_REST = 8
const LONGEST_RETRY_AFTER_MS = 300_000
/** A block with the whole of its transactions. */
const MOST_ANSWER_BYTES = 32 * 1024 * 1024

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

  /** The number of the chain, asked for where it is not known yet. @throws ChainUnreachable */
  async chainId(): Promise<number> {
    if (this.#chainId === undefined) await this.ask(async () => undefined)
    if (this.#chainId === undefined) throw new ChainUnreachable()
    return this.#chainId
  }

  /**
   * Has one endpoint answer the whole of `question`, so that no answer is put together from two that see different blocks;
   * where it fails or says undefined, the next. @returns undefined where none has what was asked for
   * @throws ChainUnreachable where none answered
   * @throws TooMuchAsked where a large question has to be asked in parts
   */
  async ask<T>(question: (chain: EvmCalls) => Promise<T | undefined>): Promise<T | undefined> {
    let isAnswered = false
    for (const endpoint of this.#endpoints) {
      if (this.#parts.stopping.aborted || endpoint.isResting) continue
      try {
        if (!(await this.#isRight(endpoint))) continue
        const answer = await question(endpoint.calls)
        endpoint.worked()
        if (answer !== undefined) return answer
        isAnswered = true
      } catch (error) {
        if (error instanceof RpcFailure) {
          endpoint.failed(error)
          continue
        }
        if (!(error instanceof NotHere)) throw error
        endpoint.worked()
        isAnswered = true
      }
    }
    if (!isAnswered) throw new ChainUnreachable()
    return undefined
  }

  // After every failure anew: behind the same address there may be another node by then.
  async #isRight(endpoint: Endpoint): Promise<boolean> {
    if (endpoint.isKnown) return true
    const chainId = await endpoint.calls.chainId()
    const { notChainId } = this.#parts
    if (chainId === notChainId) return endpoint.refuse(`its chain is ${chainId}, which is watched already`)
    this.#chainId ??= chainId
    if (chainId !== this.#chainId)
      return endpoint.refuse(`its chain is ${chainId}, where ${this.#chainId} was expected`)
    endpoint.isKnown = true
    return true
  }
}

/** What an endpoint did wrong, in words that contain nothing of its URL. */
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

// What providers answer to whoever asks too often, besides HTTP 429. Others have only words for it, and -32005, which is
// also said of a range that is too wide.
const LIMITED_CODES: readonly number[] = [429, -32007, -32016]
const MAYBE_LIMITED_CODE = -32005
const LIMITED = /limit|too many requests|capacity|quota|throttl/i

class Endpoint {
  readonly #parts: RpcParts
  readonly #client: HttpRpcClient
  /** The host alone: the rest of a URL may hold a key. */
  readonly #host: string
  /** Whether it was asked for its chain since it last failed. */
  isKnown = false
  #restsUntil = 0
  #failures = 0
  #saidOfIt: string | undefined
  #response: { readonly status: number; readonly retryAfter: string | null } | undefined
  readonly calls: EvmCalls

  constructor(url: string, parts: RpcParts) {
    this.#parts = parts
    this.#host = new URL(url).host
    this.#client = getHttpRpcClient(url, {
      timeout: 0, // viem's would end when an answer begins; ours holds until it is whole.
      maxResponseBodySize: MOST_ANSWER_BYTES,
      onResponse: ({ status, headers }) => {
        this.#response = { status, retryAfter: headers.get('Retry-After') }
      },
    })
    this.calls = new EvmCalls(this.#call)
  }

  get isResting(): boolean {
    return this.#restsUntil > this.#parts.clock.monotonic()
  }

  worked(): void {
    this.#failures = 0
    if (this.#saidOfIt === undefined) return
    this.#saidOfIt = undefined
    this.#parts.log.info('rpc_endpoint_back', { url: this.#host })
  }

  failed({ message, retryAfterMs }: RpcFailure): void {
    if (this.#parts.stopping.aborted) return
    this.isKnown = false
    this.#failures++
    const doubled = Math.min(LONGEST_REST, 2 ** (this.#failures - 1)) * this.#parts.restMs
    // Half of it by chance, so that many relays do not come back at the same moment.
    this.#rest(retryAfterMs ?? doubled / 2, doubled / 2)
    if (this.#saidOfIt === undefined) {
      this.#parts.log.warn('rpc_endpoint_failing', { url: this.#host, reason: message })
    }
    this.#saidOfIt ??= message
  }

  /** Leaves it alone because it is of another chain. */
  refuse(reason: string): false {
    this.#rest(LONGEST_REST * this.#parts.restMs, 0)
    if (this.#saidOfIt !== reason) this.#parts.log.error('rpc_endpoint_refused', { url: this.#host, reason })
    this.#saidOfIt = reason
    return false
  }

  #rest(ms: number, chanceMs: number): void {
    const chance = randomBelow(this.#parts.randomBytes, 1000) / 1000
    this.#restsUntil = this.#parts.clock.monotonic() + ms + chance * chanceMs
  }

  // One after the other: what #response says is of this call.
  readonly #call: Call = async (method, params, read, isLarge = false) => {
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
        fetchOptions: { signal: ending.signal },
      })
    } catch {
      // What it says is left unsaid: it repeats the URL.
      throw this.#failureOf(ending.signal.aborted, isLarge)
    } finally {
      clearTimeout(timer)
      stopping.removeEventListener('abort', end)
    }
    return this.#resultOf(method, answer, read, isLarge)
  }

  #resultOf<T>(method: string, answer: unknown, read: (result: unknown) => T, isLarge: boolean): T {
    const parsed = v.safeParse(RpcAnswer, answer)
    if (!parsed.success) throw new RpcFailure('its answer is no JSON-RPC')
    const { output } = parsed
    if (output.error) {
      const { code, message } = output.error
      if (this.#response?.status === 429 || LIMITED_CODES.includes(code)) throw this.#limited()
      // Providers have a hundred ways to say that a range is too wide; asked for less, it shows whether that was it.
      if (isLarge) throw new TooMuchAsked()
      if (code === MAYBE_LIMITED_CODE || LIMITED.test(message)) throw this.#limited()
      if (method === 'eth_call' && (code === 3 || /revert/i.test(message))) throw new CallReverted()
      throw new RpcFailure(`it answered JSON-RPC error ${code}`)
    }
    try {
      return read(output.result)
    } catch (error) {
      if (error instanceof NotHere) throw error
      throw new RpcFailure('its answer makes no sense')
    }
  }

  #failureOf(isTimedOut: boolean, isLarge: boolean): RpcFailure | TooMuchAsked {
    const status = this.#response?.status
    if (status === 429) return this.#limited()
    if (isLarge && (isTimedOut || status !== undefined)) return new TooMuchAsked()
    if (isTimedOut) return new RpcFailure('it did not answer in time')
    if (status === undefined) return new RpcFailure('it cannot be reached')
    const isGood = status >= 200 && status < 300
    return new RpcFailure(
      isGood ? 'its answer is broken off, too large or no JSON' : `it answered HTTP ${status}`,
      this.#retryAfterMs(),
    )
  }

  #limited(): RpcFailure {
    return new RpcFailure('it limits how often it is asked', this.#retryAfterMs())
  }

  // Seconds, or a date (RFC 9110, 10.2.3).
  #retryAfterMs(): number | undefined {
    const text = this.#response?.retryAfter
    if (!text) return undefined
    const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - this.#parts.clock.now()
    return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : undefined
  }
}
