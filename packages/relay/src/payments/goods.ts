// The interface between payments and the goods they sell. Each feature defines for its goods what an order
// holds and how they are delivered.
import type { OrderKind, RefId } from '@sotto/protocol'
import type { Sql } from '../storage/storage.ts'
import type { Order } from './order.ts'

/** One kind of goods. */
export interface Goods {
  /**
   * The key of what an order holds, such as `alias:ada`. At most one order in the store has each key.
   * Undefined if any number can be sold. The key is stored with orders, so it must never change.
   */
  holdOf(refId: RefId): string | undefined
  /**
   * The price at which a new order could buy it now, in whole stablecoin units. Nobody can change it before
   * the transaction ends. Called for money that came after the order's end.
   * @returns undefined if it is not for sale now
   */
  priceNow(sql: Sql, order: Order): Promise<number | undefined>
  /**
   * Delivers what was paid for, in the transaction that confirms the order. The buyer, if the order has one,
   * exists and is locked. No other order holds it.
   * @returns false if it is no longer available
   */
  deliver(sql: Sql, order: Order): Promise<boolean>
  /** Whether a paid order keeps its hold until an account binds what was bought. */
  readonly isBoundLater: boolean
}

/** All goods, by kind of order. The protocol defines the kinds; payments treat all kinds alike. */
export type AllGoods = Readonly<Record<OrderKind, Goods>>
