// Being paid in a TRC-20 token, seen by the TronGrid HTTP interface: an address of its own for each order. There is no
// TRON node to test with: the tests hold this to the documented interface, served by a server of their own.

import { setTimeout as sleep } from 'node:timers/promises'
import { ProtocolError } from '@sotto/protocol'
import { hexToBytes } from 'viem/utils'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { SettingError } from '../../operations/setting-error.ts'
import type { PaymentSettingText } from '../payment-settings.ts'
import type {
  Confirmations,
  Destination,
  Ledger,
  OrderToOpen,
  PaymentProvider,
  PaymentSeen,
  Unit,
} from '../provider.ts'
import { AnswerTooLarge, interfaceUrlOf, Unreachable } from './bounded-request.ts'
import { DepositAddresses } from './deposit-keys.ts'
import { OtherTransfers } from './other-transfers.ts'
import { addressOf, isAddress } from './tron-address.ts'
import { type Block, type GridPace, gridPace, type Transaction, TronGrid } from './tron-grid.ts'

/** What the operator set. */
export interface TronConfig {
  readonly apiUrl: string
  /** Empty: it asks for none. */
  readonly apiKey: string
  readonly token: string
  readonly deposits: DepositAddresses
  readonly confirmations: number
}

/** How often what is looked at. */
export interface TronPace extends GridPace {
  /** Between two looks at the addresses of orders that wait. */
  readonly roundMs: number
  /** Between two looks at an address that is merely watched. */
  readonly watchedMs: number
}

const SCOPE = 'tron:mainnet'
const DECIMALS = 6
const tronPace: TronPace = { ...gridPace, roundMs: 6000, watchedMs: 900_000 }
/** How far the list of transfers may lag behind the chain. */
const LAG_MS = 30_000
/** Watched addresses looked at in one round, so that those of orders that wait are never long without a look. */
const WATCHED_A_ROUND = 20
/** Of transfers of other tokens to an address, so many are looked at in a round. */
const NEWEST_OTHERS = 20
const MOST_SETTLED = 100_000

/** @throws SettingError */
export function tronConfigOf(text: PaymentSettingText): TronConfig {
  const confirmations = text('TRON_CONFIRMATIONS')
  if (!/^[1-9][0-9]{0,3}$/.test(confirmations) || Number(confirmations) > 1000)
    throw new SettingError('TRON_CONFIRMATIONS', 'a whole number from 1 to 1000')
  if (!isAddress(text('TRON_TOKEN')))
    throw new SettingError('TRON_TOKEN', 'the address of a TRC-20 token (T…)')
  if (!/^[\x21-\x7e]{0,500}$/.test(text('TRON_API_KEY')))
    throw new SettingError('TRON_API_KEY', 'the key TronGrid gave you, without spaces, or empty')
  return {
    apiUrl: interfaceUrlOf('TRON_API_URL', text('TRON_API_URL')),
    apiKey: text('TRON_API_KEY'),
    token: text('TRON_TOKEN'),
    deposits: new DepositAddresses('TRON_XPUB', text('TRON_XPUB')),
    confirmations: Number(confirmations),
  }
}

/** A transaction with payments that can still be taken back. */
interface Unsettled {
  readonly height: number
  readonly references: readonly string[]
}

/** What a round found, to be written in one transaction. */
interface Findings {
  readonly seen: PaymentSeen[]
  readonly gone: string[]
  readonly unsettled: Map<string, Unsettled | undefined>
}

