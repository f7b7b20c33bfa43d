// The endpoints of channels.
import type { ChannelTradeOrder, Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { Purges } from '../operations/purges.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { DescribePaying, Order, Orders } from '../payments/payments.ts'
import type { Storage } from '../storage/storage.ts'
import {
  channelInfoOf,
  createChannel,
  deleteChannel,
  editChannel,
  getChannel,
  listChannels,
  setSalePrice,
} from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'
import { channelPostFrame, createPost, deletePost, listPosts } from './posts.ts'
import { searchChannels } from './search.ts'
import { subscribe, topicOf, unsubscribe } from './subscriptions.ts'
import { orderChannel, orderSeat } from './trade.ts'

/** What the channel endpoints are built from. */
export interface ChannelParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly orders: Orders
  readonly purges: Purges<ChannelNumber>
  readonly describePaying: DescribePaying
}

type Names =
  | 'searchChannels'
  | 'myChannels'
  | 'createChannel'
  | 'getChannel'
  | 'patchChannel'
  | 'deleteChannel'
  | 'subscribe'
  | 'unsubscribe'
  | 'listPosts'
  | 'createPost'
  | 'deletePost'
  | 'listChannel'
  | 'unlistChannel'
  | 'buyChannel'
  | 'buyQuota'

export function channelRoutes(parts: ChannelParts): Handlers<Names> {
  const { storage, bus, purges, describePaying } = parts
  return {
    searchChannels: async ({ caller, query }) => {
      const rows = await searchChannels(storage.sql, query.q, caller.id)
      return rows.map((row) => channelInfoOf(row, caller.id))
    },

    myChannels: async ({ caller }) => {
      const rows = await listChannels(storage.sql, caller.id)
      return rows.map((row) => channelInfoOf(row, caller.id))
    },

    createChannel: async ({ caller, body }) => ({
      channel_id: await storage.transaction((sql) => createChannel(sql, caller.id, detailsOf(body), parts)),
    }),

    getChannel: async ({ caller, params }) =>
      channelInfoOf(await getChannel(storage.sql, params.id, caller.id), caller.id),

    patchChannel: async ({ caller, params, body }) => {
      const { name, description, is_public: isPublic } = body
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(isPublic === undefined ? {} : { isPublic }),
      }
      await storage.transaction((sql) => editChannel(sql, { id: params.id, caller: caller.id }, change))
      return channelInfoOf(await getChannel(storage.sql, params.id, caller.id), caller.id)
    },

    deleteChannel: async ({ caller, params }) => {
      const target = { id: params.id, caller: caller.id }
      await purges.purge(await storage.transaction((sql) => deleteChannel(sql, target, parts)))
    },

    subscribe: async ({ caller, params }) => {
      const target = { id: params.id, caller: caller.id }
      const channel = await storage.transaction((sql) => subscribe(sql, target, parts))
      bus.ring(caller.id, { kind: 'topic', topic: topicOf(channel), isWanted: true })
    },

    unsubscribe: async ({ caller, params }) => {
      const target = { id: params.id, caller: caller.id }
      const channel = await storage.transaction((sql) => unsubscribe(sql, target))
      bus.ring(caller.id, { kind: 'topic', topic: topicOf(channel), isWanted: false })
    },

    listPosts: async ({ caller, params, query }) => {
      const { id } = await getChannel(storage.sql, params.id, caller.id)
      return await listPosts(storage.sql, id, { before: query.before, limit: query.limit })
    },

    createPost: async ({ caller, params, body }) => {
      const target = { id: params.id, caller: caller.id }
      const { channel, post } = await storage.transaction((sql) => createPost(sql, target, body, parts))
      bus.publish(topicOf(channel), channelPostFrame(params.id, post))
      return { post_id: post.id }
    },

    deletePost: async ({ caller, params }) => {
      const target = { id: params.id, post: params.post_id, caller: caller.id }
      await storage.transaction((sql) => deletePost(sql, target))
    },

    listChannel: async ({ caller, body }) => {
      const target = { id: body.channel_id, caller: caller.id }
      await storage.transaction((sql) => setSalePrice(sql, target, body.price_usdt))
    },

    unlistChannel: async ({ caller, params }) => {
      const target = { id: params.id, caller: caller.id }
      await storage.transaction((sql) => setSalePrice(sql, target, null))
    },

    buyChannel: async ({ caller, params, host }) => {
      const order = await orderChannel({ channel: params.id, buyer: caller.id }, parts)
      return { ...tradeOrderOf(order), ...describePaying(order, host) }
    },

    buyQuota: async ({ caller, host }) => {
      const order = await orderSeat(caller.id, parts)
      return { ...tradeOrderOf(order), ...describePaying(order, host) }
    },
  }
}

function detailsOf(body: { name: string; description: string; is_public: boolean }) {
  return { name: body.name, description: body.description, isPublic: body.is_public }
}

/** The order of a channel or a seat, as the API shows it to the buyer. */
function tradeOrderOf(order: Order): Omit<ChannelTradeOrder, 'pay_to'> {
  return {
    order_id: order.order_id,
    price_usdt: order.price,
    expired_at: new Date(order.expires_at).toISOString(),
  }
}
