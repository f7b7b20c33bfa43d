// Reports to the operator of the relay.
import { reportEndpoints as endpoints } from '@sotto/protocol'
import { type AnyClient, requestThrough } from '../module-access.ts'
import type { CallInput } from '../wire/wire.ts'

/** What a report says. The operator sees it together with the reporter's alias. */
export interface ReportWords {
  /** The reporter's own words, at most 1,000 characters. */
  readonly reason: string
  /**
   * What the reporter shows the operator, such as the text of a message, at most 8,192 characters. Nothing
   * of a conversation is sent unless it is here.
   */
  readonly content?: string
}

/**
 * Reports to the operator of a relay: `const reports = new Reports(client)`. The reported person does not
 * learn of it. Reporting the same thing again replaces the earlier report.
 *
 * Every method calls the relay, and throws the errors of such a call: `REFUSED` with `NOT_FOUND` if there is
 * no such thing, or with `RATE_LIMITED`; `NETWORK`, `INVALID_ARGUMENT`, and `NO_IDENTITY`.
 */
export class Reports {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /** Reports an account. */
  account(aliasId: string, words: ReportWords): Promise<void> {
    return this.#send({ about: 'account', alias_id: aliasId, ...words })
  }

  /** Reports the account that sent a friend request. */
  friendRequest(aliasId: string, words: ReportWords): Promise<void> {
    return this.#send({ about: 'friend_request', alias_id: aliasId, ...words })
  }

  /** Reports a channel. */
  channel(channelId: string, words: ReportWords): Promise<void> {
    return this.#send({ about: 'channel', channel_id: channelId, ...words })
  }

  /** Reports a post in a channel. The operator can read the post itself. */
  post(channelId: string, postId: string, words: ReportWords): Promise<void> {
    return this.#send({ about: 'post', channel_id: channelId, post_id: postId, ...words })
  }

  async #send(body: CallInput<typeof endpoints.report>['body']): Promise<void> {
    await requestThrough(this.#client, endpoints.report, { body })
  }
}
