// Finds payments to our addresses in the blocks of a chain, as one endpoint shows them.
import type { Log } from '../../operations/log.ts'
import type { Ledger, PaymentSeen } from '../provider.ts'
import { mayContain } from './evm-bloom.ts'
import { received } from './evm-received.ts'
import {
  type Block,
  type CoinTransfer,
  type EvmRpcRequests,
  NotAvailable,
  RequestTooLarge,
  TRANSFER,
  type Transfer,
  wordOf,
} from './evm-rpc-requests.ts'
import { LessReceived } from './less-received.ts'
import { OtherTransfers } from './other-transfers.ts'

interface SearchParts {
  readonly ledger: Ledger
  readonly log: Log
  /** The name of the chain: `evm:1` */
  readonly scope: string
  /** The provider whose deposit addresses are watched. */
  readonly provider: string
  /** The tokens to pay in, in lower case; none on a chain where nothing should be paid. */
  readonly tokens: readonly string[]
}

/** Our addresses as orders spell them, by their lower-case form. */
export type Watched = ReadonlyMap<string, string>

/** The payments in a block. */
export interface Found {
  readonly payments: readonly PaymentSeen[]
  /** Whether the endpoint shows no transfer although the block's header says that there may be one. */
  readonly isDoubtful: boolean
}

interface Money {
  readonly reference: string
  readonly asset: string
  readonly payTo: string
  readonly amount: bigint
}

/** Finds payments on one chain. */
export class PaymentSearch {
  readonly #parts: SearchParts
  readonly #others = new OtherTransfers()
  readonly #less: LessReceived

  constructor(parts: SearchParts) {
    this.#parts = parts
    this.#less = new LessReceived(parts.log)
  }

  /** The addresses to search for. */
  async watched(): Promise<Watched> {
    const addresses = await this.#parts.ledger.watched(this.#parts.provider)
    return new Map(addresses.map((address) => [address.toLowerCase(), address]))
  }

