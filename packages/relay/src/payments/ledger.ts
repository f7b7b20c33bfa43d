// The book of payments: what providers see is written down once, judged, and told to whoever paid, each in one transaction.
import { encodeFrame, type Limits, type OrderId, type RefId } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import { addNotice } from '../messages/messages.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import type { AllGoods } from './goods.ts'
import { judge } from './judgement.ts'
import type { Order, OrderNumber } from './order.ts'
import type { Payment } from './payment.ts'
import type { Ledger, LedgerEntries, OrderPending, PaymentSeen } from './provider.ts'

const DAY_MS = 86_400_000

interface LedgerParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly goods: AllGoods
}

interface ToTell {
  readonly account: AccountId
  readonly id: number
  readonly frame: string
}

/** The relay's book of payments. */
export class PaymentLedger implements Ledger {
  readonly #parts: LedgerParts

  constructor(parts: LedgerParts) {
    this.#parts = parts
  }

  /** See {@link Ledger.transaction}; `who` stands in the record of what was done, and is the relay unless told. */
  async transaction<T>(
    work: (entries: LedgerEntries, sql: Sql) => Promise<T>,
    who: string = 'relay',
  ): Promise<T> {
    const { storage, bus } = this.#parts
    const { result, notices } = await storage.transaction(async (sql) => {
      const entries = new Entries(sql, who, this.#parts)
      return { result: await work(entries, sql), notices: entries.notices }
    })
    for (const { account, id, frame } of notices) bus.ring(account, { kind: 'notice', id, frame })
    return result
  }

  async watched(provider: string): Promise<string[]> {
    const { storage, clock, limits } = this.#parts
    const since = clock.now() - limits.watchDays * DAY_MS
    const rows = await storage.sql<{ pay_to: string }>`
      SELECT pay_to FROM orders
      WHERE provider = ${provider} AND pay_to <> '' AND (status = 'pending' OR expires_at > ${since}) ORDER BY id`
    return rows.map(({ pay_to }) => pay_to)
  }

  async pending(provider: string): Promise<OrderPending[]> {
    const rows = await this.#parts.storage.sql<Order>`
      SELECT * FROM orders WHERE provider = ${provider} AND pay_to <> '' AND status = 'pending' ORDER BY id`
    return rows.map(({ order_id, pay_to, asset, amount, created_at }) => ({
      ...{ orderId: order_id, payTo: pay_to, asset, amount: BigInt(amount), createdAt: created_at },
    }))
  }
}

class Entries implements LedgerEntries {
  readonly notices: ToTell[] = []
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
    // What is final stays as it is, whatever is told later.
    const changed = await sql<Payment>`
      INSERT INTO payments (reference, scope, order_number, asset, amount, at, height, state, problem, created_at)
      VALUES (${seen.reference}, ${seen.scope}, ${order}, ${seen.asset}, ${seen.amount.toString()}, ${seen.at},
        ${height}, ${state}, ${seen.problem ?? null}, ${this.#parts.clock.now()})
      ON CONFLICT (reference) DO UPDATE SET state = ${state}, height = ${height},
        at = CASE WHEN payments.state = 'seen' AND payments.at < ${seen.at} THEN payments.at ELSE ${seen.at} END,
        amount = ${seen.amount.toString()}
      WHERE payments.state <> 'final' AND payments.order_number = ${order}
      RETURNING *`
    for (const payment of changed) await this.#judge(payment.order_number)
    return true
  }

  async retract(reference: string): Promise<void> {
    await this.#sql`UPDATE payments SET state = 'gone' WHERE reference = ${reference} AND state = 'seen'`
  }

  async retractAbove(scope: string, height: number): Promise<void> {
    await this.#sql`
      UPDATE payments SET state = 'gone' WHERE scope = ${scope} AND height > ${height} AND state = 'seen'`
  }

  async finalizeUpTo(scope: string, height: number): Promise<void> {
    const final = await this.#sql<Payment>`
      UPDATE payments SET state = 'final' WHERE scope = ${scope} AND height <= ${height} AND state = 'seen' RETURNING *`
    for (const order of ordersOf(final)) await this.#judge(order)
  }

  async #orderOf({ for: target, scope }: PaymentSeen): Promise<OrderNumber | undefined> {
    const sql = this.#sql
    if ('orderId' in target) {
      const [order] = await sql<{ id: OrderNumber }>`SELECT id FROM orders WHERE order_id = ${target.orderId}`
      return order?.id
    }
    const provider = scope.split(':', 1)[0] ?? scope
    const [order] = await sql<{ id: OrderNumber }>`
      SELECT id FROM orders WHERE pay_to = ${target.payTo} AND provider = ${provider} ORDER BY id DESC LIMIT 1`
    return order?.id
  }

  async #judge(order: OrderNumber): Promise<void> {
    const { clock, goods } = this.#parts
    const now = clock.now()
    const confirmed = await judge(this.#sql, order, { now, goods, who: this.#who })
    if (!confirmed || confirmed.buyer_id === null) return
    const frame = confirmedFrame(confirmed)
    const id = await addNotice(this.#sql, confirmed.buyer_id, frame, now)
    this.notices.push({ account: confirmed.buyer_id, id, frame })
  }
}

function confirmedFrame(order: { order_id: OrderId; ref_id: RefId }): string {
  return encodeFrame({ type: 'payment_confirmed', order_id: order.order_id, ref_id: order.ref_id })
}

// In one order, whatever order the store answers in, so that two who judge the same orders do not wait for each other.
function ordersOf(payments: readonly Payment[]): OrderNumber[] {
  return [...new Set(payments.map(({ order_number }) => order_number))].sort((a, b) => a - b)
}
