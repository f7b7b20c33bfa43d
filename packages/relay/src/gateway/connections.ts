// The connections of this node by account. Each account has one; the newest replaces the older (protocol,
// Delivery 7).
import type { Ring } from '../cluster/bus.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Connection } from './connection.ts'
import type { Newest, ReplacedToken } from './epochs.ts'

/**
 * Makes a token useless for WebSockets, so that a replaced client cannot reconnect and replace the newer one.
 */
export type RetireToken = (token: ReplacedToken) => Promise<void>

export class Connections {
  readonly #byAccount = new Map<AccountId, Connection>()
  /** The newest connections that were heard of while the epochs of these connections were not known. */
  readonly #unjudged = new WeakMap<Connection, Newest>()
  readonly #retireToken: RetireToken
  readonly #log: Log

  constructor(parts: { retireToken: RetireToken; log: Log }) {
    this.#retireToken = parts.retireToken
    this.#log = parts.log
  }

  find(account: AccountId): Connection | undefined {
    return this.#byAccount.get(account)
  }

  get count(): number {
    return this.#byAccount.size
  }

  all(): Connection[] {
    return [...this.#byAccount.values()]
  }

  /** Adds a connection and closes the account's older one, if any. */
  add(connection: Connection): void {
    const older = this.#byAccount.get(connection.account)
    this.#byAccount.set(connection.account, connection)
    if (older) this.#replace(older, connection.jti)
  }

  /** @returns false if a newer connection has replaced this one already */
  remove(connection: Connection): boolean {
    if (this.#byAccount.get(connection.account) !== connection) return false
    return this.#byAccount.delete(connection.account)
  }

  onRing(account: AccountId, ring: Ring): void {
    const connection = this.#byAccount.get(account)
    if (!connection) return
    switch (ring.kind) {
      case 'frame':
        connection.send(ring.frame)
        return
      case 'signal':
        connection.sendUnlessBehind(ring.frame)
        return
      case 'connected':
        if (ring.connection === connection.id || ring.epoch === undefined) return
        this.judge(connection, { account, epoch: ring.epoch, jti: ring.jti })
        return
      case 'token_dead':
        if (ring.jti === connection.jti) connection.goAway('jwt_revoked', 'tokenDead')
        return
      case 'logged_out':
        if (!connection.jti.endsWith(ring.exceptTokensEndingIn)) connection.goAway('jwt_revoked', 'tokenDead')
        return
      case 'suspended':
        connection.send(ring.frame)
        connection.goAway('jwt_revoked', 'tokenDead')
        return
      case 'deleted':
        connection.goAway('account_deleted', 'tokenDead')
        return
      case 'mailbox':
      case 'listing':
      case 'listed':
      case 'released':
      case 'receipt':
      case 'notice':
      case 'topic':
      case 'call_over':
        return // Features handle these themselves.
      default:
        ring satisfies never
    }
  }

  /** Closes a connection that is not the newest of its account. */
  judge(connection: Connection, newest: Newest): void {
    if (connection.epoch === undefined) {
      // It may itself be the newest. That is judged once its epoch is known.
      const known = this.#unjudged.get(connection)
      if (!known || known.epoch < newest.epoch) this.#unjudged.set(connection, newest)
    } else if (newest.epoch > connection.epoch) {
      this.remove(connection)
      this.#replace(connection, newest.jti)
    }
  }

  /** The epoch of a connection is known, so that it can be compared with those that were heard before. */
  epochKnown(connection: Connection): void {
    const heard = this.#unjudged.get(connection)
    this.#unjudged.delete(connection)
    if (heard) this.judge(connection, heard)
  }

  // The same token means that the same client reconnected. A different token means another device: the older
  // connection gets a `goaway` frame.
  #replace(older: Connection, newerJti: string): void {
    if (older.jti === newerJti) {
      older.close('replaced')
      return
    }
    this.#retireToken(older)
      .catch((error) => this.#log.error('retire_token_failed', { error, account: older.account }))
      .finally(() => older.goAway('new_device_login', 'replaced'))
  }
}