  /**
   * The payments in one block.
   * @param tokensOnly whether to read only transfers of the tokens to pay in
   * @throws NotAvailable
   */
  async inBlock(chain: EvmRpcRequests, block: Block, tokensOnly: boolean): Promise<Found> {
    // The block was read first, and the watched addresses after it. An order is opened before it can be paid,
    // so every order paid in an existing block is then included. In the other sequence, an order that is
    // opened and paid in between would be missed.
    const watched = await this.watched()
    const transfers = await this.#transfersIn(chain, block, watched, tokensOnly)
    const payments = await this.#paymentsOf(chain, transfers, watched, {
      blockOf: () => block,
      isOld: tokensOnly,
    })
    const coins = tokensOnly ? [] : await this.#coinsIn(chain, block)
    const isDoubtful = transfers.length === 0 && this.#mayPay(block, watched)
    return { payments: [...payments, ...coins], isDoubtful }
  }

  /**
   * The payments in the blocks from one height to another, without those in the chain's own coin.
   * @param last the block at `to`
   * @param tokensOnly whether to read only transfers of the tokens to pay in
   * @throws NotAvailable
   * @throws RequestTooLarge
   */
  async inRange(
    chain: EvmRpcRequests,
    { from, last, watched }: { from: number; last: Block; watched: Watched },
    tokensOnly: boolean,
  ): Promise<PaymentSeen[]> {
    const tokens = tokensOnly ? this.#parts.tokens : undefined
    if (watched.size === 0 || tokens?.length === 0) return []
    const transfers = await chain.transfers({ from, to: last.height }, watched.keys(), tokens)
    const blocks = new Map<number, Block>([[last.height, last]])
    const blockOf = async ({ height }: Transfer): Promise<Block> => {
      const block = blocks.get(height) ?? (await chain.block(height))
      blocks.set(height, block)
      return block
    }
    return await this.#paymentsOf(chain, transfers, watched, { blockOf, isOld: true })
  }

  #mayPay({ logsBloom }: Block, watched: Watched): boolean {
    const { tokens } = this.#parts
    if (logsBloom === undefined || watched.size === 0 || !mayContain(logsBloom, TRANSFER)) return false
    if (!tokens.some((token) => mayContain(logsBloom, token))) return false
    return [...watched.keys()].some((address) => mayContain(logsBloom, wordOf(address)))
  }

  async #transfersIn(
    chain: EvmRpcRequests,
    block: Block,
    watched: Watched,
    tokensOnly: boolean,
  ): Promise<Transfer[]> {
    if (watched.size === 0) return []
    const where = { blockHash: block.hash }
    try {
      if (!tokensOnly) return await chain.transfers(where, watched.keys())
    } catch (error) {
      if (!(error instanceof RequestTooLarge)) throw error
    }
    // Anybody can fill a block with transfers of worthless tokens to our addresses. The tokens to pay in cost
    // money.
    this.#logCrowded(block)
    const { tokens } = this.#parts
    return tokens.length === 0 ? [] : await chain.transfers(where, watched.keys(), tokens)
  }

  #logCrowded({ height }: Block): void {
    this.#parts.log.warn('chain_block_crowded', { reason: this.#parts.scope, count: height })
  }

  async #paymentsOf(
    chain: EvmRpcRequests,
    transfers: readonly Transfer[],
    watched: Watched,
    { blockOf, isOld }: { blockOf: (transfer: Transfer) => Block | Promise<Block>; isOld: boolean },
  ): Promise<PaymentSeen[]> {
    const { scope, tokens } = this.#parts
    const payments: PaymentSeen[] = []
    const arrived = new Map<string, bigint>()
    const moves = new Map<string, ReadonlyMap<number, string>>()
    for (const transfer of transfers) {
      const { token, to, amount, transaction, blockHash, logIndex } = transfer
      const payTo = watched.get(to) ?? to
      const isOther = !tokens.includes(token)
      if (isOther && !this.#others.isWorthRecording(payTo, `${transaction}/${logIndex}`)) continue
      const block = await blockOf(transfer)
      if (block.hash !== blockHash) throw new NotAvailable()
      const key = `${blockHash}/${token}`
      const moved = isOther
        ? undefined
        : (moves.get(key) ?? (await chain.transactionsOf(token, { blockHash })))
      if (moved) moves.set(key, moved)
      // A payment's reference uses its index among the transaction's transfers of this token, not among the
      // block's logs. So it stays the same payment if a reorganisation moves it to another block.
      const place = moved ? placeOf(moved, transfer) : logIndex
      const reference = `${scope}/${transaction}/${token}/${place}`
      if (isOther) {
        payments.push(this.#payment(block, { reference, asset: token, payTo, amount }))
        continue
      }
      // What arrived at the address is counted for its transfers in their order in the block.
      const of = `${blockHash}/${token}/${to}`
      const left =
        arrived.get(of) ?? (await received(chain, { ...grossOf(transfer, transfers), block }, isOld))
      const net = this.#less.amountOf({ reference, amount }, left)
      arrived.set(of, left - net)
      if (net > 0n) payments.push(this.#payment(block, { reference, asset: token, payTo, amount: net }))
    }
    return payments
  }

  // A block with all its transactions is large, so this is done only while an order is pending.
  async #coinsIn(chain: EvmRpcRequests, block: Block): Promise<PaymentSeen[]> {
    const { ledger, provider, scope } = this.#parts
    const pending = await ledger.pending(provider)
    if (pending.length === 0) return []
    const wanted = new Map(pending.map(({ payTo }) => [payTo.toLowerCase(), payTo]))
    const payments: PaymentSeen[] = []
    for (const { to, amount, transaction } of await this.#allCoins(chain, block)) {
      const payTo = wanted.get(to)
      if (payTo === undefined) continue
      const receipt = await chain.receipt(transaction)
      if (receipt.blockHash !== block.hash) throw new NotAvailable()
      if (!receipt.hasSucceeded) continue
      const reference = `${scope}/${transaction}/native`
      payments.push(this.#payment(block, { reference, asset: 'native', payTo, amount }))
    }
    return payments
  }

  async #allCoins(chain: EvmRpcRequests, block: Block): Promise<readonly CoinTransfer[]> {
    try {
      return await chain.coins(block.hash)
    } catch (error) {
      if (!(error instanceof RequestTooLarge)) throw error
      this.#logCrowded(block)
      return []
    }
  }

  #payment({ height, at }: Block, { reference, asset, payTo, amount }: Money): PaymentSeen {
    const { scope, tokens } = this.#parts
    const problem = tokens.length === 0 ? 'wrong_chain' : tokens.includes(asset) ? undefined : 'wrong_token'
    return {
      ...{ reference, scope, for: { payTo }, asset: `${scope}/${asset}`, amount },
      ...{ at, height, isFinal: false },
      ...(problem === undefined ? {} : { problem }),
    }
  }
}

function grossOf({ token, to, blockHash }: Transfer, all: readonly Transfer[]) {
  const same = all.filter((each) => each.token === token && each.to === to && each.blockHash === blockHash)
  return { token, to, gross: same.reduce((sum, { amount }) => sum + amount, 0n) }
}

function placeOf(moved: ReadonlyMap<number, string>, { transaction, logIndex }: Transfer): number {
  if (moved.get(logIndex) !== transaction) throw new NotAvailable()
  return [...moved].filter(([index, each]) => index < logIndex && each === transaction).length
}
