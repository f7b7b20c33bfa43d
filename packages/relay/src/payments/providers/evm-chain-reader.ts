// Reads one chain, each block once: what was paid, what a reorganisation took away, and what is deep enough to be final.
import type { Log } from '../../operations/log.ts'
import type { Sql, Storage } from '../../storage/storage.ts'
import type { Ledger, PaymentSeen } from '../provider.ts'
import {
  type Block,
  type CoinTransfer,
  type EvmCalls,
  NotHere,
  TooMuchAsked,
  type Transfer,
} from './evm-calls.ts'
import { ChainUnreachable, type Rpc } from './evm-rpc.ts'
import { OtherTransfers } from './other-transfers.ts'

/** A block up to which everything was read. */
export type Position = Omit<Block, 'parentHash'>

interface ChainReaderParts {
  readonly rpc: Rpc
  readonly ledger: Ledger
  readonly storage: Storage
  readonly log: Log
  /** The provider whose addresses are watched. */
  readonly provider: string
  /** Blocks a payment needs, counting its own. */
  readonly confirmations: number
  /** The token that is paid in, in lower case; undefined on a chain where nothing should be paid at all. */
  readonly token: string | undefined
}

/** What is to be done at a position. */
type Step =
  | { readonly kind: 'read'; readonly position: Position; readonly payments: readonly PaymentSeen[] }
  | { readonly kind: 'back'; readonly position: Position; readonly isBeyondMemory: boolean }

interface Money {
  readonly reference: string
  readonly asset: string
  readonly payTo: string
  readonly amount: bigint
}

const LEAST_REACH = 64
const WIDEST_RANGE = 2000
/** So often a block is asked for all that was sent in it, before it is read for what pays alone. */
const MOST_FAILURES = 10

/**
 * Reads one chain from the position kept in the store; at the very first, from its newest block.
 *
 * Money that moves without leaving an event is not seen: the chain's own coin, where a contract sends it on. Where a
 * transaction itself carries it, it is seen in blocks near the head while an order waits to be paid.
 */
export class ChainReader {
  readonly #parts: ChainReaderParts
  /** How many blocks a reorganisation may go back. Deeper ones are dealt with, too, but reported as an error. */
  readonly #reach: number
  #scope: string | undefined
  #position: Position | undefined
  #range = WIDEST_RANGE
  /** Rounds in which what follows this height could not be read, though the chain answered. */
  #failures = { above: -1, count: 0 }
  readonly #others = new OtherTransfers()

  constructor(parts: ChainReaderParts) {
    this.#parts = parts
    this.#reach = Math.max(parts.confirmations * 2, LEAST_REACH)
  }

  /** The newest block read; undefined before the first. */
  get position(): Position | undefined {
    return this.#position
  }

  /** Takes up the position kept for `scope`: what was known before a restart is known after it. */
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
    // From the store each time: another node may have read on.
    let position = await this.resume(this.#scope ?? `evm:${await rpc.chainId()}`)
    if (!position) return await this.#begin()
    const from = position.height
    // Of an endpoint whose newest block is no news the next is asked: it may only be behind.
    const head = await rpc.ask(async (chain) => {
      const newest = await chain.head()
      return newest.height > from ? newest : undefined
    })
    while (head && position.height < head.height && !stopping.aborted) {
      const step = await this.#tryStep(position, head.height)
      if (!step || !(await this.#take(step, position))) return
      position = step.position
      this.#position = position
    }
  }

  get #name(): string {
    if (this.#scope === undefined) throw new Error('the chain is not known yet')
    return this.#scope
  }

  // No order is opened before there is a position, so nothing older can be a payment. The same holds where two nodes begin at
  // once, each from a block of its own: both blocks were there before either position was.
  async #begin(): Promise<void> {
    const head = await this.#parts.rpc.ask((chain) => chain.head())
    if (!head) return
    await this.#parts.ledger.transaction(async (_entries, sql) => {
      const [taken] = await sql`SELECT height FROM chain_blocks WHERE scope = ${this.#name} LIMIT 1`
      if (!taken) await keep(sql, this.#name, head)
    })
    await this.resume(this.#name)
  }

  // Anybody can fill a block with events and calls that cost next to nothing, until no endpoint answers with all of them, in
  // whatever words. That must not end the reading: what pays cannot be made up, so it can always be read.
  async #tryStep(position: Position, head: number): Promise<Step | undefined> {
    if (this.#failures.above !== position.height) this.#failures = { above: position.height, count: 0 }
    try {
      return await this.#nextStep(position, head)
    } catch (error) {
      if (error instanceof ChainUnreachable) this.#failures.count += 1
      throw error
    }
  }

  get #isSparing(): boolean {
    return this.#failures.count >= MOST_FAILURES
  }

