// The ledger: it records each payment a provider sees once, has it judged, and notifies the payer, all in one
// transaction.
import { encodeFrame, type Limits, type OrderId, type RefId } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import { addNotice } from '../messages/messages.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { type AccountId, isUniqueViolation, type Sql, type Storage } from '../storage/storage.ts'
import { findDestination } from './destinations.ts'
import type { AllGoods } from './goods.ts'
import { judge } from './judgement.ts'
import { findLost, type Loss, logLoss, reportLost, retractFinal } from './lost-payments.ts'
import { lockBuyers, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import type { Payment } from './payment.ts'
import type { PaymentMethods } from './payment-methods.ts'
import type { FinalAmounts, Ledger, LedgerEntries, OrderPending, PaymentSeen } from './provider.ts'

const DAY_MS = 86_400_000

/** What the ledger is built from. */
export interface LedgerParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Log
  readonly goods: AllGoods
  /**
   * The methods by which any order can be paid. Without them, only assets by which a place was opened for an
   * order count.
   */
  readonly methods?: PaymentMethods
}

interface Notice {
  readonly account: AccountId
  readonly id: number
  readonly frame: string
}

/** The relay's record of all payments. */
export class PaymentLedger implements Ledger {
  readonly #parts: LedgerParts

  constructor(parts: LedgerParts) {
    this.#parts = parts
  }

  /** See {@link Ledger.transaction}. `who` is recorded in the orders' events; by default it is the relay. */
  async transaction<T>(
    work: (entries: LedgerEntries, sql: Sql) => Promise<T>,
    who: string = 'relay',
  ): Promise<T> {
    return await this.#enter(who, (entries, sql) => work(entries, sql))
  }

  /**
   * Ends an order, and judges the money that waited for its end.
   * @param end ends the order, which is locked; returns whether it is ended
   */
  async end(number: OrderNumber, end: (sql: Sql, order: Order) => Promise<boolean>): Promise<void> {
    await this.#enter('relay', async (entries, sql) => {
      await lockBuyers(sql, [number])
      if (await end(sql, await lockOrderNumber(sql, number))) entries.add(number)
    })
  }

  async #enter<T>(who: string, work: (entries: Entries, sql: Sql) => Promise<T>): Promise<T> {
    const { storage, bus, log } = this.#parts
    const enter = () =>
      storage.transaction(async (sql) => {
        const entries = new Entries(sql, who, this.#parts)
        const result = await work(entries, sql)
        const notices = await entries.judge()
        return { result, notices, losses: await entries.reportLost() }
      })
    const { result, notices, losses } = await enter().catch((error) => {
      // A late payment found its goods free, but another buyer ordered them at the same moment. Run it again:
      // now the goods are held.
      if (isUniqueViolation(error)) return enter()
      throw error
    })
    for (const { account, id, frame } of notices) bus.ring(account, { kind: 'notice', id, frame })
    for (const loss of losses) logLoss(log, loss)
    return result
  }

  async watched(provider: string): Promise<string[]> {
    const { storage, clock, limits } = this.#parts
    const since = clock.now() - limits.watchDays * DAY_MS
    const rows = await storage.sql<{ pay_to: string }>`
      SELECT opened.pay_to FROM orders JOIN order_destinations AS opened ON order_number = orders.id
      WHERE status <> 'pending' AND expires_at > ${since} AND opened.provider = ${provider}
      UNION SELECT opened.pay_to FROM orders JOIN order_destinations AS opened ON order_number = orders.id
      WHERE status = 'pending' AND opened.provider = ${provider}`
    return rows.map(({ pay_to }) => pay_to)
  }

  async pending(provider: string): Promise<OrderPending[]> {
    const rows = await this.#parts.storage.sql<
      Pick<Order, 'order_id' | 'pay_to' | 'asset' | 'amount' | 'created_at'>
    >`
      SELECT order_id, opened.pay_to, opened.asset, opened.amount, created_at
      FROM orders JOIN order_destinations AS opened ON order_number = orders.id
      WHERE status = 'pending' AND opened.provider = ${provider} ORDER BY orders.id`
    return rows.map(({ order_id, pay_to, asset, amount, created_at }) => ({
      ...{ orderId: order_id, payTo: pay_to, asset, amount: BigInt(amount), createdAt: created_at },
    }))
  }
}

