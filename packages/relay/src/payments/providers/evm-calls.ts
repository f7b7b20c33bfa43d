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
 * @param parts whether it can be asked for in parts: then {@link TooMuchAsked} is thrown where a block has too much in it, and
 *   for several blocks wherever an endpoint does not want to
 */
export type Call = <T>(
  method: string,
  params: readonly unknown[],
  read: (result: unknown) => T,
  parts?: 'block' | 'blocks',
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
  transactions: v.array(v.unknown()),
})
const TransactionAnswer = v.object({ hash: Hash, to: EvmAddress, value: Quantity })
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
const ReceiptAnswer = v.object({ blockHash: Hash, status: v.optional(Quantity, '0x1') })

/** A block, without what is in it. */
export interface Block {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** One block, or all from one height to another. */
type Where = { readonly blockHash: string } | { readonly from: number; readonly to: number }

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
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const DECIMALS = '0x313ce567' // decimals()
const ADDRESSES_AT_ONCE = 200
/** With more of them it takes less to ask for every transfer there is. */
const MOST_ADDRESSES = 2000

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

  /** The coins that the transactions of a block themselves carry; what contracts send on from there cannot be seen. @throws NotHere, TooMuchAsked */
  coins(blockHash: string): Promise<readonly CoinTransfer[]> {
    return this.#call(
      'eth_getBlockByHash',
      [blockHash, true],
      (result) => {
        const { hash, transactions } = v.parse(BodyAnswer, here(result))
        if (hash !== blockHash) throw new Error('another block')
        return transactions.flatMap((one) => {
          // Chains have kinds of transactions of their own, and some go to nobody; those are no payments.
          const { success, output } = v.safeParse(TransactionAnswer, one)
          return success && output.value > 0n
            ? [{ to: output.to, amount: output.value, transaction: output.hash }]
            : []
        })
      },
      'block',
    )
  }

  /**
   * Every token that came to one of `addresses` (in lower case), in one block or from one height to another.
   * @param token of all that came, only this
   * @throws TooMuchAsked
   */
  async transfers(where: Where, addresses: Iterable<string>, token?: string): Promise<Transfer[]> {
    const isOneBlock = 'blockHash' in where
    const blocks = isOneBlock ? where : { fromBlock: quantity(where.from), toBlock: quantity(where.to) }
    const filter = token === undefined ? blocks : { ...blocks, address: token }
    const parts = token !== undefined ? undefined : isOneBlock ? 'block' : 'blocks'
    const wanted = new Set(addresses)
    const read = (result: unknown): Transfer[] =>
      logsOf(result, where).flatMap((log) => transferOf(log, wanted))
    const found: Transfer[] = []
    for (const topics of topicsOf([...wanted])) {
      found.push(...(await this.#call('eth_getLogs', [{ ...filter, topics }], read, parts)))
    }
    return found
  }

  /** All transfers of a token in a block: of which transaction each is, by its place among all logs of the block. */
  transactionsOf(token: string, where: { readonly blockHash: string }): Promise<ReadonlyMap<number, string>> {
    return this.#call('eth_getLogs', [{ ...where, address: token, topics: [TRANSFER] }], (result) => {
      const logs = logsOf(result, where).toSorted((a, b) => a.logIndex - b.logIndex)
      return new Map(logs.map(({ logIndex, transactionHash }) => [logIndex, transactionHash]))
    })
  }

  /** @throws NotHere */
  receipt(transaction: string): Promise<Receipt> {
    return this.#call('eth_getTransactionReceipt', [transaction], (result) => {
      const { blockHash, status } = v.parse(ReceiptAnswer, here(result))
      return { blockHash, hasSucceeded: status === 1n }
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

// What the logs of transfers to these addresses are asked for by, in as many questions as it takes.
function topicsOf(addresses: readonly string[]): unknown[][] {
  if (addresses.length > MOST_ADDRESSES) return [[TRANSFER]]
  const topics: unknown[][] = []
  for (let first = 0; first < addresses.length; first += ADDRESSES_AT_ONCE) {
    topics.push([TRANSFER, null, addresses.slice(first, first + ADDRESSES_AT_ONCE).map(wordOf)])
  }
  return topics
}

function here(result: unknown): unknown {
  if (result === null || result === undefined) throw new NotHere()
  return result
}

function logsOf(result: unknown, where: Where): v.InferOutput<typeof LogAnswer>[] {
  const logs = v.parse(v.array(LogAnswer), result)
  for (const { blockHash, blockNumber } of logs) {
    const isAsked =
      'blockHash' in where
        ? blockHash === where.blockHash
        : blockNumber >= where.from && blockNumber <= where.to
    if (!isAsked) throw new Error('another block')
  }
  return logs
}

// A collectible's event (ERC-721) has the same name and one topic more: not an amount, so not a payment.
function transferOf(log: v.InferOutput<typeof LogAnswer>, wanted: ReadonlySet<string>): Transfer[] {
  const [event, , receiver] = log.topics
  if (log.removed || event !== TRANSFER || receiver === undefined || log.topics.length !== 3) return []
  if (log.data.length !== 66) return []
  const to = `0x${receiver.slice(-40)}`
  const amount = BigInt(log.data)
  if (wordOf(to) !== receiver || !wanted.has(to) || amount === 0n) return []
  const { address: token, blockNumber: height, blockHash, transactionHash: transaction, logIndex } = log
  return [{ token, to, amount, height, blockHash, transaction, logIndex }]
}

function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
