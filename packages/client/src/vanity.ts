// The shop of custom ids, and the orders of everything that is bought.
import {
  vanityEndpoints as endpoints,
  type OrderStatus,
  type OwnOrder,
  type PurchaseOrder,
  type VanityItem,
} from '@sotto/protocol'
import { type AnyClient, callThrough } from './door.ts'

/**
 * The shop of custom aliases: `const shop = new VanityShop(client)`. An alias is ordered, paid outside of the client (the order
 * names a page for it), confirmed by the relay, and then bound: from then on the account is known by it, and its aliases
 * of before stay its own.
 *
 * Reserving one before there is an account (`/vanity/reserve`) is deprecated and not here; `bind` takes such an order, too.
 *
 * Every method asks the relay, and throws what any such call may: `REFUSED` with the relay's code, `NETWORK`,
 * `INVALID_ARGUMENT` for what breaks a rule.
 */
export class VanityShop {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /** Aliases that can be bought, at the prices of this moment: those put forward, or those that begin with `query`. */
  search(query?: string): Promise<readonly VanityItem[]> {
    return callThrough(this.#client, endpoints.searchVanity, { query: { q: query } })
  }

  /**
   * Orders an alias, which is held until `expired_at`; asked again meanwhile, answers the same order. `payment_url` is the
   * page to pay on. That it is paid comes as `payment_confirmed`, with the alias as `ref_id`.
   * @throws ClientError `REFUSED` with `ALIAS_TAKEN`, `NOT_FOUND`, `PAYMENTS_UNAVAILABLE`, `TOO_MANY_ORDERS`; `NO_IDENTITY`
   */
  purchase(aliasId: string): Promise<PurchaseOrder> {
    return callThrough(this.#client, endpoints.purchaseVanity, { body: { alias_id: aliasId } })
  }

  /** One's own orders of every kind, the newest first. @throws ClientError `NO_IDENTITY` */
  orders(): Promise<readonly OwnOrder[]> {
    return callThrough(this.#client, endpoints.listOrders, {})
  }

  /** How far an order of any kind is; `alias_id` is empty for one of a channel or a seat. */
  orderStatus(orderId: string): Promise<OrderStatus> {
    return callThrough(this.#client, endpoints.orderStatus, { params: { id: orderId } })
  }

  /**
   * Goes by the alias of a confirmed order from now on, and answers it. This device's `identity` follows, which comes as
   * `identity_changed`; friends see it in their list, and still reach the account by the alias before.
   * @throws ClientError `REFUSED` with `ORDER_NOT_CONFIRMED`, `ALIAS_TAKEN`, `NOT_FOUND`; `NO_IDENTITY`
   */
  async bind(orderId: string): Promise<string> {
    await callThrough(this.#client, endpoints.bindVanity, { body: { order_id: orderId } })
    return (await this.#client.syncIdentity()).aliasId
  }
}
