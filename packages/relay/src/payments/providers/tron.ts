// Payments in a TRC-20 token, read through the TronGrid HTTP API, with a separate address for each order.
// There is no TRON node to test with: the tests use a local server that acts the documented API.

import { setTimeout as sleep } from 'node:timers/promises'
import { ProtocolError } from '@sotto/protocol'
import { hexToBytes } from 'viem/utils'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { TurnOver } from '../../operations/turns.ts'
import type {
  Confirmations,
  Destination,
  Holdings,
  Ledger,
  OrderToOpen,
  PaymentMethod,
  PaymentProvider,
  PaymentSeen,
} from '../provider.ts'
import { AnswerTooLarge, Unreachable } from './bounded-request.ts'
import { explorerPageOf } from './explorer.ts'
import { OtherTransfers } from './other-transfers.ts'
import { addressOf } from './tron-address.ts'
import { type Measured, TronArrivals } from './tron-arrivals.ts'
import type { TronConfig } from './tron-config.ts'
import { type TransactionReport, TronEndpoints } from './tron-endpoints.ts'
import { type Block, type BlockState, type GridPace, gridPace, type Transaction } from './tron-grid.ts'
import { readHoldings, readMovedOut } from './tron-holdings.ts'

/** How often addresses are checked. */
export interface TronPace extends GridPace {
  /** The pause between two checks of the addresses of pending orders. */
  readonly roundMs: number
  /** The pause between two checks of the other watched addresses. */
  readonly watchedMs: number
}

const SCOPE = 'tron:mainnet'
const DECIMALS = 6
const tronPace: TronPace = { ...gridPace, roundMs: 6000, watchedMs: 900_000 }
/** How far TronGrid's list of transfers may lag behind the chain. */
const LAG_MS = 30_000
/** How many watched addresses one round checks, so that those of pending orders are checked often. */
const WATCHED_PER_ROUND = 20
/** How many of the newest transfers of other tokens to an address one round checks. */
const NEWEST_OTHERS = 20
const MOST_SETTLED = 100_000

/** A transaction whose payments can still be undone. */
interface Unsettled {
  readonly height: number
  readonly references: readonly string[]
}

/** A transaction with payments to us, and whether no reorganisation can replace it. */
interface Found extends Unsettled {
  readonly payments: readonly PaymentSeen[]
  readonly isFinal: boolean
}

/** The results of a round, to be stored in one transaction. */
interface Findings {
  /** By the transaction's id; undefined if it is gone. */
  readonly found: Map<string, Found | undefined>
  readonly gone: string[]
  isDisagreed: boolean
}

/**
 * The provider `tron`. It stores nothing itself: after a restart it learns everything from the chain and the
 * ledger.
 */
export class TronPayments implements PaymentProvider {
  readonly name = 'tron'
  readonly methods: readonly PaymentMethod[]
  readonly #config: TronConfig
  readonly #clock: Clock
  readonly #log: Log
  readonly #pace: TronPace
  readonly #grid: TronEndpoints
  readonly #arrivals: TronArrivals
  readonly #stopping = new AbortController()
  /** Transactions that are checked again in every round, by id. */
  readonly #unsettled = new Map<string, Unsettled>()
  /** Transactions that need no further check. */
  readonly #settled = new Set<string>()
  /** Transactions about which the endpoints disagreed. */
  readonly #disagreements = new Set<string>()
  readonly #others = new OtherTransfers()
  #watchedToCheck: string[] = []
  #watchedFrom = Number.NEGATIVE_INFINITY
  #head: Block | undefined
  #isToken: boolean | undefined
  #isFirstRound = true
  #isReachable = true
  #isDisagreed = false
  #seenUntil = 0
  #running: Promise<void> | undefined

  constructor(config: TronConfig, parts: { clock: Clock; log: Log; pace?: TronPace }) {
    this.#config = config
    const asset = assetOf(config.token)
    this.methods = [{ asset, symbol: 'USDT', decimals: DECIMALS, network: 'TRON', contract: config.token }]
    this.#clock = parts.clock
    this.#log = parts.log
    this.#pace = parts.pace ?? tronPace
    const stopping = this.#stopping.signal
    this.#grid = new TronEndpoints(config, { ...parts, pace: this.#pace, stopping })
    this.#arrivals = new TronArrivals(this.#grid, { log: parts.log, token: config.token, asset })
  }

