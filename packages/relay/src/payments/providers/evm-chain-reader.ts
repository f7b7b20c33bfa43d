// Reads one chain, each block once: finds payments, retracts those that a reorganisation removed, and
// finalises those that are deep enough.
import type { Log } from '../../operations/log.ts'
import type { Sql, Storage } from '../../storage/storage.ts'
import type { Ledger, PaymentSeen } from '../provider.ts'
import { ChainUnreachable, type Rpc } from './evm-rpc.ts'
import {
  type Block,
  type CoinTransfer,
  type EvmRpcRequests,
  NotAvailable,
  RequestTooLarge,
  type Transfer,
} from './evm-rpc-requests.ts'
import { OtherTransfers } from './other-transfers.ts'

/** The block up to which the chain was read. */
export type Position = Omit<Block, 'parentHash'>

interface ChainReaderParts {
  readonly rpc: Rpc
  readonly ledger: Ledger
  readonly storage: Storage
  readonly log: Log
  /** The provider whose deposit addresses are watched. */
  readonly provider: string
  /** How many blocks a payment needs, counting its own. */
  readonly confirmations: number
  /** The tokens to pay in, in lower case; none on a chain where nothing should be paid. */
  readonly tokens: readonly string[]
}

/** The result of reading on from a position: go forward with payments, or back after a reorganisation. */
type Step =
  | { readonly kind: 'read'; readonly position: Position; readonly payments: readonly PaymentSeen[] }
  | { readonly kind: 'back'; readonly position: Position; readonly isBeyondStored: boolean }

interface Money {
  readonly reference: string
  readonly asset: string
  readonly payTo: string
  readonly amount: bigint
}

const LEAST_REORGANISATION_DEPTH = 64
const WIDEST_RANGE = 2000
/**
 * After this many failures a block is read only for the token to pay in, and no longer for everything sent in
 * it.
 */
const MOST_FAILURES = 10

/**
 * Reads one chain, starting at the position in the store, or at the newest block the first time.
 *
 * Transfers without an event are not seen, for example when a contract sends the chain's own coin. Coins that
 * a transaction itself carries are seen only in blocks near the head, and only while an order is pending.
 */
export class ChainReader {
  readonly #parts: ChainReaderParts
  /** How many blocks a reorganisation may replace. Deeper ones are handled too, but logged as an error. */
  readonly #reorganisationDepth: number
  #scope: string | undefined
  #position: Position | undefined
  #range = WIDEST_RANGE
  /** How often reading the block after this height failed although the chain answered. */
  #failures = { above: -1, count: 0 }
  readonly #others = new OtherTransfers()

  constructor(parts: ChainReaderParts) {
    this.#parts = parts
    this.#reorganisationDepth = Math.max(parts.confirmations * 2, LEAST_REORGANISATION_DEPTH)
  }

  /** The newest block that was read; undefined before the first. */
  get position(): Position | undefined {
    return this.#position
  }

  /** Continues from the position stored for `scope`, for example after a restart. */
  async resume(scope: string): Promise<Position | undefined> {
    const { sql } = this.#parts.storage
    const [row] = await sql<Position>`
      SELECT height, hash, at FROM chain_blocks WHERE scope = ${scope} ORDER BY height DESC LIMIT 1`
    this.#scope = scope
    this.#position = row
    return row
  }

