// Channels: found, subscribed to, read; one's own made, written in, offered for sale; others' bought.
import {
  type ChannelInfo,
  type ChannelPost,
  type ChannelTradeOrder,
  channelEndpoints as endpoints,
} from '@sotto/protocol'
import { type AnyClient, callThrough } from './door.ts'

/** What a new channel is. */
export interface NewChannel {
  /** 1 to 64 characters. */
  readonly name: string
  /** At most 1,024 characters; empty unless told. */
  readonly description?: string
  /** Whether searching finds it; true unless told. Whoever is given the id of another can subscribe to it. */
  readonly isPublic?: boolean
}

/** Which part of a channel's posts to fetch. */
export interface PostRange {
  /** Only posts older than the one of this id. */
  readonly before?: string
  /** At most this many, 1 to 100; 50 unless told. */
  readonly limit?: number
}

/**
 * The channels of a relay, as the account of a client sees them: `const channels = new Channels(client)`. Posts are not
 * encrypted: the relay and everybody who has a channel's id can read them. New ones come as the client's event
 * `channel_post`.
 *
 * Every method asks the relay, and throws what any such call may: `REFUSED` with the relay's code, `NETWORK`,
 * `INVALID_ARGUMENT` for what breaks a rule, and `NO_IDENTITY`.
 */
export class Channels {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /** Public channels whose name or description has all words of `query`, the best first; none for no words. */
  search(query: string): Promise<readonly ChannelInfo[]> {
    return callThrough(this.#client, endpoints.searchChannels, { query: { q: query } })
  }

  /** The channels one owns or is subscribed to. */
  mine(): Promise<readonly ChannelInfo[]> {
    return callThrough(this.#client, endpoints.myChannels, {})
  }

  /** A channel, public or not. @throws ClientError `REFUSED` with `NOT_FOUND` */
  get(channelId: string): Promise<ChannelInfo> {
    return callThrough(this.#client, endpoints.getChannel, { params: { id: channelId } })
  }

  /**
   * Makes a channel, and answers its id.
   * @throws ClientError `REFUSED` with `QUOTA_EXCEEDED` where all seats are taken (`buyQuota`), `OUTCOME_UNKNOWN` where it may
   *   have been made or not (`mine` shows).
   */
  async create(channel: NewChannel): Promise<string> {
    const body = { ...fieldsOf(channel), name: channel.name }
    return (await callThrough(this.#client, endpoints.createChannel, { body })).channel_id
  }

  /** Changes what is given of a channel of one's own, and answers it as it is then. */
  edit(channelId: string, changes: Partial<NewChannel>): Promise<ChannelInfo> {
    const body = fieldsOf(changes)
    return callThrough(this.#client, endpoints.patchChannel, { params: { id: channelId }, body })
  }

  /** Deletes a channel of one's own with all its posts. Frees its seat. */
  async delete(channelId: string): Promise<void> {
    await callThrough(this.#client, endpoints.deleteChannel, { params: { id: channelId } })
  }

  /** Subscribes: new posts come as `channel_post` from now on. Twice changes nothing. */
  async subscribe(channelId: string): Promise<void> {
    await callThrough(this.#client, endpoints.subscribe, { params: { id: channelId } })
  }

  /** Ends a subscription. Twice changes nothing. */
  async unsubscribe(channelId: string): Promise<void> {
    await callThrough(this.#client, endpoints.unsubscribe, { params: { id: channelId } })
  }

  /** Posts of a channel, the newest first. */
  posts(channelId: string, range: PostRange = {}): Promise<readonly ChannelPost[]> {
    const { before, limit } = range
    return callThrough(this.#client, endpoints.listPosts, {
      params: { id: channelId },
      query: { before, limit },
    })
  }

  /**
   * Posts to a channel of one's own, and answers the post's id. `type` says what kind of post it is, 1 to 32 of `a-z`, `0-9`,
   * `-` and `_`; `text` unless told.
   * @throws ClientError `OUTCOME_UNKNOWN` where it may have been posted or not (`posts` shows).
   */
  async post(channelId: string, content: string, type?: string): Promise<string> {
    const body = { content, ...(type === undefined ? {} : { type }) }
    return (await callThrough(this.#client, endpoints.createPost, { params: { id: channelId }, body }))
      .post_id
  }

  /** Deletes a post of a channel of one's own. */
  async deletePost(channelId: string, postId: string): Promise<void> {
    const params = { id: channelId, post_id: postId }
    await callThrough(this.#client, endpoints.deletePost, { params })
  }

  /** Offers a channel of one's own for sale, or changes its price: whole stablecoin units. */
  async listForSale(channelId: string, priceUsdt: number): Promise<void> {
    const body = { channel_id: channelId, price_usdt: priceUsdt }
    await callThrough(this.#client, endpoints.listChannel, { body })
  }

  /** Takes a channel of one's own off sale. */
  async unlist(channelId: string): Promise<void> {
    await callThrough(this.#client, endpoints.unlistChannel, { params: { id: channelId } })
  }

  /**
   * Orders a channel that is for sale; asked again while it is held, answers the same order. The channel is one's own once
   * the payment is confirmed: `payment_confirmed`, with the channel's id as `ref_id`.
   * @throws ClientError `REFUSED` with `CHANNEL_TAKEN`, `OWN_CHANNEL`, `NOT_FOUND`, `PAYMENTS_UNAVAILABLE`, `TOO_MANY_ORDERS`
   */
  buy(channelId: string): Promise<ChannelTradeOrder> {
    return callThrough(this.#client, endpoints.buyChannel, { params: { id: channelId } })
  }

  /**
   * Orders a seat for one more channel. Each call is an order of its own.
   * @throws ClientError `OUTCOME_UNKNOWN` where it may have been ordered or not (`VanityShop.orders` shows).
   */
  buyQuota(): Promise<ChannelTradeOrder> {
    return callThrough(this.#client, endpoints.buyQuota, {})
  }
}

/** What was given of a channel, by the relay's names. */
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