  isAvailable(): boolean {
    return this.#isToken === true && this.#isReachable
  }

  /**
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if the chain cannot be read, or the token has other decimals
   */
  async open({ price, depositIndex }: OrderToOpen): Promise<Destination> {
    // If the token had other decimals, every amount would be wrong by a power of ten.
    if (this.#isToken === false || !this.#isReachable) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    return {
      payTo: addressOf(hexToBytes(this.#config.deposits.at(depositIndex))),
      asset: assetOf(this.#config.token),
      amount: BigInt(price) * 10n ** BigInt(DECIMALS),
    }
  }

  async start(ledger: Ledger): Promise<void> {
    this.#running = this.#run(() => this.#round(ledger))
  }

  async follow(ledger: Ledger): Promise<void> {
    this.#running = this.#run(() => this.#look(ledger))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  seenUntil(): number {
    return this.#seenUntil
  }

  trouble(): 'few' | 'disagree' | undefined {
    if (!this.#isReachable) return 'few'
    return this.#isDisagreed || this.#arrivals.isDisagreed ? 'disagree' : undefined
  }

  async holdings(addresses: readonly string[]): Promise<Holdings> {
    const { token } = this.#config
    const what = { token, asset: assetOf(token), addresses }
    return { height: undefined, holdings: await readHoldings(this.#operatorsGrid(), what) }
  }

  movedOut({ payTo }: { payTo: string }): Promise<bigint> {
    return readMovedOut(this.#operatorsGrid(), { token: this.#config.token, payTo })
  }

  // Apart from the endpoints that the rounds use, because a set runs one round at a time.
  #operatorsGrid(): TronEndpoints {
    const stopping = this.#stopping.signal
    return new TronEndpoints(this.#config, { clock: this.#clock, log: this.#log, pace: this.#pace, stopping })
  }

  transactionPage(transaction: string): string | undefined {
    return explorerPageOf(this.#config.explorerUrl, transaction)
  }

  confirmations(height: number): Confirmations {
    const have = this.#head ? Math.max(0, this.#head.height - height + 1) : 0
    return { have, need: this.#config.confirmations }
  }

  async #run(round: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await round()
        if (!this.#isReachable) this.#log.info('payments_reachable_again', { reason: this.name })
        this.#isReachable = true
      } catch (error) {
        if (!signal.aborted) this.#logFailure(error)
      }
      // stop() ends the pause early.
      await sleep(this.#pace.roundMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #logFailure(error: unknown): void {
    if (error instanceof TurnOver) return // The lease has said so.
    if (!(error instanceof Unreachable)) {
      this.#log.error('payments_round_failed', { error, reason: this.name })
    } else if (this.#isReachable) {
      this.#isReachable = false
      this.#log.warn('payments_unreachable', { reason: `TronGrid: ${error.message}` })
    }
  }

  async #round(ledger: Ledger): Promise<void> {
    const startedAt = this.#clock.now()
    const pending = (await ledger.pending(this.name)).map(({ payTo }) => payTo)
    const watched = await ledger.watched(this.name)
    const watchedNow = this.#nextWatched(watched)
    const isIdle = pending.length + watchedNow.length + this.#unsettled.size === 0
    if (!isIdle || this.#isToken === undefined) await this.#grid.begin()
    await this.#checkToken()
    if (isIdle) {
      this.#isDisagreed = false
      if (this.#isFirstRound) await this.#write(ledger, noFindings(), undefined)
      this.#seenUntil = Math.max(this.#seenUntil, startedAt)
      return
    }

    const head = await this.#grid.head()
    this.#head = head
    const ids = await this.#idsFor(pending, watchedNow)
    const findings = await this.#read(ids, new Set([...pending, ...watched]), head)
    const measured = await this.#arrivals.measure(ledger, finalPayments(findings))
    await this.#grid.end()
    await this.#write(ledger, findings, measured)
    this.#isDisagreed = findings.isDisagreed
    this.#watchedToCheck = this.#watchedToCheck.filter((address) => !watchedNow.includes(address))
    this.#seenUntil = Math.max(this.#seenUntil, head.at - LAG_MS)
  }

  // While another node watches: whether orders can be opened, and the newest block.
  async #look(ledger: Ledger): Promise<void> {
    const isIdle = (await ledger.pending(this.name)).length === 0
    if (isIdle && this.#isToken !== undefined) return
    await this.#grid.begin()
    await this.#checkToken()
    this.#head = await this.#grid.head()
    await this.#grid.end()
  }

  async #checkToken(): Promise<void> {
    if (this.#isToken !== undefined) return
    const decimals = await this.#grid.decimalsOf(this.#config.token)
    this.#isToken = decimals === BigInt(DECIMALS)
    if (this.#isToken) return
    const reason = `the token has ${decimals} decimals where ${DECIMALS} are expected; nothing can be bought`
    this.#log.error('payments_token_refused', { setting: 'TRON_TOKEN', reason })
  }

  // The watched addresses for this round. Each round checks some of them; after a pause all are checked
  // again.
  #nextWatched(watched: readonly string[]): string[] {
    const now = this.#clock.monotonic()
    if (this.#watchedToCheck.length === 0 && now - this.#watchedFrom >= this.#pace.watchedMs) {
      this.#watchedToCheck = [...watched]
      this.#watchedFrom = now
    }
    return this.#watchedToCheck.slice(0, WATCHED_PER_ROUND)
  }

  async #idsFor(pending: readonly string[], watchedNow: readonly string[]): Promise<Set<string>> {
    const ids = new Set(this.#unsettled.keys())
    const addAll = (found: readonly string[]): void => {
      for (const id of found) if (!this.#settled.has(id)) ids.add(id)
    }
    for (const address of new Set([...pending, ...watchedNow])) {
      addAll(await this.#grid.idsOfTransfers(address, this.#config.token))
    }
    for (const address of watchedNow) addAll(await this.#grid.idsOfNewestTransfers(address, NEWEST_OTHERS))
    return ids
  }

  // The lists only give the ids of transactions. What they transferred, and in which block, is read from each
  // transaction.
  async #read(ids: ReadonlySet<string>, ours: ReadonlySet<string>, head: Block): Promise<Findings> {
    const findings = noFindings()
    let solid: Block | undefined
    for (const id of ids) {
      const known = this.#unsettled.get(id)
      const report = await this.#findTransaction(id)
      if (report && !report.isAgreed) {
        findings.isDisagreed = true
        this.#logDisagreement(id)
      }
      if (report?.transaction) {
        const solid = await this.#findSolid(id, report, head)
        const { isAgreed } = report
        this.#judge(id, solid ?? report.transaction, { ours, known, isAgreed, isFinal: !!solid }, findings)
      } else if (known && report) {
        // A node may only be behind. The transaction is gone if its block can no longer change and it is
        // still not found.
        solid ??= await this.#grid.solidHead()
        if (solid.height < known.height) continue
        findings.gone.push(...known.references)
        findings.found.set(id, undefined)
      }
    }
    return findings
  }

  /** Undefined: it is too large to read. */
  async #findTransaction(id: string, state?: BlockState): Promise<TransactionReport | undefined> {
    try {
      return await this.#grid.findTransaction(id, state)
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error
      // One huge transaction must not prevent reading the others.
      this.#settled.add(id)
      this.#log.error('payments_transaction_refused', { reason: `transaction ${id} is too large to read` })
      return undefined
    }
  }

  // As enough endpoints have it in a block that no reorganisation can replace. So nothing that counted is
  // ever undone.
  async #findSolid(
    id: string,
    { transaction, isAgreed }: TransactionReport,
    head: Block,
  ): Promise<Transaction | undefined> {
    if (!transaction || !isAgreed) return undefined
    if (head.height - transaction.height + 1 < this.#config.confirmations) return undefined
    const solid = await this.#findTransaction(id, 'solid')
    return solid?.isAgreed ? solid.transaction : undefined
  }

  #logDisagreement(id: string): void {
    if (this.#disagreements.has(id)) return
    this.#disagreements.add(id)
    const reason = `they report transaction ${id} differently; it does not count until they agree`
    this.#log.error('payments_endpoints_disagree', { url: this.#grid.hosts, reason })
  }

  #judge(
    id: string,
    { height, at, transfers }: Transaction,
    {
      ours,
      known,
      isAgreed,
      isFinal,
    }: { ours: ReadonlySet<string>; known: Unsettled | undefined; isAgreed: boolean; isFinal: boolean },
    findings: Findings,
  ): void {
    // What the endpoints disagree about is recorded as seen, so that its order waits, and stays so.
    if (!isAgreed && known) return
    const payments = transfers
      .filter(({ to }) => ours.has(to))
      .filter(
        ({ token, to, index }) =>
          token === this.#config.token || this.#others.isWorthRecording(to, `${id}/${index}`),
      )
      .map(({ index, token, to, amount }): PaymentSeen => {
        const reference = `${SCOPE}/${id}/${index}`
        const payment = { reference, scope: SCOPE, for: { payTo: to }, asset: assetOf(token), amount }
        const problem = token === this.#config.token ? {} : { problem: 'wrong_token' as const }
        return { ...payment, at, height, isFinal, ...problem }
      })
    // After moving to another block the same transaction may have failed.
    const moved = transfers.map(({ index }) => `${SCOPE}/${id}/${index}`)
    findings.gone.push(...(known?.references ?? []).filter((reference) => !moved.includes(reference)))
    const references = payments.map(({ reference }) => reference)
    findings.found.set(id, { height, references, payments, isFinal })
  }

  async #write(ledger: Ledger, findings: Findings, measured: Measured | undefined): Promise<void> {
    const { found, gone } = findings
    const final = finalPayments(findings)
    const isNew = (id: string, { height }: Found): boolean => this.#unsettled.get(id)?.height !== height
    const seen = [...found].flatMap(([id, each]) => (each && isNew(id, each) ? each.payments : []))
    let waiting: readonly PaymentSeen[] = []
    if (final.length + seen.length + gone.length > 0 || this.#isFirstRound) {
      waiting = await ledger.transaction(async (entries) => {
        // Payments that were undone while the relay was away leave no trace in the lists. So the first round
        // retracts all that are not final, and records those that exist again in the same transaction.
        if (this.#isFirstRound) await entries.retractSeen(SCOPE, 0)
        for (const reference of gone) await entries.retract(reference)
        for (const payment of seen) await entries.record({ ...payment, isFinal: false })
        if (!measured) return []
        const decided = await this.#arrivals.decide(entries, final, measured)
        for (const payment of decided.final) {
          if (payment.amount > 0n) await entries.record(payment)
          else await entries.retract(payment.reference)
        }
        return decided.waiting
      })
      this.#isFirstRound = false
    }
    if (measured) this.#arrivals.note(measured, waiting)
    this.#remember(findings, new Set(waiting.map(({ reference }) => reference)))
  }

  #remember({ found, gone }: Findings, waiting: ReadonlySet<string>): void {
    for (const [id, each] of found) {
      if (each && (!each.isFinal || each.references.some((reference) => waiting.has(reference)))) {
        this.#unsettled.set(id, { height: each.height, references: each.references })
        continue
      }
      this.#unsettled.delete(id)
      if (!gone.some((reference) => reference.startsWith(`${SCOPE}/${id}/`))) this.#settled.add(id)
    }
    // A forgotten transaction is only read once more.
    if (this.#settled.size > MOST_SETTLED) this.#settled.clear()
    if (this.#disagreements.size > MOST_SETTLED) this.#disagreements.clear()
  }
}

function assetOf(token: string): string {
  return `${SCOPE}/${token}`
}

function noFindings(): Findings {
  return { found: new Map(), gone: [], isDisagreed: false }
}

function finalPayments({ found }: Findings): PaymentSeen[] {
  return [...found.values()].flatMap((each) => (each?.isFinal ? each.payments : []))
}