  /** Reads up to the chain's newest block, or until `stopping`. @throws ChainUnreachable */
  async read(stopping: AbortSignal): Promise<void> {
    const { rpc } = this.#parts
    // Read it from the store each time, because another node may have advanced it.
    let position = await this.resume(this.#scope ?? `evm:${await rpc.chainId()}`)
    if (!position) return await this.#begin()
    const from = position.height
    // If an endpoint has no newer block, the next one is used: the first may only be behind.
    const head = await rpc.ask(async (chain) => {
      const newest = await chain.head()
      return newest.height > from ? newest : undefined
    })
    while (head && position.height < head.height && !stopping.aborted) {
      const step = await this.#tryStep(position, head.height)
      if (!step || !(await this.#commit(step, position))) return
      position = step.position
      this.#position = position
    }
  }

  get #name(): string {
    if (this.#scope === undefined) throw new Error('the chain’s id is not known yet')
    return this.#scope
  }

  // No order is opened before there is a position, so no older block can contain a payment. If two nodes
  // start at the same time, each from its own newest block, this still holds: both blocks existed before
  // either position was stored.
  async #begin(): Promise<void> {
    const head = await this.#parts.rpc.ask((chain) => chain.head())
    if (!head) return
    await this.#parts.ledger.transaction(async (_entries, sql) => {
      const [stored] = await sql`SELECT height FROM chain_blocks WHERE scope = ${this.#name} LIMIT 1`
      if (!stored) await storePosition(sql, this.#name, head)
    })
    await this.resume(this.#name)
  }

  // Anybody can fill a block with events and calls at almost no cost, until no endpoint returns all of them,
  // and each reports that in its own words. Reading must continue. Transfers of the token to pay in cannot be
  // faked, so those can always be read.
  async #tryStep(position: Position, head: number): Promise<Step | undefined> {
    if (this.#failures.above !== position.height) this.#failures = { above: position.height, count: 0 }
    try {
      return await this.#nextStep(position, head)
    } catch (error) {
      if (error instanceof ChainUnreachable) this.#failures.count += 1
      throw error
    }
  }

  get #readsTokenOnly(): boolean {
    return this.#failures.count >= MOST_FAILURES
  }

  async #nextStep(position: Position, head: number): Promise<Step | undefined> {
    for (;;) {
      if (head - position.height <= this.#reorganisationDepth || this.#range < 2 || this.#readsTokenOnly) {
        this.#range = Math.max(2, this.#range)
        return await this.#parts.rpc.ask((chain) => this.#readBlock(chain, position))
      }
      try {
        const step = await this.#parts.rpc.ask((chain) => this.#readRange(chain, position, head))
        this.#range = Math.min(WIDEST_RANGE, Math.ceil(this.#range * 1.25))
        return step
      } catch (error) {
        if (!(error instanceof RequestTooLarge)) throw error
        this.#range = Math.floor(this.#range / 2)
      }
    }
  }

  // Near the head, where a reorganisation may happen: reads one block, by its hash.
  async #readBlock(chain: EvmRpcRequests, position: Position): Promise<Step> {
    const block = await chain.block(position.height + 1)
    if (block.parentHash !== position.hash) return await this.#findFork(chain)
    // Read the block first, then the watched addresses. An order is opened before it can be paid, so every
    // order paid in an existing block is then included. In the other sequence, an order that is opened and
    // paid in between would be missed.
    const watched = await this.#watched()
    const transfers = await this.#transfersIn(chain, block, watched)
    const payments = await this.#paymentsOf(chain, transfers, watched, () => block)
    return { kind: 'read', position: block, payments: [...payments, ...(await this.#coinsIn(chain, block))] }
  }

  async #transfersIn(
    chain: EvmRpcRequests,
    block: Block,
    watched: ReadonlyMap<string, string>,
  ): Promise<Transfer[]> {
    if (watched.size === 0) return []
    const where = { blockHash: block.hash }
    try {
      if (!this.#readsTokenOnly) return await chain.transfers(where, watched.keys())
    } catch (error) {
      if (!(error instanceof RequestTooLarge)) throw error
    }
    // Anybody can fill a block with transfers of worthless tokens to our addresses. The tokens to pay in cost
    // money.
    this.#logCrowded(block)
    const transfers: Transfer[] = []
    for (const token of this.#parts.tokens)
      transfers.push(...(await chain.transfers(where, watched.keys(), token)))
    return transfers
  }

  #logCrowded({ height }: Block): void {
    this.#parts.log.warn('chain_block_crowded', { reason: this.#name, count: height })
  }

  // Deeper than a reorganisation reaches: reads many blocks at once, by height.
  async #readRange(chain: EvmRpcRequests, position: Position, head: number): Promise<Step> {
    const here = await chain.block(position.height)
    if (here.hash !== position.hash) return await this.#findFork(chain)
    // After the head is known, for the same reason as with single blocks.
    const watched = await this.#watched()
    const end = head - this.#reorganisationDepth
    const to = watched.size === 0 ? end : Math.min(position.height + this.#range, end)
    // An endpoint that is behind would return what it has without saying so. Requesting this block first
    // makes it say so.
    const last = await chain.block(to)
    const range = { from: position.height + 1, to }
    const transfers = watched.size === 0 ? [] : await chain.transfers(range, watched.keys())
    const blocks = new Map<number, Block>([[to, last]])
    const payments = await this.#paymentsOf(chain, transfers, watched, async ({ height }) => {
      const block = blocks.get(height) ?? (await chain.block(height))
      blocks.set(height, block)
      return block
    })
    return { kind: 'read', position: last, payments }
  }

