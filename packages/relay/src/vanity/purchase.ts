// Orders an id. A pending order holds the id until it expires; a paid order holds it until the id is bound.
import { type AliasId, ProtocolError } from '@sotto/protocol'
import type { Goods, Order, Orders } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import type { VanityRules } from './rules.ts'
import { aliasHold, isGivenOut } from './taken.ts'

/** The buyer of an id: an account, or a client without an account, known by its network address. */
export type Buyer = { readonly account: AccountId } | { readonly address: string }

/**
 * Orders an id at its current price.
 * @throws ProtocolError `NOT_FOUND` if no rule prices it, `ALIAS_TAKEN`, and what placing an order throws
 */
export async function purchase(
  alias: AliasId,
  buyer: Buyer,
  { orders, rules }: { orders: Orders; rules: VanityRules },
): Promise<Order> {
  const valuation = rules.valuate(alias)
  if (!valuation) throw new ProtocolError('NOT_FOUND')
  const account = 'account' in buyer ? buyer.account : undefined
  return await orders.place(account, async () => ({
    kind: account === undefined ? 'reserve' : 'vanity',
    refId: alias,
    price: valuation.price,
    party: 'account' in buyer ? `account ${buyer.account}` : `address ${buyer.address}`,
    taken: 'ALIAS_TAKEN',
    title: `the id ${alias}`,
    isFree: async (sql) => !(await isGivenOut(sql, alias)),
  }))
}

/** Ids as goods: payment delivers nothing yet; the buyer binds the id later. */
export const vanityGoods: Goods = {
  holdOf: aliasHold,
  deliver: async (sql: Sql, order: Order) => !(await isGivenOut(sql, order.ref_id)),
  isBoundLater: true,
}
