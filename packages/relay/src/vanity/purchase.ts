// Ordering an id: held by the order until its time is over, then by whoever paid until it is bound.
import { type AliasId, ProtocolError } from '@sotto/protocol'
import type { Goods, Order, Orders } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import type { VanityRules } from './rules.ts'
import { isGivenOut } from './taken.ts'

/** Who orders an id: an account, or nobody yet, at an address. */
export type Buyer = { readonly account: AccountId } | { readonly address: string }

/**
 * Orders an id at its price of this moment.
 * @throws ProtocolError `NOT_FOUND` where no rule prices it, `ALIAS_TAKEN`, and what placing an order may throw
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
    holds: `alias:${alias}`,
    party: 'account' in buyer ? `account ${buyer.account}` : `address ${buyer.address}`,
    taken: 'ALIAS_TAKEN',
    title: `the id ${alias}`,
    isFree: async (sql) => !(await isGivenOut(sql, alias)),
  }))
}

/** Ids as something that is sold: nothing is handed over before the buyer binds it. */
export const vanityGoods: Goods = {
  deliver: async (sql: Sql, order: Order) => !(await isGivenOut(sql, order.ref_id)),
  isKept: true,
}
