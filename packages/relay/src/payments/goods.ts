// What can be bought, as payments know it: features register how each kind is handed over.
import type { OrderKind } from '@sotto/protocol'
import type { Sql } from '../storage/storage.ts'
import type { Order } from './order.ts'

/** One kind of thing that is sold. */
export interface Goods {
  /**
   * Hands over what was paid for, in the transaction that confirms the order. Its buyer, if it has one, exists and is locked.
   * @param order its status is `pending`, or `expired` where the money came late: then only what is still free is handed over
   * @returns false where it is gone
   */
  deliver(sql: Sql, order: Order): Promise<boolean>
  /** Whether it stays held once it is paid, until its buyer takes it. */
  readonly isKept: boolean
}

/** Every kind. */
export type AllGoods = Readonly<Record<OrderKind, Goods>>
