// Reads one chain, each block once: finds payments, retracts those that a reorganisation removed, and
// finalises those that are deep enough and that enough endpoints agree on.
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { Storage } from '../../storage/storage.ts'
import {
  type ChainState,
  findChain,
  forgetBelow,
  goBackTo,
  listBlocks,
  lockChain,
  type Position,
  rememberBlock,
  setAgreed,
  startAt,
} from '../chain-store.ts'
import type { Ledger, PaymentSeen } from '../provider.ts'
import { ChainTroubles } from './chain-troubles.ts'
import { Agreement, agreeing } from './evm-agreement.ts'
import { findStart } from './evm-chain-start.ts'
import { PaymentSearch } from './evm-payment-search.ts'
import { ChainUnreachable, type Rpc } from './evm-rpc.ts'
import { type Block, type EvmRpcRequests, NotAvailable, RequestTooLarge } from './evm-rpc-requests.ts'

interface ChainReaderParts {
  readonly rpc: Rpc
  readonly ledger: Ledger
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  /** The provider whose deposit addresses are watched. */
  readonly provider: string
  /** How many blocks a payment needs, counting its own. */
  readonly confirmations: number
  /** How many endpoints must agree on a payment before it is final. */
  readonly agree: number
  /** The tokens to pay in, in lower case; none on a chain where nothing should be paid. */
  readonly tokens: readonly string[]
}

/** The result of reading on from a position: go forward with payments, or back after a reorganisation. */
type Step =
  | {
      readonly kind: 'read'
      readonly position: Position
      readonly payments: readonly PaymentSeen[]
      readonly isDoubtful: boolean
    }
  | BackStep

interface BackStep {
  readonly kind: 'back'
  /** The newest block that the chain still has; undefined if it has none that is remembered. */
  readonly position: Position | undefined
  /** Whether the chain may only not have the blocks above this position yet. */
  readonly isMaybeBehind: boolean
}

const LEAST_REORGANISATION_DEPTH = 64
const WIDEST_RANGE = 2000
/**
 * After this many failures a block is read only for the tokens to pay in, and no longer for everything sent
 * in it.
 */
const MOST_FAILURES = 10
/** For so long no endpoint may have the newest block that was read, before the reading goes back. */
const BEHIND_FOR_MS = 30_000

/**
 * Reads one chain, starting at the position in the store, or at the newest block the first time.
 *
 * Transfers without an event are not seen, for example when a contract sends the chain's own coin. Coins that
 * a transaction itself carries are seen only in blocks near the head, and only while an order is pending.
 */
export class ChainReader {
  readonly #parts: ChainReaderParts
  /** How many blocks a reorganisation may replace. */
  readonly #reorganisationDepth: number
  #scope: string | undefined
  #state: ChainState | undefined
  #search: PaymentSearch | undefined
  #agreement: Agreement | undefined
  #troubles: ChainTroubles | undefined
  #range = WIDEST_RANGE
  /** How often reading the block after this height failed although the chain answered. */
  #failures = { above: -1, count: 0 }
  #behindSince: number | undefined

  constructor(parts: ChainReaderParts) {
    this.#parts = parts
    this.#reorganisationDepth = Math.max(parts.confirmations * 2, LEAST_REORGANISATION_DEPTH)
  }

  /** The newest block that was read; undefined before the first. */
  get position(): Position | undefined {
    return this.#state?.position
  }

  /** Up to when all payments are known to enough endpoints, in milliseconds since 1970. */
  get seenUntil(): number {
    return this.#state?.agreed.at ?? 0
  }

  /** Whether reading stopped, because the chain is not the one that was read before. */
  get isStopped(): boolean {
    return this.#troubles?.current === 'stopped'
  }

  /** Why payments wait, as the store has it from the node that reads the chain. */
  get storedTrouble(): ChainState['trouble'] {
    return this.#state?.trouble
  }

