// The shop for custom aliases, and the account's orders of every kind.
import {
  vanityEndpoints as endpoints,
  type OrderPayment,
  type OrderStatus,
  type OwnOrder,
  type PurchaseOrder,
  type ReserveOrder,
  type VanityItem,
} from '@sotto/protocol'
import { type AnyClient, requestThrough } from '../module-access.ts'

/**
 * The shop for custom aliases: `const shop = new VanityShop(client)`. The client orders an alias. The user
 * pays outside of the client, on a page that the order names. The relay confirms the payment, and the client
 * binds the alias. From then on it is the account's alias; earlier aliases still belong to the account.
 *
 * Every method calls the relay, and throws the errors of such a call: `REFUSED` with the relay's code,
 * `NETWORK`, `INVALID_ARGUMENT` for an invalid argument.
 */
export class VanityShop {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /** Aliases for sale, with their current prices: a selection, or those that begin with `query`. */
  search(query?: string): Promise<readonly VanityItem[]> {
    return requestThrough(this.#client, endpoints.searchVanity, { query: { q: query } })
  }

  /**
   * Orders an alias and reserves it until `expired_at`. Until then, another call returns the same order.
   * `payment_url` is the page to pay on. The confirmation of the payment comes as `payment_confirmed`, with
   * the alias as `ref_id`.
   * @throws ClientError `REFUSED` with `ALIAS_TAKEN`, `NOT_FOUND`, `PAYMENTS_UNAVAILABLE`, `TOO_MANY_ORDERS`;
   *   `NO_IDENTITY`
   */
  purchase(aliasId: string): Promise<PurchaseOrder> {
    return requestThrough(this.#client, endpoints.purchaseVanity, { body: { alias_id: aliasId } })
  }

  /**
   * Orders an alias without an account, and reserves it until `expired_at`: a client without an identity can
   * do so. The order belongs to nobody: `orderStatus` tells when it is paid, without an event, and then the
   * first account that passes its id to `bind` gets the alias. Each call is another order.
   * @deprecated Register first and use `purchase`, whose order belongs to the account.
   * @throws ClientError as `purchase`; `OUTCOME_UNKNOWN` if it is unknown whether the alias is reserved,
   *   which then ends by itself.
   */
  reserve(aliasId: string): Promise<ReserveOrder> {
    return requestThrough(this.#client, endpoints.reserveVanity, { body: { alias_id: aliasId } })
  }

  /** This account's orders of every kind, the newest first. @throws ClientError `NO_IDENTITY` */
  orders(): Promise<readonly OwnOrder[]> {
    return requestThrough(this.#client, endpoints.listOrders, {})
  }

  /** The status of an order of any kind. `alias_id` is empty for an order of a channel or a seat. */
  orderStatus(orderId: string): Promise<OrderStatus> {
    return requestThrough(this.#client, endpoints.orderStatus, { params: { id: orderId } })
  }

  /**
   * Chooses how to pay for an order of any kind: one of the order's `methods`, by its `method`. `pay_to` is
   * then the place for it. The payment page offers the same choice. Money that was sent by an earlier choice
   * counts as well.
   * @throws ClientError `REFUSED` with `ORDER_CLOSED` if nothing more is to be paid, `PAYMENTS_UNAVAILABLE`
   *   if this way is not available now, `NOT_FOUND`
   */
  chooseMethod(orderId: string, method: string): Promise<OrderPayment> {
    return requestThrough(this.#client, endpoints.chooseOrderMethod, {
      params: { id: orderId },
      body: { method },
    })
  }

  /**
   * Changes the account's alias to that of a confirmed order, and returns it. This device's `identity` is
   * updated, which comes as `identity_changed`. Friends see the new alias in their list, and still reach the
   * account by the previous one.
   * @throws ClientError `REFUSED` with `ORDER_NOT_CONFIRMED`, `ALIAS_TAKEN`, `NOT_FOUND`; `NO_IDENTITY`
   */
  async bind(orderId: string): Promise<string> {
    await requestThrough(this.#client, endpoints.bindVanity, { body: { order_id: orderId } })
    return (await this.#client.syncIdentity()).aliasId
  }
}
