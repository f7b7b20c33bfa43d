// What a chain is asked, and what its answers have to look like: an endpoint may answer anything.
import * as v from 'valibot'
import { toEventSelector } from 'viem/utils'

/** An endpoint does not have what was asked for, or not yet. That is no failure: the next may have it. */
export class NotHere extends Error {
  override readonly name = 'NotHere'
}

/** What was asked for is more than an endpoint gives at once; it can be asked for in parts. */
export class TooMuchAsked extends Error {
  override readonly name = 'TooMuchAsked'
}

/** A contract refused a call. */
export class CallReverted extends Error {
  override readonly name = 'CallReverted'
}

/**
 * One JSON-RPC call to one endpoint. `read` makes sense of the result; whatever it throws counts as an answer that makes none.
 * @param isLarge whether it can be asked for in parts, so that a refusal means {@link TooMuchAsked}
 */
export type Call = <T>(
  method: string,
  params: readonly unknown[],
  read: (result: unknown) => T,
  isLarge?: boolean,
) => Promise<T>

const hex = (digits: string) =>
  v.pipe(v.string(), v.regex(new RegExp(`^0x[0-9a-f]${digits}$`, 'i')), v.toLowerCase())
const Quantity = v.pipe(
  hex('{1,64}'),
  v.transform((text) => BigInt(text)),
)
const Whole = v.pipe(Quantity, v.transform(Number), v.safeInteger())
const Hash = hex('{64}')
const EvmAddress = hex('{40}')

const BlockAnswer = v.pipe(
  v.object({ number: Whole, hash: Hash, parentHash: Hash, timestamp: Whole }),
  v.transform(({ number, hash, parentHash, timestamp }) => ({
    ...{ height: number, hash, parentHash },
    at: timestamp * 1000,
  })),
)
const BodyAnswer = v.object({
  hash: Hash,
  transactions: v.array(v.object({ hash: Hash, to: v.nullish(EvmAddress), value: Quantity })),
})
const LogAnswer = v.object({
  address: EvmAddress,
  topics: v.array(Hash),
  data: hex('*'),
  blockNumber: Whole,
  blockHash: Hash,
  transactionHash: Hash,
  logIndex: Whole,
  removed: v.optional(v.boolean(), false),
})
const ReceiptAnswer = v.object({
  blockHash: Hash,
  status: v.optional(Quantity, '0x1'),
  logs: v.array(v.object({ logIndex: Whole })),
})

/** A block, without what is in it. */
export interface Block {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Tokens that moved. */
export interface Transfer {
  /** In lower case, like all addresses here. */
  readonly token: string
  readonly to: string
  readonly amount: bigint
  readonly height: number
  readonly blockHash: string
  readonly transaction: string
  /** Its place among all logs of the block. */
  readonly logIndex: number
}

/** The chain's own coin that moved. */
export interface CoinTransfer {
  readonly to: string
  readonly amount: bigint
  readonly transaction: string
}

/** What became of a transaction. */
export interface Receipt {
  readonly blockHash: string
  readonly hasSucceeded: boolean
  /** The places among all logs of the block, in the order the transaction made them. */
  readonly logIndexes: readonly number[]
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const DECIMALS = '0x313ce567' // decimals()
const MOST_ADDRESSES = 200

/** The chain, as one endpoint sees it. */
export class EvmCalls {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  chainId(): Promise<number> {
    return this.#call('eth_chainId', [], (result) => v.parse(Whole, result))
  }

  /** The newest block. */
  head(): Promise<Block> {
    return this.#call('eth_getBlockByNumber', ['latest', false], (result) =>
      v.parse(BlockAnswer, here(result)),
    )
  }

  /** The block of this height. @throws NotHere */
  block(height: number): Promise<Block> {
    return this.#call('eth_getBlockByNumber', [quantity(height), false], (result) => {
      const block = v.parse(BlockAnswer, here(result))
      if (block.height !== height) throw new Error('another height')
      return block
    })
  }

  /** The coins that the transactions of a block themselves carry; what contracts send on from there cannot be seen. @throws NotHere */
  coins(blockHash: string): Promise<readonly CoinTransfer[]> {
    return this.#call('eth_getBlockByHash', [blockHash, true], (result) => {
      const { hash, transactions } = v.parse(BodyAnswer, here(result))
      if (hash !== blockHash) throw new Error('another block')
      return transactions.flatMap(({ hash: transaction, to, value }) =>
        to && value > 0n ? [{ to, amount: value, transaction }] : [],
      )
    })
  }

  /** Every token that came to one of `addresses` (in lower case) in one block, or from one height to another. */
  async transfers(
    where: { readonly blockHash: string } | { readonly from: number; readonly to: number },
    addresses: Iterable<string>,
  ): Promise<Transfer[]> {
    const [range, isLarge] =
      'from' in where
        ? [{ fromBlock: quantity(where.from), toBlock: quantity(where.to) }, where.to > where.from]
        : [where, false]
    const wanted = [...addresses]
    const found: Transfer[] = []
    for (let first = 0; first < wanted.length; first += MOST_ADDRESSES) {
      const chunk = wanted.slice(first, first + MOST_ADDRESSES)
      const topics = [TRANSFER, null, chunk.map(wordOf)]
      const read = (result: unknown): Transfer[] =>
        v.parse(v.array(LogAnswer), result).flatMap((log) => {
          const isAsked =
            'from' in where
              ? log.blockNumber >= where.from && log.blockNumber <= where.to
              : log.blockHash === where.blockHash
          if (!isAsked) throw new Error('another block')
          return transferOf(log, chunk)
        })
      found.push(...(await this.#call('eth_getLogs', [{ ...range, topics }], read, isLarge)))
    }
    return found
  }

  /** @throws NotHere */
  receipt(transaction: string): Promise<Receipt> {
    return this.#call('eth_getTransactionReceipt', [transaction], (result) => {
      const { blockHash, status, logs } = v.parse(ReceiptAnswer, here(result))
      const logIndexes = logs.map(({ logIndex }) => logIndex)
      return { blockHash, hasSucceeded: status === 1n, logIndexes }
    })
  }

  /** How many digits a token has behind its point; undefined where there is no such token. */
  async decimals(token: string): Promise<number | undefined> {
    const read = (result: unknown): number | undefined => {
      const data = v.parse(hex('*'), result)
      return data.length === 66 ? Number(BigInt(data)) : undefined
    }
    try {
      return await this.#call('eth_call', [{ to: token, data: DECIMALS }, 'latest'], read)
    } catch (error) {
      if (error instanceof CallReverted) return undefined
      throw error
    }
  }
}

function here(result: unknown): unknown {
  if (result === null || result === undefined) throw new NotHere()
  return result
}

// A collectible's event (ERC-721) has the same name and one topic more: not an amount, so not a payment.
function transferOf(log: v.InferOutput<typeof LogAnswer>, wanted: readonly string[]): Transfer[] {
  const [event, , receiver] = log.topics
  if (log.removed || event !== TRANSFER || receiver === undefined || log.topics.length !== 3) return []
  if (log.data.length !== 66) return []
  const to = `0x${receiver.slice(-40)}`
  const amount = BigInt(log.data)
  if (wordOf(to) !== receiver || !wanted.includes(to) || amount === 0n) return []
  const { address: token, blockNumber: height, blockHash, transactionHash: transaction, logIndex } = log
  return [{ token, to, amount, height, blockHash, transaction, logIndex }]
}

function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