  /** Continues from the position stored for `scope`, for example after a restart. */
  async resume(scope: string): Promise<void> {
    if (this.#scope === undefined) this.#begin(scope)
    this.#state = await findChain(this.#parts.storage, scope)
  }

  /** Reads up to the chain's newest block, or until `stopping`. @throws ChainUnreachable */
  async read(stopping: AbortSignal): Promise<void> {
    const { rpc } = this.#parts
    // Read it from the store each time, because another node may have advanced it.
    await this.resume(this.#scope ?? `evm:${await rpc.chainId()}`)
    const rescanFrom = this.#state?.rescanFrom
    if (!this.#state || rescanFrom !== undefined) return await this.#start(rescanFrom)
    await this.#troublesNow.settle(this.#state)
    await this.#readOn(stopping)
    if (stopping.aborted || this.isStopped) return
    const back = await known(this.#agreement).advance(this.#state)
    if (back && this.#state) await this.#commit({ kind: 'back', position: back, isMaybeBehind: false })
    await this.resume(this.#name)
  }

  #begin(scope: string): void {
    const { log, storage, clock } = this.#parts
    this.#scope = scope
    this.#search = new PaymentSearch({ ...this.#parts, scope })
    this.#troubles = new ChainTroubles(scope, { log, storage, clock })
    const parts = { ...this.#parts, scope, search: this.#search, troubles: this.#troubles }
    this.#agreement = new Agreement({ ...parts, reorganisationDepth: this.#reorganisationDepth })
  }

  get #name(): string {
    return known(this.#scope)
  }

  get #troublesNow(): ChainTroubles {
    return known(this.#troubles)
  }

  // The first time, no order is opened before there is a position, so no older block can contain a payment.
  // If two nodes start at the same time, each from its own newest block, this still holds: both blocks
  // existed before either position was stored. The operator can have it read again from an older block.
  async #start(rescanFrom: number | undefined): Promise<void> {
    const { rpc, agree, ledger, log } = this.#parts
    const before = this.#state?.position
    const found = await findStart(rpc, {
      ...{ agree, before, depth: this.#reorganisationDepth },
      height: rescanFrom === undefined ? undefined : Math.max(0, rescanFrom - 1),
    })
    const isWaiting = !found && rescanFrom !== undefined && !this.isStopped
    if (isWaiting) await this.#troublesNow.set('few', rpc.hosts, rescanFrom)
    if (!found) return
    const { height } = found.position
    await ledger.transaction(async (entries, sql) => {
      if (!(await lockChain(sql, this.#name, before))) return
      // On the chain that was read before, final payments stay; some of them only a single block shows.
      if (found.isKnown) await entries.retractSeen(this.#name, height)
      else await entries.retractAbove(this.#name, height)
      await startAt(sql, this.#name, found)
    })
    await this.resume(this.#name)
    if (rescanFrom === undefined) return
    this.#troublesNow.forget()
    log.info('chain_rescan', { reason: this.#name, count: rescanFrom })
  }

  async #readOn(stopping: AbortSignal): Promise<void> {
    const { rpc } = this.#parts
    const from = known(this.#state).position.height
    const withoutBlocks = new Set<string>()
    let isReached = false
    for (;;) {
      let host = ''
      // If an endpoint has no newer block, the next one is used: the first may only be behind.
      const head = await rpc.ask(
        (chain) => chain.head(),
        (newest, of) => {
          host = of
          isReached ||= newest.height >= from
          return newest.height > from && !withoutBlocks.has(of)
        },
      )
      if (!head) {
        if (isReached) this.#behindSince = undefined
        else await this.#comparePosition()
        return
      }
      const isRead = await this.#readUpTo(head, stopping)
      if (isRead) return rpc.noteHead(host, undefined)
      // The endpoint named a newest block, and neither it nor another one has the blocks up to it.
      withoutBlocks.add(host)
      if (head.height - from > this.#reorganisationDepth) rpc.noteHead(host, head.height - from)
    }
  }

  /** @returns false if no endpoint has the first block to read */
  async #readUpTo(head: Block, stopping: AbortSignal): Promise<boolean> {
    let isFirst = true
    for (;;) {
      const position = known(this.#state).position
      if (position.height >= head.height || stopping.aborted) return true
      const step = await this.#tryStep(position, head.height)
      if (!step) return !isFirst || this.isStopped
      isFirst = false
      if (!(await this.#commit(step))) return true
    }
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

  get #readsTokensOnly(): boolean {
    return this.#failures.count >= MOST_FAILURES
  }

  async #nextStep(position: Position, head: number): Promise<Step | undefined> {
    for (;;) {
      if (head - position.height <= this.#reorganisationDepth || this.#range < 2 || this.#readsTokensOnly) {
        this.#range = Math.max(2, this.#range)
        return await this.#choose((chain) => this.#readBlock(chain, position))
      }
      try {
        const step = await this.#choose((chain) => this.#readRange(chain, position, head))
        this.#range = Math.min(WIDEST_RANGE, Math.ceil(this.#range * 1.25))
        return step
      } catch (error) {
        if (!(error instanceof RequestTooLarge)) throw error
        this.#range = Math.floor(this.#range / 2)
      }
    }
  }

  // Takes the first endpoint's step, unless another one should be heard: if the endpoint shows no transfer
  // where the block's header says that there may be one, or if it contradicts what enough endpoints said.
  async #choose(question: (chain: EvmRpcRequests) => Promise<Step>): Promise<Step | undefined> {
    const against: { host: string; value: BackStep }[] = []
    let doubtful: Step | undefined
    const step = await this.#parts.rpc.ask(question, (answer, host) => {
      if (answer.kind === 'read') {
        if (answer.isDoubtful) doubtful ??= answer
        return !answer.isDoubtful && !this.#isOutvoted(against)
      }
      if (!this.#contradictsAgreed(answer)) return true
      against.push({ host, value: answer })
      return false
    })
    return step ?? (this.#isOutvoted(against) ? undefined : doubtful) ?? (await this.#heed(against))
  }

  // With one endpoint that must agree, any endpoint that follows the blocks that were read is right.
  #isOutvoted(against: readonly { host: string; value: BackStep }[]): boolean {
    return this.#parts.agree > 1 && agreeing(against, hashOf, this.#parts.agree) !== undefined
  }

  #contradictsAgreed({ position, isMaybeBehind }: BackStep): boolean {
    if (isMaybeBehind || position === undefined) return true
    return this.#parts.agree > 1 && position.height < known(this.#state).agreed.height
  }

  // No endpoint follows the blocks that were read. That is believed only if enough endpoints say the same.
  async #heed(against: readonly { host: string; value: BackStep }[]): Promise<Step | undefined> {
    const found = agreeing(against, hashOf, this.#parts.agree)
    if (!found) return undefined
    if (found.value.isMaybeBehind && !this.#isBehindForLong()) return undefined
    if (found.value.position) return found.value
    const hosts = against.map(({ host }) => host)
    await this.#troublesNow.set('stopped', hosts, known(this.#state).position.height)
    return undefined
  }

  #isBehindForLong(): boolean {
    const now = this.#parts.clock.monotonic()
    this.#behindSince ??= now
    return now - this.#behindSince >= BEHIND_FOR_MS
  }

  // No endpoint has a block above the position. Usually it is the newest. But the chain may be shorter now,
  // or the position may be that of another chain that an endpoint served.
  async #comparePosition(): Promise<void> {
    const { position } = known(this.#state)
    const against: { host: string; value: BackStep }[] = []
    const isThere = await this.#parts.rpc.ask(
      async (chain) => {
        const head = await chain.head()
        if (head.height >= position.height) return true
        return await this.#findFork(chain, head.height)
      },
      (answer, host) => {
        if (answer !== true) against.push({ host, value: answer })
        return answer === true
      },
    )
    if (isThere) this.#behindSince = undefined
    if (isThere || against.length === 0) return
    const step = await this.#heed(against)
    if (step) await this.#commit(step)
  }

  // Near the head, where a reorganisation may happen: reads one block, by its hash.
  async #readBlock(chain: EvmRpcRequests, position: Position): Promise<Step> {
    const block = await chain.block(position.height + 1)
    if (block.parentHash !== position.hash) return await this.#findFork(chain)
    const found = await known(this.#search).inBlock(chain, block, this.#readsTokensOnly)
    return { kind: 'read', position: block, ...found }
  }

  // Deeper than a reorganisation reaches: reads many blocks at once, by height.
  async #readRange(chain: EvmRpcRequests, position: Position, head: number): Promise<Step> {
    const here = await chain.block(position.height)
    if (here.hash !== position.hash) return await this.#findFork(chain)
    // After the head is known, for the same reason as with single blocks.
    const watched = await known(this.#search).watched()
    const end = head - this.#reorganisationDepth
    const to = watched.size === 0 ? end : Math.min(position.height + this.#range, end)
    // An endpoint that is behind would return what it has without saying so. Requesting this block first
    // makes it say so.
    const last = await chain.block(to)
    const range = { from: position.height + 1, last, watched }
    const payments = await known(this.#search).inRange(chain, range, false)
    return { kind: 'read', position: last, payments, isDoubtful: false }
  }

  // Finds the newest block read that the chain still has. If an endpoint does not have a block at all, it is
  // only behind; the block was not replaced. With `upTo`, the endpoint has no block above that height.
  async #findFork(chain: EvmRpcRequests, upTo?: number): Promise<BackStep> {
    const { agreed } = known(this.#state)
    const blocks = await listBlocks(this.#parts.storage, this.#name)
    const stored = blocks.some(({ height }) => height === agreed.height) ? blocks : [...blocks, agreed]
    const reachable = upTo === undefined ? stored : stored.filter(({ height }) => height <= upTo)
    for (const position of reachable) {
      const block = await chain.block(position.height)
      if (block.hash !== position.hash) continue
      // The chain is changing right now; the next round sees the result.
      if (position === stored[0]) throw new NotAvailable()
      return { kind: 'back', position, isMaybeBehind: upTo !== undefined && position === reachable[0] }
    }
    return { kind: 'back', position: undefined, isMaybeBehind: reachable.length === 0 }
  }

  // The payments found and the new position are stored in one transaction, so no block is recorded twice or
  // skipped.
  async #commit(step: Step): Promise<boolean> {
    const { ledger, log, confirmations, agree } = this.#parts
    const scope = this.#name
    const from = known(this.#state).position
    const { position } = step
    if (!position) throw new Error('there is no block to go back to')
    const isCommitted = await ledger.transaction(async (entries, sql) => {
      if (!(await lockChain(sql, scope, from))) return false
      if (step.kind === 'back') {
        await entries.retractAbove(scope, position.height)
        await goBackTo(sql, scope, position)
        return true
      }
      for (const payment of step.payments) await entries.record(payment)
      await rememberBlock(sql, scope, position)
      await forgetBelow(sql, scope, position.height - this.#reorganisationDepth)
      if (agree > 1) return true
      await setAgreed(sql, scope, position)
      // Counted from the block that was read, not from an endpoint's claim about the newest block.
      await entries.finalizeUpTo(scope, position.height - confirmations + 1)
      return true
    })
    await this.resume(scope)
    if (!isCommitted) return false
    this.#behindSince = undefined
    if (this.isStopped) await this.#troublesNow.clear('stopped')
    if (step.kind === 'back')
      log.warn('chain_reorganised', { reason: scope, count: from.height - position.height })
    return true
  }
}

function hashOf({ position }: BackStep): string {
  return position?.hash ?? ''
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the chain’s id is not known yet')
  return value
}