/** See above. It keeps nothing but what the chain and the ledger tell again after a restart. */
export class TronPayments implements PaymentProvider {
  readonly name = 'tron'
  readonly unit: Unit = { symbol: 'USDT', decimals: DECIMALS, network: 'TRON' }
  readonly #config: TronConfig
  readonly #clock: Clock
  readonly #log: Log
  readonly #pace: TronPace
  readonly #grid: TronGrid
  readonly #stopping = new AbortController()
  /** By transaction id: what is looked at again in every round. */
  readonly #unsettled = new Map<string, Unsettled>()
  /** Transactions that nothing more is to be learnt of. */
  readonly #settled = new Set<string>()
  readonly #others = new OtherTransfers()
  #watchedLeft: string[] = []
  #watchedFrom = Number.NEGATIVE_INFINITY
  #head: Block | undefined
  #isToken: boolean | undefined
  #isFirst = true
  #isReachable = true
  #seenUntil = 0
  #running: Promise<void> | undefined

  constructor(config: TronConfig, parts: { clock: Clock; log: Log; pace?: TronPace }) {
    this.#config = config
    this.#clock = parts.clock
    this.#log = parts.log
    this.#pace = parts.pace ?? tronPace
    const stopping = this.#stopping.signal
    this.#grid = new TronGrid(config, { clock: parts.clock, pace: this.#pace, stopping })
  }

