// The parts of the TronGrid HTTP API that payments need: requests with a limited rate and retries, and
// checked answers.
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import type { Clock } from '../../operations/clock.ts'
import { type BoundedAnswer, request, Unreachable } from './bounded-request.ts'
import { addressOf, bytesOf as bytesOfAddress } from './tron-address.ts'

/** A block's number and time. */
export interface Block {
  readonly height: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A transaction in a block, with the tokens it transferred. */
export interface Transaction extends Block {
  readonly transfers: readonly Transfer[]
}

/** One `Transfer` event. */
export interface Transfer {
  /** Its index among the transaction's events. */
  readonly index: number
  /** Address of the token. */
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** Which blocks an answer may come from: all, or only those that no reorganisation can replace. */
export type BlockState = 'newest' | 'solid'

/** The rate of requests. */
export interface GridPace {
  /** The pause between two requests. */
  readonly betweenMs: number
  /** The pause before the first retry; it doubles with each further one. */
  readonly backOffMs: number
}

/** Four requests a second, well below the limit of a TronGrid key. */
export const gridPace: GridPace = { betweenMs: 250, backOffMs: 2000 }

const PAGE_SIZE = 200
const MOST_PAGES = 20
const MOST_LIST_BYTES = 1_048_576
const MOST_TRANSACTION_BYTES = 4_194_304
const MOST_TRIES = 5
const LONGEST_WAIT_MS = 60_000
/** Answers to too many requests: 429, and from some parts of TronGrid 403 or 503. */
const SLOW_DOWN_STATUSES = [403, 429, 503]
/** Keccak-256 of `Transfer(address,address,uint256)`. */
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const Height = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const TransactionId = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const Hex = v.pipe(v.string(), v.regex(/^(?:[0-9a-fA-F]{2})*$/))
const NowBlock = v.object({
  block_header: v.object({ raw_data: v.object({ number: Height, timestamp: Height }) }),
})
const FirstBlock = v.object({ blockID: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) })
const Transfers = v.object({
  success: v.literal(true),
  data: v.array(v.object({ transaction_id: TransactionId })),
  meta: v.object({ fingerprint: v.optional(v.pipe(v.string(), v.maxLength(1000))) }),
})
const TransactionInfo = v.union([
  v.object({
    id: TransactionId,
    blockNumber: Height,
    blockTimeStamp: Height,
    result: v.optional(v.string()),
    log: v.optional(
      v.array(v.object({ address: Hex, topics: v.optional(v.array(Hex), []), data: v.optional(Hex, '') })),
      [],
    ),
  }),
  v.strictObject({}),
])
/** One number of 32 bytes. A longer one would take long to convert to decimal. */
const ConstantResult = v.object({ constant_result: v.tuple([v.pipe(Hex, v.maxLength(64))]) })

/** The client for the API. Every method throws Unreachable if there is no usable answer. */
export class TronGrid {
  readonly #url: string
  readonly #key: string
  readonly #clock: Clock
  readonly #pace: GridPace
  readonly #stopping: AbortSignal
  #nextRequestAt = 0

  constructor(
    config: { readonly apiUrl: string; readonly apiKey: string },
    parts: { readonly clock: Clock; readonly pace: GridPace; readonly stopping: AbortSignal },
  ) {
    this.#url = config.apiUrl
    this.#key = config.apiKey
    this.#clock = parts.clock
    this.#pace = parts.pace
    this.#stopping = parts.stopping
  }

  /** The chain's number: the last four bytes of the id of its first block (TIP-474). */
  async chainId(): Promise<number> {
    const { blockID } = await this.#post('/wallet/getblockbynum', { num: 0 }, FirstBlock)
    return Number.parseInt(blockID.slice(-8), 16)
  }

  /** The newest block. */
  head(): Promise<Block> {
    return this.#nowBlock('/wallet/getnowblock')
  }

  /** The newest block that no reorganisation can replace. */
  solidHead(): Promise<Block> {
    return this.#nowBlock('/walletsolidity/getnowblock')
  }

  /**
   * The transactions that transferred this token to an address: all of them, in blocks of any age, up to
   * 4,000.
   */
  idsOfTransfers(to: string, token: string): Promise<string[]> {
    return this.#allIds(to, { only_to: 'true', contract_address: token })
  }

  /** The transactions that transferred this token from an address, up to 4,000. */
  idsOfTransfersFrom(from: string, token: string): Promise<string[]> {
    return this.#allIds(from, { only_from: 'true', contract_address: token })
  }