  // Finds the newest block read that the chain still has. If an endpoint does not have a block at all, it is
  // only behind; the block was not replaced.
  async #findFork(chain: EvmRpcRequests): Promise<Step> {
    const stored = await this.#parts.storage.sql<Position>`
      SELECT height, hash, at FROM chain_blocks WHERE scope = ${this.#name} ORDER BY height DESC`
    const [newest] = stored
    for (const position of stored) {
      const block = await chain.block(position.height)
      if (block.hash !== position.hash) continue
      // The chain is changing right now; the next round sees the result.
      if (position === newest) throw new NotAvailable()
      return { kind: 'back', position, isBeyondStored: false }
    }
    // All stored blocks were replaced, so the depth of the reorganisation is unknown. Read again as far back
    // from the oldest as a reorganisation may go. Final payments stay final, and payments that are read twice
    // are recorded once.
    const oldest = stored.at(-1)
    if (!oldest) throw new NotAvailable()
    const position = await chain.block(Math.max(0, oldest.height - this.#reorganisationDepth))
    return { kind: 'back', position, isBeyondStored: true }
  }

  async #paymentsOf(
    chain: EvmRpcRequests,
    transfers: readonly Transfer[],
    watched: ReadonlyMap<string, string>,
    blockOf: (transfer: Transfer) => Block | Promise<Block>,
  ): Promise<PaymentSeen[]> {
    const payments: PaymentSeen[] = []
    const moves = new Map<string, ReadonlyMap<number, string>>()
    for (const transfer of transfers) {
      const { token, to, amount, transaction, blockHash, logIndex } = transfer
      const payTo = watched.get(to) ?? to
      const isOther = !this.#parts.tokens.includes(token)
      if (isOther && !this.#others.isWorthRecording(payTo, `${transaction}/${logIndex}`)) continue
      const block = await blockOf(transfer)
      if (block.hash !== blockHash) throw new NotAvailable()
      const moved = isOther
        ? undefined
        : (moves.get(blockHash) ?? (await chain.transactionsOf(token, { blockHash })))
      if (moved) moves.set(blockHash, moved)
      // A payment's reference uses its index among the transaction's transfers of this token, not among the
      // block's logs. So it stays the same payment if a reorganisation moves it to another block.
      const place = moved ? placeOf(moved, transfer) : logIndex
      const reference = `${this.#name}/${transaction}/${token}/${place}`
      payments.push(this.#payment(block, { reference, asset: token, payTo, amount }))
    }
    return payments
  }

  // A block with all its transactions is large, so this is done only while an order is pending.
  async #coinsIn(chain: EvmRpcRequests, block: Block): Promise<PaymentSeen[]> {
    const pending = await this.#parts.ledger.pending(this.#parts.provider)
    if (pending.length === 0 || this.#readsTokenOnly) return []
    const wanted = new Map(pending.map(({ payTo }) => [payTo.toLowerCase(), payTo]))
    const payments: PaymentSeen[] = []
    for (const { to, amount, transaction } of await this.#allCoins(chain, block)) {
      const payTo = wanted.get(to)
      if (payTo === undefined) continue
      const receipt = await chain.receipt(transaction)
      if (receipt.blockHash !== block.hash) throw new NotAvailable()
      if (!receipt.hasSucceeded) continue
      const reference = `${this.#name}/${transaction}/native`
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
    const { tokens } = this.#parts
    const isRight = tokens.includes(asset)
    const problem = tokens.length === 0 ? 'wrong_chain' : isRight ? undefined : 'wrong_token'
    return {
      ...{ reference, scope: this.#name, for: { payTo }, asset: `${this.#name}/${asset}`, amount },
      ...{ at, height, isFinal: false },
      ...(problem === undefined ? {} : { problem }),
    }
  }

  // The watched addresses as orders spell them, by their lower-case form.
  async #watched(): Promise<ReadonlyMap<string, string>> {
    const addresses = await this.#parts.ledger.watched(this.#parts.provider)
    return new Map(addresses.map((address) => [address.toLowerCase(), address]))
  }

  // The payments found and the new position are stored in one transaction, so no block is recorded twice or
  // skipped.
  async #commit(step: Step, from: Position): Promise<boolean> {
    const scope = this.#name
    const { height } = step.position
    const isCommitted = await this.#parts.ledger.transaction(async (entries, sql) => {
      if (!(await lockPosition(sql, scope, from))) return false
      if (step.kind === 'back') {
        await entries.retractAbove(scope, height)
        await sql`DELETE FROM chain_blocks WHERE scope = ${scope} AND height >= ${height}`
        await storePosition(sql, scope, step.position)
        return true
      }
      for (const payment of step.payments) await entries.record(payment)
      await storePosition(sql, scope, step.position)
      await sql`DELETE FROM chain_blocks WHERE scope = ${scope} AND height < ${height - this.#reorganisationDepth}`
      // Counted from the block that was read, not from an endpoint's claim about the newest block.
      await entries.finalizeUpTo(scope, height - this.#parts.confirmations + 1)
      return true
    })
    if (isCommitted && step.kind === 'back') {
      const fields = { reason: scope, count: from.height - height }
      if (step.isBeyondStored) this.#parts.log.error('chain_reorganised_beyond_memory', fields)
      else this.#parts.log.warn('chain_reorganised', fields)
    }
    return isCommitted
  }
}

function placeOf(moved: ReadonlyMap<number, string>, { transaction, logIndex }: Transfer): number {
  if (moved.get(logIndex) !== transaction) throw new NotAvailable()
  return [...moved].filter(([index, each]) => index < logIndex && each === transaction).length
}

function storePosition(sql: Sql, scope: string, { height, hash, at }: Position): Promise<unknown> {
  return sql`
    INSERT INTO chain_blocks (scope, height, hash, at) VALUES (${scope}, ${height}, ${hash}, ${at})
    ON CONFLICT (scope, height) DO NOTHING`
}

// Locks the position, and returns whether it is still the newest. If two nodes read the same block, one of
// them waits here and then sees that it is too late.
async function lockPosition(sql: Sql, scope: string, { height, hash }: Position): Promise<boolean> {
  const [locked] = await sql`
    UPDATE chain_blocks SET hash = hash WHERE scope = ${scope} AND height = ${height} AND hash = ${hash}
    RETURNING height`
  if (!locked) return false
  const [above] = await sql`
    SELECT height FROM chain_blocks WHERE scope = ${scope} AND height > ${height} LIMIT 1`
  return above === undefined
}
