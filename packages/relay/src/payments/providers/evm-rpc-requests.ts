// The JSON-RPC requests to a chain, and the schema of each answer, because an endpoint may answer anything.
import * as v from 'valibot'
import { toEventSelector } from 'viem/utils'

/**
 * The endpoint does not have the requested data, or not yet. This is not a failure: the next endpoint may
 * have it.
 */
export class NotAvailable extends Error {
  override readonly name = 'NotAvailable'
}

/** The request is larger than the endpoint accepts. It can be split into parts. */
export class RequestTooLarge extends Error {
  override readonly name = 'RequestTooLarge'
}

/** A contract reverted a call. */
export class CallReverted extends Error {
  override readonly name = 'CallReverted'
}

/**
 * One JSON-RPC request to one endpoint. `read` parses the result; if it throws, the answer counts as
 * unusable.
 * @param parts whether the request can be split: then {@link RequestTooLarge} is thrown if a block contains
 *   too much, and for a range of blocks after any error of the endpoint
 */
export type RpcRequest = <T>(
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
  v.object({
    ...{ number: Whole, hash: Hash, parentHash: Hash, timestamp: Whole },
    logsBloom: v.nullish(hex('{512}')), // Some chains have none.
  }),
  v.transform(({ number, hash, parentHash, timestamp, logsBloom }) => ({
    ...{ height: number, hash, parentHash, logsBloom: logsBloom ?? undefined },
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

/** The header of a block. */
export interface Block {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Which addresses and topics its logs may contain; undefined on chains without it. */
  readonly logsBloom: string | undefined
}

/** One block, or all blocks from one height to another. */
type Where = { readonly blockHash: string } | { readonly from: number; readonly to: number }

/** A transfer of tokens. */
export interface Transfer {
  /** In lower case, like all addresses in this file. */
  readonly token: string
  readonly to: string
  readonly amount: bigint
  readonly height: number
  readonly blockHash: string
  readonly transaction: string
  /** Its index among all logs of the block. */
  readonly logIndex: number
}

/** A transfer of the chain's own coin. */
export interface CoinTransfer {
  readonly to: string
  readonly amount: bigint
  readonly transaction: string
}

/** The result of a transaction. */
export interface Receipt {
  readonly blockHash: string
  readonly hasSucceeded: boolean
}

/** The topic of the event of a transfer. */
export const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const DECIMALS = '0x313ce567' // decimals()
const BALANCE_OF = '0x70a08231' // balanceOf(address)
const ADDRESSES_AT_ONCE = 200
/** With more addresses than this, requesting every transfer takes less. */
const MOST_ADDRESSES = 2000

/** The requests to one endpoint of a chain. */
export class EvmRpcRequests {
  readonly #request: RpcRequest
  /** The endpoint's host. The rest of its URL may contain a key. */
  readonly host: string

  constructor(host: string, request: RpcRequest) {
    this.host = host
    this.#request = request
  }

  chainId(): Promise<number> {
    return this.#request('eth_chainId', [], (result) => v.parse(Whole, result))
  }

  /** The newest block. */
  head(): Promise<Block> {
    return this.#request('eth_getBlockByNumber', ['latest', false], (result) =>
      v.parse(BlockAnswer, present(result)),
    )
  }

  /** The block at this height. @throws NotAvailable */
  block(height: number): Promise<Block> {
    return this.#request('eth_getBlockByNumber', [quantity(height), false], (result) => {
      const block = v.parse(BlockAnswer, present(result))
      if (block.height !== height) throw new Error('another height')
      return block
    })
  }

  /**
   * The coins that a block's transactions carry directly. Coins that contracts send on from there cannot be
   * seen. @throws NotAvailable, RequestTooLarge
   */
  coins(blockHash: string): Promise<readonly CoinTransfer[]> {
    return this.#request(
      'eth_getBlockByHash',
      [blockHash, true],
      (result) => {
        const { hash, transactions } = v.parse(BodyAnswer, present(result))
        if (hash !== blockHash) throw new Error('another block')
        return transactions.flatMap((one) => {
          // Some chains have other kinds of transactions, and some transactions have no recipient; those are
          // not payments.
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
   * Every transfer of tokens to one of `addresses` (in lower case), in one block or from one height to
   * another.
   * @param tokens only transfers of these tokens
   * @throws RequestTooLarge
   */
  async transfers(
    where: Where,
    addresses: Iterable<string>,
    tokens?: readonly string[],
  ): Promise<Transfer[]> {
    const isOneBlock = 'blockHash' in where
    const blocks = isOneBlock ? where : { fromBlock: quantity(where.from), toBlock: quantity(where.to) }
    const filter = tokens === undefined ? blocks : { ...blocks, address: tokens }
    const parts = !isOneBlock ? 'blocks' : tokens === undefined ? 'block' : undefined
    const wanted = new Set(addresses)
    const read = (result: unknown): Transfer[] =>
      logsOf(result, where).flatMap((log) => transferOf(log, wanted))
    const found: Transfer[] = []
    for (const topics of topicsOf([...wanted])) {
      found.push(...(await this.#request('eth_getLogs', [{ ...filter, topics }], read, parts)))
    }
    return found
  }

  /**
   * All transfers of a token in a block: the transaction of each, by its index among all logs of the block.
   */
  transactionsOf(token: string, where: { readonly blockHash: string }): Promise<ReadonlyMap<number, string>> {
    return this.#request('eth_getLogs', [{ ...where, address: token, topics: [TRANSFER] }], (result) => {
      const logs = logsOf(result, where).toSorted((a, b) => a.logIndex - b.logIndex)
      return new Map(logs.map(({ logIndex, transactionHash }) => [logIndex, transactionHash]))
    })
  }

  /** @throws NotAvailable */
  receipt(transaction: string): Promise<Receipt> {
    return this.#request('eth_getTransactionReceipt', [transaction], (result) => {
      const { blockHash, status } = v.parse(ReceiptAnswer, present(result))
      return { blockHash, hasSucceeded: status === 1n }
    })
  }

  /**
   * The balance of an address in a token after the block at this height, or after the newest.
   * @param parts `blocks` if the endpoint may no longer have this state
   * @throws RequestTooLarge if the endpoint answers with an error, with `parts`
   */
  balance(token: string, address: string, height: number | 'latest', parts?: 'blocks'): Promise<bigint> {
    const call = { to: token, data: `${BALANCE_OF}${wordOf(address).slice(2)}` }
    const at = height === 'latest' ? height : quantity(height)
    return this.#request('eth_call', [call, at], (result) => v.parse(Quantity, result), parts)
  }

  /**
   * How much of a token left an address in the blocks from one height to another. @throws RequestTooLarge
   */
  sent(token: string, address: string, where: { from: number; to: number }): Promise<bigint> {
    const blocks = { fromBlock: quantity(where.from), toBlock: quantity(where.to) }
    const filter = { ...blocks, address: token, topics: [TRANSFER, wordOf(address)] }
    const read = (result: unknown): bigint =>
      logsOf(result, where)
        .filter(({ address: of, topics, data }) => {
          const isTransfer = topics[0] === TRANSFER && topics.length === 3 && data.length === 66
          return isTransfer && of === token && topics[1] === wordOf(address)
        })
        .reduce((sum, { data }) => sum + BigInt(data), 0n)
    return this.#request('eth_getLogs', [filter], read, 'blocks')
  }

  /** The number of decimal places of a token; undefined if there is no such token. */
  async decimals(token: string): Promise<number | undefined> {
    const read = (result: unknown): number | undefined => {
      const data = v.parse(hex('*'), result)
      return data.length === 66 ? Number(BigInt(data)) : undefined
    }
    try {
      return await this.#request('eth_call', [{ to: token, data: DECIMALS }, 'latest'], read)
    } catch (error) {
      if (error instanceof CallReverted) return undefined
      throw error
    }
  }
}

// The topic filters for transfers to these addresses, in as many requests as needed.
function topicsOf(addresses: readonly string[]): unknown[][] {
  if (addresses.length > MOST_ADDRESSES) return [[TRANSFER]]
  const topics: unknown[][] = []
  for (let first = 0; first < addresses.length; first += ADDRESSES_AT_ONCE) {
    topics.push([TRANSFER, null, addresses.slice(first, first + ADDRESSES_AT_ONCE).map(wordOf)])
  }
  return topics
}

function present(result: unknown): unknown {
  if (result === null || result === undefined) throw new NotAvailable()
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

// The event of a collectible (ERC-721) has the same name and one more topic. It has no amount, so it is not a
// payment.
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

/** An address as a topic. */
export function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
