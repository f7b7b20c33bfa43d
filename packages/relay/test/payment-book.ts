// A book of payments in memory, for tests of the providers alone: it keeps the promises of `LedgerEntries` and nothing else.
import { check, OrderId } from '@sotto/protocol'
import type { Ledger, LedgerEntries, OrderPending, PaymentSeen } from '../src/payments/provider.ts'
import type { Sql } from '../src/storage/storage.ts'

/** A payment, and what is known of it. */
export interface Booked extends PaymentSeen {
  readonly isGone: boolean
}

const noSql: Sql = () => Promise.reject(new Error('a provider under test asked the store'))

export class PaymentBook implements Ledger {
  readonly orders: (OrderPending & { readonly isPending: boolean })[] = []
  readonly payments = new Map<string, Booked>()
  /** How many transactions were committed. */
  commits = 0
  /** Awaited before a transaction counts as committed. */
  disk: Promise<void> = Promise.resolve()

  /** An order that waits, or is merely watched. */
  add(order: Partial<OrderPending> & { isPending?: boolean }): OrderId {
    const orderId = order.orderId ?? anOrderId(this.orders.length)
    const usual = { payTo: '', asset: '', amount: 0n, createdAt: 0, isPending: true }
    this.orders.push({ ...usual, ...order, orderId })
    return orderId
  }

  /** What is booked, in a form that reads well in a failed test: `reference amount state`. */
  lines(): string[] {
    return [...this.payments.values()].map(({ reference, amount, isFinal, isGone, problem }) => {
      const state = isGone ? 'gone' : isFinal ? 'final' : 'seen'
      return [reference, amount, state, problem].filter((part) => part !== undefined).join(' ')
    })
  }

  async transaction<T>(work: (entries: LedgerEntries, sql: Sql) => Promise<T>): Promise<T> {
    const before = new Map(this.payments)
    try {
      const result = await work(this.#entries(), noSql)
      await this.disk
      this.commits++
      return result
    } catch (error) {
      this.payments.clear()
      for (const [reference, payment] of before) this.payments.set(reference, payment)
      throw error
    }
  }

  async watched(): Promise<string[]> {
    return this.orders.map(({ payTo }) => payTo)
  }

  async pending(): Promise<OrderPending[]> {
    return this.orders.filter(({ isPending }) => isPending)
  }

  #entries(): LedgerEntries {
    return {
      record: async (payment) => {
        const { for: target, reference } = payment
        const isKnown = this.orders.some(({ orderId, payTo }) =>
          'orderId' in target ? orderId === target.orderId : payTo === target.payTo,
        )
        const isFinal = this.payments.get(reference)?.isFinal
        if (isKnown && !isFinal) this.payments.set(reference, { ...payment, isGone: false })
        return isKnown
      },
      retract: async (reference) => this.#retractWhere((payment) => payment.reference === reference),
      retractAbove: async (scope, height) =>
        this.#retractWhere((payment) => payment.scope === scope && (payment.height ?? 0) > height),
      finalizeUpTo: async () => {
        throw new Error('no provider under test asks for this')
      },
    }
  }

  #retractWhere(isMeant: (payment: PaymentSeen) => boolean): void {
    for (const payment of this.payments.values()) {
      if (isMeant(payment) && !payment.isFinal)
        this.payments.set(payment.reference, { ...payment, isGone: true })
    }
  }
}

export function anOrderId(number: number): OrderId {
  return check(OrderId, `ord_${number.toString().padStart(22, '0')}`)
}