class Entries implements LedgerEntries {
  /**
   * Orders with payments that became final. Each order is judged once per transaction, because anybody can
   * send thousands of tiny payments to an address in one block.
   */
  readonly #changed = new Set<OrderNumber>()
  readonly #lost: Payment[] = []
  readonly #sql: Sql
  readonly #who: string
  readonly #parts: LedgerParts

  constructor(sql: Sql, who: string, parts: LedgerParts) {
    this.#sql = sql
    this.#who = who
    this.#parts = parts
  }

  async record(seen: PaymentSeen): Promise<boolean> {
    const sql = this.#sql
    const order = await this.#orderOf(seen)
    if (order === undefined) return false
    if (seen.amount <= 0n) return true
    const state = seen.isFinal ? 'final' : 'seen'
    const height = seen.height ?? null
    const amount = seen.amount.toString()
    const { decimals, problem } = await this.#assetOf(order, seen)
    // A final payment stays as it is. Only its amount may still grow until it is judged: a processor may
    // report a payment as too small and later report the same payment as complete.
    const changed = await sql<Payment>`
      INSERT INTO payments (reference, scope, order_number, asset, amount, decimals, at, height, state, problem, created_at)
      VALUES (${seen.reference}, ${seen.scope}, ${order}, ${seen.asset}, ${amount}, ${decimals}, ${seen.at},
        ${height}, ${state}, ${problem}, ${this.#parts.clock.now()})
      ON CONFLICT (reference) DO UPDATE SET state = ${state}, height = ${height},
        at = CASE WHEN payments.state <> 'gone' AND payments.at < ${seen.at} THEN payments.at ELSE ${seen.at} END,
        amount = ${amount}
      WHERE payments.order_number = ${order} AND (payments.state <> 'final'
        OR (${state} = 'final' AND payments.outcome IS NULL AND (LENGTH(payments.amount) < LENGTH(${amount})
          OR (LENGTH(payments.amount) = LENGTH(${amount}) AND payments.amount < ${amount}))))
      RETURNING *`
    this.#addChanged(changed)
    return true
  }

  async retract(reference: string): Promise<void> {
    await this.#sql`UPDATE payments SET state = 'gone' WHERE reference = ${reference} AND state = 'seen'`
  }

