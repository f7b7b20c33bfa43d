// Payments by hand in the random schedules of a shop, and what is true of the ends of orders at any time.
import { ProtocolError } from '@sotto/protocol'
import type { orderCommands } from '../src/payments/operator-orders.ts'
import type { Order } from '../src/payments/order.ts'
import type { Orders } from '../src/payments/orders.ts'
import type { AccountId, Sql } from '../src/storage/storage.ts'

/** Chooses payment by hand for an order. @param options.andBack chooses its first way again */
export async function chooseByHand(
  { order_id: id, asset }: Order,
  orders: Orders,
  { andBack }: { andBack: boolean },
): Promise<void> {
  try {
    await orders.choose(id, 'manual')
    if (andBack) await orders.choose(id, asset)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
}

/** Confirms the newest order that is to be paid by hand. */
export async function confirmByHand(
  sql: Sql,
  commands: ReturnType<typeof orderCommands>,
  reference: string,
): Promise<void> {
  const [order] = await sql<Order>`
    SELECT * FROM orders WHERE asset = 'manual' AND status <> 'confirmed' ORDER BY id DESC LIMIT 1`
  const by = { who: 'ops', why: 'it is in the till' }
  if (order) await commands['orders.confirm']({ order_id: order.order_id, reference, ...by })
}

/** Watches the ends of all orders. */
export class EndsWatch {
  readonly #usualMs: number
  readonly #holdMs: number
  readonly #ends = new Map<string, number>()
  #checkedAt = Number.NEGATIVE_INFINITY
  /** How often an order was seen that is held for longer than usual. */
  longHolds = 0

  /** @param holdMs how long an order lasts that got the longer time */
  constructor(usualMs: number, holdMs: number) {
    this.#usualMs = usualMs
    this.#holdMs = holdMs
  }

  /**
   * @throws if an order ended too early, an end is wrong or moved wrongly, or an account has two longer
   *   holds
   */
  async check(sql: Sql, now: number): Promise<void> {
    const holders = new Set<AccountId | null>()
    for (const order of await sql<Order>`SELECT * FROM orders ORDER BY id`) {
      const { order_id, status, created_at, expires_at, buyer_id } = order
      const isLong = order.is_held_long === 1
      const before = this.#ends.get(order_id) ?? expires_at
      const lasts = isLong ? this.#holdMs : this.#usualMs
      const mayHaveMoved = before === expires_at || (before < expires_at && before >= this.#checkedAt)
      if (!mayHaveMoved) throw new Error(`the end of ${order_id} moved from ${before} to ${expires_at}`)
      if (expires_at - created_at !== lasts) throw new Error(`${order_id} does not last ${lasts} ms`)
      if (status === 'expired' && now <= expires_at) throw new Error(`${order_id} ended too early`)
      this.#ends.set(order_id, expires_at)
      if (!isLong || status !== 'pending') continue
      if (buyer_id === null || holders.has(buyer_id)) throw new Error(`${order_id} is one too many`)
      holders.add(buyer_id)
      this.longHolds += 1
    }
    this.#checkedAt = now
  }
}
