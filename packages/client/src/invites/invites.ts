// The invites that an account makes for other people.
import { inviteEndpoints as endpoints, type MadeInvite, type OwnInvites } from '@sotto/protocol'
import { type AnyClient, requestThrough } from '../module-access.ts'

/**
 * Invites to register at the relay: `const invites = new Invites(client)`. The operator of a relay says how
 * many each member can make; at most relays that is none.
 *
 * Every method calls the relay, and throws the errors of such a call: `REFUSED` with the relay's code,
 * `NETWORK`, `NO_IDENTITY`.
 */
export class Invites {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /** The account's invites, the newest first, and how many more it can make. They have no codes. */
  list(): Promise<OwnInvites> {
    return requestThrough(this.#client, endpoints.listInvites, {})
  }

  /**
   * Makes an invite with which one person can register. Its code is told only now: keep it until it is
   * passed on.
   * @throws ClientError `REFUSED` with `TOO_MANY_INVITES`; `OUTCOME_UNKNOWN` if it is unknown whether one
   *   was made, which `list` then shows
   */
  make(): Promise<MadeInvite> {
    return requestThrough(this.#client, endpoints.makeInvite, {})
  }

  /**
   * Makes an invite useless. Accounts that registered with it stay.
   * @throws ClientError `REFUSED` with `NOT_FOUND`
   */
  async revoke(inviteId: string): Promise<void> {
    await requestThrough(this.#client, endpoints.revokeInvite, { params: { id: inviteId } })
  }
}