  async #allIds(account: string, query: Record<string, string>): Promise<string[]> {
    const ids: string[] = []
    let fingerprint: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const listed = await this.#listed(account, {
        ...query,
        limit: PAGE_SIZE.toString(),
        ...(fingerprint === undefined ? {} : { fingerprint }),
      })
      ids.push(...listed.data.map(({ transaction_id }) => transaction_id))
      fingerprint = listed.meta.fingerprint
      if (fingerprint === undefined || listed.data.length === 0) break
    }
    return ids
  }

  /** The newest transactions that transferred any token to an address, up to `most`. */
  async idsOfNewestTransfers(to: string, most: number): Promise<string[]> {
    const { data } = await this.#listed(to, { only_to: 'true', limit: most.toString() })
    return data.map(({ transaction_id }) => transaction_id)
  }

  /** A transaction; undefined if it is not in such a block now. */
  async findTransaction(id: string, state: BlockState): Promise<Transaction | undefined> {
    const path = `${folderOf(state)}/gettransactioninfobyid`
    const info = await this.#post(path, { value: id }, TransactionInfo, MOST_TRANSACTION_BYTES)
    if (!('id' in info)) return undefined
    const logs = info.result === 'FAILED' ? [] : info.log
    return { height: info.blockNumber, at: info.blockTimeStamp, transfers: logs.flatMap(transferOf) }
  }

  /** The number of decimal places of a token. */
  async decimalsOf(token: string): Promise<bigint> {
    const body = {
      owner_address: token,
      contract_address: token,
      function_selector: 'decimals()',
      visible: true,
    }
    const { constant_result } = await this.#post('/wallet/triggerconstantcontract', body, ConstantResult)
    return BigInt(`0x${constant_result[0] || '0'}`)
  }

  /** What an address holds of a token after the newest such block. */
  async balanceOf(token: string, owner: string, state: BlockState): Promise<bigint> {
    const body = {
      ...{ owner_address: owner, contract_address: token, visible: true },
      function_selector: 'balanceOf(address)',
      parameter: Buffer.from(bytesOfAddress(owner)).toString('hex').padStart(64, '0'),
    }
    const path = `${folderOf(state)}/triggerconstantcontract`
    const { constant_result } = await this.#post(path, body, ConstantResult)
    return BigInt(`0x${constant_result[0] || '0'}`)
  }

  async #nowBlock(path: string): Promise<Block> {
    const { block_header } = await this.#post(path, {}, NowBlock)
    return { height: block_header.raw_data.number, at: block_header.raw_data.timestamp }
  }

  #listed(account: string, query: Record<string, string>): Promise<v.InferOutput<typeof Transfers>> {
    const parameters = new URLSearchParams(query)
    const path = `/v1/accounts/${account}/transactions/trc20?${parameters}`
    return this.#ask(path, { method: 'GET' }, Transfers, MOST_LIST_BYTES)
  }

  #post<T>(
    path: string,
    body: object,
    schema: v.GenericSchema<unknown, T>,
    mostBytes = MOST_LIST_BYTES,
  ): Promise<T> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) }, schema, mostBytes)
  }

  async #ask<T>(
    path: string,
    asked: { readonly method: 'GET' | 'POST'; readonly body?: string },
    schema: v.GenericSchema<unknown, T>,
    mostBytes: number,
  ): Promise<T> {
    const headers = {
      'content-type': 'application/json',
      ...(this.#key === '' ? {} : { 'tron-pro-api-key': this.#key }),
    }
    const answer = await this.#withRetries(() =>
      request(`${this.#url}${path}`, { ...asked, headers, mostBytes, signal: this.#stopping }),
    )
    if (answer.status !== 200) throw new Unreachable(`it answered with status ${answer.status}`)
    const { success, output } = v.safeParse(schema, parsed(answer.text))
    if (!success) throw new Unreachable('its answer is not as documented')
    return output
  }

  async #withRetries(ask: () => Promise<BoundedAnswer>): Promise<BoundedAnswer> {
    for (let tries = 1; ; tries++) {
      await this.#waitForRate()
      const answer = await ask()
      if (!SLOW_DOWN_STATUSES.includes(answer.status) || tries === MOST_TRIES) return answer
      const wait = Math.max(answer.retryAfterMs ?? 0, this.#pace.backOffMs * 2 ** (tries - 1))
      this.#nextRequestAt = this.#clock.monotonic() + Math.min(wait, LONGEST_WAIT_MS)
    }
  }

  async #waitForRate(): Promise<void> {
    const wait = this.#nextRequestAt - this.#clock.monotonic()
    // Rejects when the provider stops.
    if (wait > 0) await sleep(wait, undefined, { signal: this.#stopping })
    this.#nextRequestAt = this.#clock.monotonic() + this.#pace.betweenMs
  }
}

type Log = Extract<v.InferOutput<typeof TransactionInfo>, { id: string }>['log'][number]

function folderOf(state: BlockState): string {
  return state === 'solid' ? '/walletsolidity' : '/wallet'
}

function transferOf({ address, topics, data }: Log, index: number): Transfer[] {
  const [event, from = '', to] = topics
  // A transfer of a fungible token has three topics and 32 bytes of data. Other events named Transfer moved
  // no amount.
  if (event?.toLowerCase() !== TRANSFER || to?.length !== 64 || topics.length !== 3 || data.length !== 64)
    return []
  const amount = BigInt(`0x${data}`)
  const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.slice(-40), 'hex'))
  if (amount === 0n || address.length < 40) return []
  if (from.length !== 64) return []
  const token = addressOf(bytesOf(address))
  return [{ index, token, from: addressOf(bytesOf(from)), to: addressOf(bytesOf(to)), amount }]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