  async retractAbove(scope: string, height: number): Promise<void> {
    await this.retractSeen(scope, height)
    await retractFinal(this.#sql, { scope, height }, this.#by)
  }

  async retractSeen(scope: string, height: number): Promise<void> {
    await this.#sql`
      UPDATE payments SET state = 'gone' WHERE scope = ${scope} AND height > ${height} AND state = 'seen'`
  }

  async finalAt(addresses: readonly string[], asset: string): Promise<Map<string, FinalAmounts>> {
    const sql = this.#sql
    const opened: { pay_to: string; order_number: OrderNumber }[] = []
    for (const payTo of addresses)
      opened.push(
        ...(await sql<(typeof opened)[number]>`
          SELECT DISTINCT pay_to, order_number FROM order_destinations WHERE pay_to = ${payTo}`),
      )
    opened.sort((a, b) => a.order_number - b.order_number)
    await lockBuyers(
      sql,
      opened.map(({ order_number }) => order_number),
    )
    const found = new Map<string, Map<string, bigint>>()
    for (const { pay_to, order_number } of opened) {
      await lockOrderNumber(sql, order_number)
      const rows = await sql<Payment>`
        SELECT * FROM payments
        WHERE order_number = ${order_number} AND asset = ${asset} AND state = 'final' AND scope <> 'manual'`
      const amounts = found.get(pay_to) ?? new Map<string, bigint>()
      for (const { reference, amount } of rows) amounts.set(reference, BigInt(amount))
      found.set(pay_to, amounts)
    }
    return found
  }

  async finalizeUpTo(scope: string, height: number): Promise<void> {
    const final = await this.#sql<Payment>`
      UPDATE payments SET state = 'final' WHERE scope = ${scope} AND height <= ${height} AND state = 'seen' RETURNING *`
    this.#addChanged(final)
    const lost = await findLost(this.#sql, { scope, height })
    for (const { order_number } of lost) this.#changed.add(order_number)
    this.#lost.push(...lost)
  }

  /**
   * Names the payments that are lost. Called after the judgement.
   */
  async reportLost(): Promise<Loss[]> {
    const losses: Loss[] = []
    for (const payment of this.#lost) {
      const loss = await reportLost(this.#sql, payment, this.#by)
      if (loss) losses.push(loss)
    }
    return losses
  }

  get #by(): { now: number; who: string } {
    return { now: this.#parts.clock.now(), who: this.#who }
  }

  /**
   * Judges the recorded payments.
   * @returns the notices for payers whose orders were confirmed
   */
  async judge(): Promise<Notice[]> {
    const notices: Notice[] = []
    // Always in the same sequence, so that two transactions with the same orders cannot deadlock.
    const orders = [...this.#changed].sort((a, b) => a - b)
    await lockBuyers(this.#sql, orders)
    for (const order of orders) {
      const notice = await this.#judge(order)
      if (notice) notices.push(notice)
    }
    return notices
  }

  /** Has an order judged at the end of the transaction. */
  add(order: OrderNumber): void {
    this.#changed.add(order)
  }

  #addChanged(payments: readonly Payment[]): void {
    for (const { state, order_number } of payments) if (state === 'final') this.#changed.add(order_number)
  }

  async #orderOf({ for: target, scope }: PaymentSeen): Promise<OrderNumber | undefined> {
    const sql = this.#sql
    if ('orderId' in target) {
      const [order] = await sql<{ id: OrderNumber }>`SELECT id FROM orders WHERE order_id = ${target.orderId}`
      return order?.id
    }
    const provider = scope.split(':', 1)[0] ?? scope
    const [order] = await sql<{ id: OrderNumber }>`
      SELECT order_number AS id FROM order_destinations WHERE pay_to = ${target.payTo} AND provider = ${provider}
      ORDER BY order_number DESC LIMIT 1`
    return order?.id
  }

  // A place keeps its asset for good, also if the operator no longer sets it up and its provider therefore
  // calls it a wrong token.
  async #assetOf(
    order: OrderNumber,
    { asset, problem }: PaymentSeen,
  ): Promise<Pick<Payment, 'decimals' | 'problem'>> {
    const opened = await findDestination(this.#sql, order, asset)
    if (opened) return { decimals: opened.decimals, problem: problem === 'wrong_chain' ? problem : null }
    return { decimals: this.#parts.methods?.decimalsOf(asset) ?? null, problem: problem ?? null }
  }

  async #judge(order: OrderNumber): Promise<Notice | undefined> {
    const { clock, goods } = this.#parts
    const now = clock.now()
    const confirmed = await judge(this.#sql, order, { now, goods, who: this.#who })
    if (!confirmed || confirmed.buyer_id === null) return undefined
    const frame = confirmedFrame(confirmed)
    // Its payer needs the order's id to bind what was bought.
    const keptFor = goods[confirmed.kind].isBoundLater ? confirmed.id : undefined
    const id = await addNotice(this.#sql, confirmed.buyer_id, frame, { now, keptFor })
    return { account: confirmed.buyer_id, id, frame }
  }
}

function confirmedFrame(order: { order_id: OrderId; ref_id: RefId }): string {
  return encodeFrame({ type: 'payment_confirmed', order_id: order.order_id, ref_id: order.ref_id })
}
