// Channels: search, subscribe, read and buy them; create, write in and sell one's own.
import {
  type ChannelInfo,
  type ChannelPost,
  type ChannelTradeOrder,
  channelEndpoints as endpoints,
} from '@sotto/protocol'
import { type AnyClient, requestThrough } from '../module-access.ts'

/** The properties of a new channel. */
export interface NewChannel {
  /** 1 to 64 characters. */
  readonly name: string
  /** At most 1,024 characters; empty by default. */
  readonly description?: string
  /**
   * Whether searches find it; true by default. Anyone who knows the id of a hidden channel can subscribe to
   * it.
   */
  readonly isPublic?: boolean
}

/** Which part of a channel's posts to fetch. */
export interface PostRange {
  /** Only posts older than the post with this id. */
  readonly before?: string
  /** At most this many, from 1; 50 by default. A page has no more than 100. */
  readonly limit?: number
}

/**
 * The channels of a relay, used by a client's account: `const channels = new Channels(client)`. Posts are not
 * encrypted: the relay and everyone who has a channel's id can read them. New posts come as the client's
 * event `channel_post`.
 *
 * Every method calls the relay, and throws the errors of such a call: `REFUSED` with the relay's code,
 * `NETWORK`, `INVALID_ARGUMENT` for an invalid argument, and `NO_IDENTITY`.
 */
export class Channels {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /**
   * Public channels whose name or description has all words of `query`, the best first. An empty query finds
   * none.
   */
  search(query: string): Promise<readonly ChannelInfo[]> {
    return requestThrough(this.#client, endpoints.searchChannels, { query: { q: query } })
  }

  /** The channels that this account owns or is subscribed to. */
  mine(): Promise<readonly ChannelInfo[]> {
    return requestThrough(this.#client, endpoints.myChannels, {})
  }

  /** A channel, public or not. @throws ClientError `REFUSED` with `NOT_FOUND` */
  get(channelId: string): Promise<ChannelInfo> {
    return requestThrough(this.#client, endpoints.getChannel, { params: { id: channelId } })
  }

  /**
   * Creates a channel, and returns its id.
   * @throws ClientError `REFUSED` with `QUOTA_EXCEEDED` if all seats are taken (`buyQuota`),
   *   `OUTCOME_UNKNOWN` if it is unknown whether it was created (`mine` shows).
   */
  async create(channel: NewChannel): Promise<string> {
    const body = { ...fieldsOf(channel), name: channel.name }
    return (await requestThrough(this.#client, endpoints.createChannel, { body })).channel_id
  }

  /** Changes the given properties of a channel of this account, and returns the changed channel. */
  edit(channelId: string, changes: Partial<NewChannel>): Promise<ChannelInfo> {
    const body = fieldsOf(changes)
    return requestThrough(this.#client, endpoints.patchChannel, { params: { id: channelId }, body })
  }

  /** Deletes a channel of this account with all its posts. Frees its seat. */
  async delete(channelId: string): Promise<void> {
    await requestThrough(this.#client, endpoints.deleteChannel, { params: { id: channelId } })
  }

  /** Subscribes: new posts come as `channel_post` from now on. A second call changes nothing. */
  async subscribe(channelId: string): Promise<void> {
    await requestThrough(this.#client, endpoints.subscribe, { params: { id: channelId } })
  }

  /** Ends a subscription. A second call changes nothing. */
  async unsubscribe(channelId: string): Promise<void> {
    await requestThrough(this.#client, endpoints.unsubscribe, { params: { id: channelId } })
  }

  /** The posts of a channel, the newest first. */
  posts(channelId: string, range: PostRange = {}): Promise<readonly ChannelPost[]> {
    const { before, limit } = range
    return requestThrough(this.#client, endpoints.listPosts, {
      params: { id: channelId },
      query: { before, limit },
    })
  }

  /**
   * Posts to a channel of this account, and returns the post's id. `type` is the kind of post: 1 to 32 of
   * `a-z`, `0-9`, `-` and `_`; `text` by default.
   * @throws ClientError `OUTCOME_UNKNOWN` if it is unknown whether it was posted (`posts` shows).
   */
  async post(channelId: string, content: string, type?: string): Promise<string> {
    const body = { content, ...(type === undefined ? {} : { type }) }
    return (await requestThrough(this.#client, endpoints.createPost, { params: { id: channelId }, body }))
      .post_id
  }

  /** Deletes a post of a channel of this account. */
  async deletePost(channelId: string, postId: string): Promise<void> {
    const params = { id: channelId, post_id: postId }
    await requestThrough(this.#client, endpoints.deletePost, { params })
  }

  /** Offers a channel of this account for sale, or changes its price, in whole stablecoin units. */
  async listForSale(channelId: string, priceUsdt: number): Promise<void> {
    const body = { channel_id: channelId, price_usdt: priceUsdt }
    await requestThrough(this.#client, endpoints.listChannel, { body })
  }

  /** Ends the sale of a channel of this account. */
  async unlist(channelId: string): Promise<void> {
    await requestThrough(this.#client, endpoints.unlistChannel, { params: { id: channelId } })
  }

  /**
   * Orders a channel that is for sale. While the order is open, another call returns the same order. This
   * account owns the channel once the payment is confirmed, which comes as `payment_confirmed` with the
   * channel's id as `ref_id`.
   * @throws ClientError `REFUSED` with `CHANNEL_TAKEN`, `OWN_CHANNEL`, `NOT_FOUND`, `PAYMENTS_UNAVAILABLE`,
   *   `TOO_MANY_ORDERS`
   */
  buy(channelId: string): Promise<ChannelTradeOrder> {
    return requestThrough(this.#client, endpoints.buyChannel, { params: { id: channelId } })
  }

  /**
   * Orders a seat for one more channel. Each call makes a new order.
   * @throws ClientError `OUTCOME_UNKNOWN` if it is unknown whether it was ordered (`VanityShop.orders`
   *   shows).
   */
  buyQuota(): Promise<ChannelTradeOrder> {
    return requestThrough(this.#client, endpoints.buyQuota, {})
  }
}

/** The given properties of a channel, with the relay's names. */
function fieldsOf({ name, description, isPublic }: Partial<NewChannel>): {
  name?: string
  description?: string
  is_public?: boolean
} {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(isPublic === undefined ? {} : { is_public: isPublic }),
  }
}
