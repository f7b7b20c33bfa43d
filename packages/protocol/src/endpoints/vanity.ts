// Endpoints of the shop of custom ids, and of all orders.
import * as payments from '../bodies/payments.ts'
import * as vanity from '../bodies/vanity.ts'
import { define, ORDERING, type Summaries } from './endpoint.ts'

export const vanityEndpoints = define({
  searchVanity: {
    method: 'GET',
    path: '/vanity/search',
    auth: 'none',
    rate: 'shop',
    query: vanity.VanitySearchQuery,
    status: 200,
    reply: vanity.VanityItemList,
    errors: [],
  },
  purchaseVanity: {
    method: 'POST',
    path: '/vanity/purchase',
    auth: 'account',
    rate: 'order',
    body: payments.AliasBody,
    status: 200,
    reply: payments.PurchaseOrder,
    adds: 'little',
    errors: [...ORDERING, 'NOT_FOUND', 'ALIAS_TAKEN'],
  },
  bindVanity: {
    method: 'POST',
    path: '/vanity/bind',
    auth: 'account',
    rate: 'write',
    body: payments.BindBody,
    status: 200,
    reply: payments.BindReply,
    errors: ['NOT_FOUND', 'ORDER_NOT_CONFIRMED', 'ALIAS_TAKEN'],
  },
  reserveVanity: {
    method: 'POST',
    path: '/vanity/reserve',
    notIdempotent: true,
    auth: 'none',
    rate: 'shop', // And `reserve`, which counts the orders.
    body: payments.AliasBody,
    status: 200,
    reply: payments.ReserveOrder,
    adds: 'little',
    errors: [...ORDERING, 'NOT_FOUND', 'ALIAS_TAKEN'],
  },
  listOrders: {
    method: 'GET',
    path: '/vanity/orders',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: payments.OwnOrderList,
    longReply: true,
    errors: [],
  },
  orderStatus: {
    method: 'GET',
    path: '/vanity/order/{id}/status',
    auth: 'none',
    rate: 'shop',
    params: payments.OrderPath,
    status: 200,
    reply: payments.OrderStatus,
    errors: ['NOT_FOUND'],
  },
  chooseOrderMethod: {
    method: 'POST',
    path: '/vanity/order/{id}/method',
    auth: 'none',
    rate: 'shop',
    params: payments.OrderPath,
    body: payments.MethodBody,
    status: 200,
    reply: payments.OrderPayment,
    adds: 'little',
    errors: ['NOT_FOUND', 'ORDER_CLOSED', 'PAYMENTS_UNAVAILABLE'],
  },
})

/** One line about each endpoint, for the documents. */
export const vanitySummaries: Summaries<typeof vanityEndpoints> = {
  searchVanity: 'Ids for sale: the featured ones, or those that begin with `q`',
  purchaseVanity: 'Orders an id and holds it; repeating it during the hold answers the same order',
  bindVanity: 'Makes the id of a confirmed order the caller’s alias; the former alias stays with the account',
  reserveVanity: 'Deprecated: orders an id without an account',
  listOrders: 'The caller’s orders of every kind, newest first',
  orderStatus: 'The status of an order of any kind',
  chooseOrderMethod: 'Chooses how to pay for an order of any kind; earlier choices stay payable',
}