  async #nextStep(position: Position, head: number): Promise<Step | undefined> {
    for (;;) {
      if (head - position.height <= this.#reach || this.#range < 2 || this.#isSparing) {
        this.#range = Math.max(2, this.#range)
        return await this.#parts.rpc.ask((chain) => this.#readBlock(chain, position))
      }
      try {
        const step = await this.#parts.rpc.ask((chain) => this.#readRange(chain, position, head))
        this.#range = Math.min(WIDEST_RANGE, Math.ceil(this.#range * 1.25))
        return step
      } catch (error) {
        if (!(error instanceof TooMuchAsked)) throw error
        this.#range = Math.floor(this.#range / 2)
      }
    }
  }

  // Within reach of a reorganisation: one block, and what is in the very block of this hash.
  async #readBlock(chain: EvmCalls, position: Position): Promise<Step> {
    const block = await chain.block(position.height + 1)
    if (block.parentHash !== position.hash) return await this.#findFork(chain)
    // First the block, then who is watched: an order is opened before it can be paid, so whoever was paid in a block that
    // is there already is among them. The other way round, an order opened and paid in between would be overlooked.
    const watched = await this.#watched()
    const transfers = await this.#transfersIn(chain, block, watched)
    const payments = await this.#paymentsOf(chain, transfers, watched, () => block)
    return { kind: 'read', position: block, payments: [...payments, ...(await this.#coinsIn(chain, block))] }
  }

  async #transfersIn(
    chain: EvmCalls,
    block: Block,
    watched: ReadonlyMap<string, string>,
  ): Promise<Transfer[]> {
    if (watched.size === 0) return []
    const where = { blockHash: block.hash }
    try {
      if (!this.#isSparing) return await chain.transfers(where, watched.keys())
    } catch (error) {
      if (!(error instanceof TooMuchAsked)) throw error
    }
    // Anybody can fill a block with worthless tokens for our addresses. What is paid in cannot be had for nothing.
    this.#sayCrowded(block)
    const { token } = this.#parts
    return token === undefined ? [] : await chain.transfers(where, watched.keys(), token)
  }

  #sayCrowded({ height }: Block): void {
    this.#parts.log.warn('chain_block_crowded', { reason: this.#name, count: height })
  }

  // Out of reach: many blocks at once, by height.
  async #readRange(chain: EvmCalls, position: Position, head: number): Promise<Step> {
    const here = await chain.block(position.height)
    if (here.hash !== position.hash) return await this.#findFork(chain)
    // After the head is known, as with single blocks.
    const watched = await this.#watched()
    const end = head - this.#reach
    const to = watched.size === 0 ? end : Math.min(position.height + this.#range, end)
    // An endpoint that is behind would answer with what it has, without saying so: asked for this block, it says so.
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

  // The newest block read that the chain still has. An endpoint that lacks a block has not lost it: it is behind.
  async #findFork(chain: EvmCalls): Promise<Step> {
    const stored = await this.#parts.storage.sql<Position>`
      SELECT height, hash, at FROM chain_blocks WHERE scope = ${this.#name} ORDER BY height DESC`
    const [newest] = stored
    for (const position of stored) {
      const block = await chain.block(position.height)
      if (block.hash !== position.hash) continue
      if (position === newest) throw new NotHere() // It changes under our eyes; the next round sees how it ends.
      return { kind: 'back', position, isBeyondMemory: false }
    }
    // Deeper than anything remembered, so how deep cannot be known. What may have been replaced is read again, as far
    // back again as a reorganisation may go; what was final stays final, and what is read twice is recorded once.
    const oldest = stored.at(-1)
    if (!oldest) throw new NotHere()
    const position = await chain.block(Math.max(0, oldest.height - this.#reach))
    return { kind: 'back', position, isBeyondMemory: true }
  }

  async #paymentsOf(
    chain: EvmCalls,
    transfers: readonly Transfer[],
    watched: ReadonlyMap<string, string>,
    blockOf: (transfer: Transfer) => Block | Promise<Block>,
  ): Promise<PaymentSeen[]> {
    const payments: PaymentSeen[] = []
    const moves = new Map<string, ReadonlyMap<number, string>>()
    for (const transfer of transfers) {
      const { token, to, amount, transaction, blockHash, logIndex } = transfer
      const payTo = watched.get(to) ?? to
      const isOther = token !== this.#parts.token
      if (isOther && !this.#others.isWorthRecording(payTo, `${transaction}/${logIndex}`)) continue
      const block = await blockOf(transfer)
      if (block.hash !== blockHash) throw new NotHere()
      const moved = isOther
        ? undefined
        : (moves.get(blockHash) ?? (await chain.transactionsOf(token, { blockHash })))
      if (moved) moves.set(blockHash, moved)
      // A payment is named by its place among the transfers its transaction made of the token, not by that in its block: so
      // it is the same payment in whatever block a reorganisation puts it.
      const place = moved ? placeOf(moved, transfer) : `${token}/${logIndex}`
      const reference = `${this.#name}/${transaction}/${place}`
      payments.push(this.#payment(block, { reference, asset: token, payTo, amount }))
    }
    return payments
  }

  // The whole of a block's transactions is large, so this is done only while somebody is about to pay.
  async #coinsIn(chain: EvmCalls, block: Block): Promise<PaymentSeen[]> {
    const pending = await this.#parts.ledger.pending(this.#parts.provider)
    if (pending.length === 0 || this.#isSparing) return []
    const wanted = new Map(pending.map(({ payTo }) => [payTo.toLowerCase(), payTo]))
    const payments: PaymentSeen[] = []
    for (const { to, amount, transaction } of await this.#allCoins(chain, block)) {
      const payTo = wanted.get(to)
      if (payTo === undefined) continue
      const receipt = await chain.receipt(transaction)
      if (receipt.blockHash !== block.hash) throw new NotHere()
      if (!receipt.hasSucceeded) continue
      const reference = `${this.#name}/${transaction}/native`
      payments.push(this.#payment(block, { reference, asset: 'native', payTo, amount }))
    }
    return payments
  }

  async #allCoins(chain: EvmCalls, block: Block): Promise<readonly CoinTransfer[]> {
    try {
      return await chain.coins(block.hash)
    } catch (error) {
      if (!(error instanceof TooMuchAsked)) throw error
      this.#sayCrowded(block)
      return []
    }
  }

  #payment({ height, at }: Block, { reference, asset, payTo, amount }: Money): PaymentSeen {
    const { token } = this.#parts
    const problem = token === undefined ? 'wrong_chain' : asset === token ? undefined : 'wrong_token'
    return {
      ...{ reference, scope: this.#name, for: { payTo }, asset: `${this.#name}/${asset}`, amount },
      ...{ at, height, isFinal: false },
      ...(problem === undefined ? {} : { problem }),
    }
  }

  // By address in lower case: as their orders spell them.
  async #watched(): Promise<ReadonlyMap<string, string>> {
    const addresses = await this.#parts.ledger.watched(this.#parts.provider)
    return new Map(addresses.map((address) => [address.toLowerCase(), address]))
  }

  // What was found and the position that says so are one transaction: no block is ever recorded twice or left out.
  async #take(step: Step, from: Position): Promise<boolean> {
    const scope = this.#name
    const { height } = step.position
    const isTaken = await this.#parts.ledger.transaction(async (entries, sql) => {
      if (!(await holdPosition(sql, scope, from))) return false
      if (step.kind === 'back') {
        await entries.retractAbove(scope, height)
        await sql`DELETE FROM chain_blocks WHERE scope = ${scope} AND height >= ${height}`
        await keep(sql, scope, step.position)
        return true
      }
      for (const payment of step.payments) await entries.record(payment)
      await keep(sql, scope, step.position)
      await sql`DELETE FROM chain_blocks WHERE scope = ${scope} AND height < ${height - this.#reach}`
      // Counted from what was read, not from what an endpoint claims to be the newest block.
      await entries.finalizeUpTo(scope, height - this.#parts.confirmations + 1)
      return true
    })
    if (isTaken && step.kind === 'back') {
      const fields = { reason: scope, count: from.height - height }
      if (step.isBeyondMemory) this.#parts.log.error('chain_reorganised_beyond_memory', fields)
      else this.#parts.log.warn('chain_reorganised', fields)
    }
    return isTaken
  }
}

function placeOf(moved: ReadonlyMap<number, string>, { transaction, logIndex }: Transfer): number {
  if (moved.get(logIndex) !== transaction) throw new NotHere()
  return [...moved].filter(([index, each]) => index < logIndex && each === transaction).length
}

function keep(sql: Sql, scope: string, { height, hash, at }: Position): Promise<unknown> {
  return sql`
    INSERT INTO chain_blocks (scope, height, hash, at) VALUES (${scope}, ${height}, ${hash}, ${at})
    ON CONFLICT (scope, height) DO NOTHING`
}

// Whether this is still how far the chain has been read. Locks the row, so that of two nodes that read the same block one
// waits here for the other, and then sees that it comes too late.
async function holdPosition(sql: Sql, scope: string, { height, hash }: Position): Promise<boolean> {
  const [held] = await sql`
    UPDATE chain_blocks SET hash = hash WHERE scope = ${scope} AND height = ${height} AND hash = ${hash}
    RETURNING height`
  if (!held) return false
  const [above] = await sql`
    SELECT height FROM chain_blocks WHERE scope = ${scope} AND height > ${height} LIMIT 1`
  return above === undefined
}