  async open({ price, depositIndex }: OrderToOpen): Promise<Destination> {
    // With other decimals every amount would be wrong by powers of ten.
    if (this.#isToken === false) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    return {
      payTo: addressOf(hexToBytes(this.#config.deposits.at(depositIndex))),
      asset: assetOf(this.#config.token),
      amount: BigInt(price) * 10n ** BigInt(DECIMALS),
    }
  }

  async start(ledger: Ledger): Promise<void> {
    this.#running = this.#run(ledger)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  seenUntil(): number {
    return this.#seenUntil
  }

  confirmations(height: number): Confirmations {
    const have = this.#head ? Math.max(0, this.#head.height - height + 1) : 0
    return { have, need: this.#config.confirmations }
  }

  async #run(ledger: Ledger): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#round(ledger)
        if (!this.#isReachable) this.#log.info('payments_reachable_again', { reason: this.name })
        this.#isReachable = true
      } catch (error) {
        if (!signal.aborted) this.#tellFailure(error)
      }
      await sleep(this.#pace.roundMs, undefined, { signal }).catch(() => undefined) // Stopping ends it.
    }
  }

  #tellFailure(error: unknown): void {
    if (!(error instanceof Unreachable)) {
      this.#log.error('payments_round_failed', { error, reason: this.name })
    } else if (this.#isReachable) {
      this.#isReachable = false
      this.#log.warn('payments_unreachable', { reason: `TronGrid: ${error.message}` })
    }
  }

  async #round(ledger: Ledger): Promise<void> {
    const startedAt = this.#clock.now()
    await this.#checkToken()
    const pending = (await ledger.pending(this.name)).map(({ payTo }) => payTo)
    const watched = await ledger.watched(this.name)
    const merely = this.#nextWatched(watched)
    if (pending.length + merely.length + this.#unsettled.size === 0) {
      if (this.#isFirst) await this.#write(ledger, { seen: [], gone: [], unsettled: new Map() })
      this.#seenUntil = Math.max(this.#seenUntil, startedAt)
      return
    }

    const head = await this.#grid.head()
    this.#head = head
    const ids = await this.#idsFor(pending, merely)
    await this.#write(ledger, await this.#read(ids, new Set([...pending, ...watched]), head))
    this.#watchedLeft = this.#watchedLeft.filter((address) => !merely.includes(address))
    this.#seenUntil = Math.max(this.#seenUntil, head.at - LAG_MS)
  }

  async #checkToken(): Promise<void> {
    if (this.#isToken !== undefined) return
    const decimals = await this.#grid.decimalsOf(this.#config.token)
    this.#isToken = decimals === BigInt(DECIMALS)
    if (this.#isToken) return
    const reason = `the token has ${decimals} decimals where ${DECIMALS} are expected; nothing can be bought`
    this.#log.error('payments_token_refused', { setting: 'TRON_TOKEN', reason })
  }

  // A part of those that are due in each round; all of them again after a while.
  #nextWatched(watched: readonly string[]): string[] {
    const now = this.#clock.monotonic()
    if (this.#watchedLeft.length === 0 && now - this.#watchedFrom >= this.#pace.watchedMs) {
      this.#watchedLeft = [...watched]
      this.#watchedFrom = now
    }
    return this.#watchedLeft.slice(0, WATCHED_A_ROUND)
  }

  async #idsFor(pending: readonly string[], merely: readonly string[]): Promise<Set<string>> {
    const ids = new Set(this.#unsettled.keys())
    const addAll = (found: readonly string[]): void => {
      for (const id of found) if (!this.#settled.has(id)) ids.add(id)
    }
    for (const address of new Set([...pending, ...merely])) {
      addAll(await this.#grid.idsOfTransfers(address, this.#config.token))
    }
    for (const address of merely) addAll(await this.#grid.idsOfNewestTransfers(address, NEWEST_OTHERS))
    return ids
  }

  // The lists only name transactions. What they moved, and in which block, is read from each transaction itself.
  async #read(ids: ReadonlySet<string>, ours: ReadonlySet<string>, head: Block): Promise<Findings> {
    const findings: Findings = { seen: [], gone: [], unsettled: new Map() }
    let solid: Block | undefined
    for (const id of ids) {
      const known = this.#unsettled.get(id)
      const transaction = await this.#findTransaction(id)
      if (transaction) {
        this.#judge(id, transaction, { ours, head, known }, findings)
      } else if (known) {
        // A node may only lag behind: it is gone where its block cannot change any more and does not hold it.
        solid ??= await this.#grid.solidHead()
        if (solid.height < known.height) continue
        findings.gone.push(...known.references)
        findings.unsettled.set(id, undefined)
      }
    }
    return findings
  }

  async #findTransaction(id: string): Promise<Transaction | undefined> {
    try {
      return await this.#grid.findTransaction(id)
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error
      // One monstrous transaction must not keep the others from being read.
      this.#settled.add(id)
      this.#log.error('payments_transaction_refused', { reason: `transaction ${id} is too large to read` })
      return undefined
    }
  }

  #judge(
    id: string,
    { height, at, transfers }: Transaction,
    { ours, head, known }: { ours: ReadonlySet<string>; head: Block; known: Unsettled | undefined },
    findings: Findings,
  ): void {
    const isFinal = head.height - height + 1 >= this.#config.confirmations
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
    // In another block the same transaction may have failed.
    const moved = transfers.map(({ index }) => `${SCOPE}/${id}/${index}`)
    findings.gone.push(...(known?.references ?? []).filter((reference) => !moved.includes(reference)))
    const references = payments.map(({ reference }) => reference)
    findings.unsettled.set(id, isFinal ? undefined : { height, references })
    if (isFinal || known?.height !== height) findings.seen.push(...payments)
  }

  async #write(ledger: Ledger, { seen, gone, unsettled }: Findings): Promise<void> {
    if (seen.length + gone.length > 0 || this.#isFirst) {
      await ledger.transaction(async (entries) => {
        // What was taken back while the relay was away is found by nobody: so all that is not final goes, and what is
        // there comes back in the same transaction.
        if (this.#isFirst) await entries.retractAbove(SCOPE, 0)
        for (const reference of gone) await entries.retract(reference)
        for (const payment of seen) await entries.record(payment)
      })
      this.#isFirst = false
    }
    for (const [id, state] of unsettled) {
      if (state) {
        this.#unsettled.set(id, state)
        continue
      }
      this.#unsettled.delete(id)
      if (!gone.some((reference) => reference.startsWith(`${SCOPE}/${id}/`))) this.#settled.add(id)
    }
    // Forgetting one only means reading it once more.
    if (this.#settled.size > MOST_SETTLED) this.#settled.clear()
  }
}

function assetOf(token: string): string {
  return `${SCOPE}/${token}`
}
