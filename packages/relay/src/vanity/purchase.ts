// Orders an id. A pending order holds the id until it expires; a paid order holds it until the id is bound.
import { AliasId, check, ProtocolError } from '@sotto/protocol'
import type { Goods, Order, OrderRequest, Orders } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import type { ReserveRate } from './reserve-rate.ts'
import type { VanityRules } from './rules.ts'
import { aliasHold, isGivenOut } from './taken.ts'

interface Parts {
  readonly orders: Orders
  readonly rules: VanityRules
}

/**
 * Orders an id for an account at its current price.
 * @throws ProtocolError `NOT_FOUND` if no rule prices it, `ALIAS_TAKEN`, and what placing an order throws
 */
export async function purchase(alias: AliasId, buyer: AccountId, { orders, rules }: Parts): Promise<Order> {
  const request = requestOf(alias, rules)
  return await orders.place(buyer, async () => ({ ...request, kind: 'vanity', party: `account ${buyer}` }))
}

/**
 * Orders an id for a client without an account, known by its network address.
 * @throws ProtocolError like {@link purchase}, and `RATE_LIMITED` if the address has reserved too many
 */
export async function reserve(
  alias: AliasId,
  address: string,
  { orders, rules, reserveRate }: Parts & { readonly reserveRate: ReserveRate },
): Promise<Order> {
  const request = requestOf(alias, rules)
  return await reserveRate.counted(address, (count) =>
    orders.place(undefined, async (sql) => {
      await count(sql)
      return { ...request, kind: 'reserve', party: `address ${address}` }
    }),
  )
}

function requestOf(alias: AliasId, rules: VanityRules): Omit<OrderRequest, 'kind' | 'party'> {
  const valuation = rules.valuate(alias)
  if (!valuation) throw new ProtocolError('NOT_FOUND')
  return {
    refId: alias,
    price: valuation.price,
    taken: 'ALIAS_TAKEN',
    title: `the id ${alias}`,
    isFree: async (sql) => !(await isGivenOut(sql, alias)),
  }
}

/** Ids as goods: payment delivers nothing yet; the buyer binds the id later. */
export function vanityGoods(rules: Pick<VanityRules, 'valuate'>): Goods {
  return {
    holdOf: aliasHold,
    priceNow: async (sql: Sql, { ref_id: id }: Order) =>
      (await isGivenOut(sql, id)) ? undefined : rules.valuate(check(AliasId, id))?.price,
    deliver: async (sql: Sql, order: Order) => !(await isGivenOut(sql, order.ref_id)),
    isBoundLater: true,
  }
}
