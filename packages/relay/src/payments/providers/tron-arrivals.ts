// How much of the token TRON addresses really received. A token that takes a fee may report the gross amount
// in its event, so an address must have received what the books say it did.
import type { Log } from '../../operations/log.ts'
import type { Ledger, LedgerEntries, PaymentSeen } from '../provider.ts'
import { AnswerTooLarge } from './bounded-request.ts'
import { LessReceived } from './less-received.ts'
import { Disagreement, type TronEndpoints } from './tron-endpoints.ts'

/** What was measured in one round. */
export interface Measured {
  /** The newest block that no reorganisation can replace. */
  readonly solidHeight: number
  /**
   * What each address received until about then, at least; undefined if that cannot be told.
   */
  readonly arrived: ReadonlyMap<string, bigint | undefined>
}

/** What was decided about payments that are deep enough. */
export interface Decision {
  /** Final payments, with what counts of each. It may be nothing. */
  readonly final: readonly PaymentSeen[]
  /** Payments that are not final yet, because less seems to have arrived. */
  readonly waiting: readonly PaymentSeen[]
}

/** An address that seems to have received less than its payments name. */
interface Doubt {
  /** What it seems to have received; undefined if that cannot be told. */
  readonly arrived: bigint | undefined
  /**
   * The newest block that could not be replaced when this was measured for the second time; before,
   * undefined. The block is read before the measurement, so that of the first time may be older than what was
   * measured.
   */
  since: number | undefined
  isLogged: boolean
}

/**
 * For how many blocks less must seem to have arrived before that is believed: one minute. The lists of
 * transfers, and nodes behind one endpoint, may lag.
 */
const BELIEVED_AFTER = 20

/** Decides how much of each payment counts. */
export class TronArrivals {
  readonly #grid: TronEndpoints
  readonly #log: Log
  readonly #token: string
  readonly #asset: string
  readonly #less: LessReceived
  readonly #doubts = new Map<string, Doubt>()

  constructor(grid: TronEndpoints, parts: { log: Log; token: string; asset: string }) {
    this.#grid = grid
    this.#log = parts.log
    this.#token = parts.token
    this.#asset = parts.asset
    this.#less = new LessReceived(parts.log)
  }

  /** Whether the endpoints have contradicted each other about an address for a minute. */
  get isDisagreed(): boolean {
    return [...this.#doubts.values()].some(({ isLogged }) => isLogged)
  }

  /**
   * Measures what the addresses of these payments received.
   * @param payments payments in blocks that no reorganisation can replace
   * @throws Unreachable
   */
  async measure(ledger: Ledger, payments: readonly PaymentSeen[]): Promise<Measured> {
    const found = this.#byAddress(payments)
    const arrived = new Map<string, bigint | undefined>()
    if (found.size === 0) return { solidHeight: 0, arrived }
    const booked = await ledger.transaction((entries) => entries.finalAt([...found.keys()], this.#asset))
    const { height: solidHeight } = await this.#grid.solidHead()
    for (const [payTo, here] of found) {
      const known = booked.get(payTo)
      const amounts = here.flatMap(({ reference, amount }) => (known?.has(reference) ? [] : [amount]))
      if (amounts.length === 0) continue
      const needed = sumOf([...amounts, ...(known?.values() ?? [])])
      arrived.set(payTo, await this.#arrivedAt(payTo, needed))
    }
    return { solidHeight, arrived }
  }

  /**
   * Decides about the payments that were measured, the oldest of an address first. What the books have
   * counted at an address was received before.
   */
  async decide(
    entries: LedgerEntries,
    payments: readonly PaymentSeen[],
    measured: Measured,
  ): Promise<Decision> {
    const final: PaymentSeen[] = payments.filter(({ asset }) => asset !== this.#asset)
    const waiting: PaymentSeen[] = []
    const found = this.#byAddress(payments)
    if (found.size === 0) return { final, waiting }
    const booked = await entries.finalAt([...found.keys()], this.#asset)
    for (const [payTo, here] of found) {
      const known = booked.get(payTo)
      const arrived = measured.arrived.get(payTo)
      let left = (arrived ?? 0n) - sumOf(known?.values() ?? [])
      for (const payment of here.sort(byPlace)) {
        if (known?.has(payment.reference)) continue
        const isEnough = arrived !== undefined && left >= payment.amount
        if (!isEnough && !this.#isBelieved(payTo, measured)) {
          waiting.push(payment)
          left = 0n
          continue
        }
        const amount = this.#less.amountOf(payment, left)
        left -= amount
        final.push({ ...payment, amount })
      }
    }
    return { final, waiting }
  }

  /** Remembers which addresses wait, and since when. Called after the decision is stored. */
  note({ solidHeight, arrived }: Measured, waiting: readonly PaymentSeen[]): void {
    const doubtful = this.#byAddress(waiting)
    for (const payTo of this.#doubts.keys()) if (!doubtful.has(payTo)) this.#doubts.delete(payTo)
    for (const payTo of doubtful.keys()) {
      const amount = arrived.get(payTo)
      const before = this.#doubts.get(payTo)
      if (!before || before.arrived !== amount) {
        this.#doubts.set(payTo, { arrived: amount, since: undefined, isLogged: false })
        continue
      }
      before.since ??= solidHeight
      if (amount === undefined && !before.isLogged && isLasting(before, solidHeight)) {
        before.isLogged = true
        const reason = `they do not agree on what ${payTo} received; its payments do not count until they do`
        this.#log.error('payments_endpoints_disagree', { url: this.#grid.hosts, reason })
      }
    }
  }

  #isBelieved(payTo: string, { solidHeight, arrived }: Measured): boolean {
    const amount = arrived.get(payTo)
    const doubt = this.#doubts.get(payTo)
    return amount !== undefined && doubt?.arrived === amount && isLasting(doubt, solidHeight)
  }

  // At least what the address holds. What left it is only asked for if that is not enough: the operator may
  // have collected it.
  async #arrivedAt(payTo: string, needed: bigint): Promise<bigint | undefined> {
    const held = (): Promise<bigint> => this.#grid.balanceOf(this.#token, payTo, 'solid')
    try {
      const balance = await held()
      if (balance >= needed) return balance
      // In this sequence, money that leaves meanwhile is missed for a round, and never counted twice.
      const left = await this.#grid.sumFrom(this.#token, payTo, 'solid')
      return left + (await held())
    } catch (error) {
      if (error instanceof Disagreement || error instanceof AnswerTooLarge) return undefined
      throw error
    }
  }

  #byAddress(payments: readonly PaymentSeen[]): Map<string, PaymentSeen[]> {
    const ours = payments.filter(({ asset }) => asset === this.#asset)
    return Map.groupBy(ours, ({ for: target }) => ('payTo' in target ? target.payTo : ''))
  }
}

function isLasting({ since }: Doubt, solidHeight: number): boolean {
  return since !== undefined && solidHeight - since >= BELIEVED_AFTER
}

function byPlace(a: PaymentSeen, b: PaymentSeen): number {
  return (a.height ?? 0) - (b.height ?? 0) || (a.reference < b.reference ? -1 : 1)
}

function sumOf(amounts: Iterable<bigint>): bigint {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}
