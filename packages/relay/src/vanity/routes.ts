// The endpoints of the shop of custom ids.
import { type AliasId, ProtocolError } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import { tellFriends } from '../friends/friends.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import { type DescribePaying, findOrder, type Order, type Orders } from '../payments/payments.ts'
import type { Storage } from '../storage/storage.ts'
import { aliasOf, bind } from './bind.ts'
import { purchase, reserve } from './purchase.ts'
import type { ReserveRate } from './reserve-rate.ts'
import type { VanityRules } from './rules.ts'
import { searchVanity } from './search.ts'

/** What the shop's endpoints are built from. */
export interface VanityParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly rules: VanityRules
  readonly orders: Orders
  readonly reserveRate: ReserveRate
  readonly describePaying: DescribePaying
}

type Names = 'searchVanity' | 'purchaseVanity' | 'reserveVanity' | 'bindVanity' | 'orderStatus'

export function vanityRoutes(parts: VanityParts): Handlers<Names> {
  const { storage, rules, describePaying } = parts
  return {
    searchVanity: ({ query }) => searchVanity(storage.sql, rules, query.q),

    purchaseVanity: async ({ caller, body, host }) => {
      const order = await purchase(body.alias_id, caller.id, parts)
      return { ...orderOf(order, body.alias_id), ...describePaying(order, host) }
    },

    reserveVanity: async ({ body, address, host }) => {
      const order = await reserve(body.alias_id, address, parts)
      return { ...orderOf(order, body.alias_id), price: order.price, ...describePaying(order, host) }
    },

    bindVanity: async ({ caller, body }) => {
      const { alias, isNew } = await storage.transaction((sql) =>
        bind(sql, { order: body.order_id, account: caller.id }, parts),
      )
      if (isNew) await tellFriends(caller.id, alias, parts)
      return { alias_id: alias }
    },

    orderStatus: async ({ params }) => {
      const order = await findOrder(storage.sql, params.id)
      if (!order) throw new ProtocolError('NOT_FOUND')
      return { status: order.status, alias_id: aliasOf(order) ?? '' }
    },
  }
}

function orderOf(order: Order, alias: AliasId) {
  return {
    order_id: order.order_id,
    alias_id: alias,
    price_usdt: order.price,
    expired_at: new Date(order.expires_at).toISOString(),
  }
}
