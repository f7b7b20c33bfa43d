// Who is connected to this node: one connection an account, the newest wins (protocol, Delivery 7).
import type { Ring } from '../cluster/bus.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Connection } from './connection.ts'

/** Kills a token for WebSockets, so that a connection that was replaced does not come back and replace in turn. */
export type RetireToken = (connection: Connection) => Promise<void>

export class Connections {
  readonly #byAccount = new Map<AccountId, Connection>()
  readonly #retireToken: RetireToken
  readonly #log: Log

  constructor(parts: { retireToken: RetireToken; log: Log }) {
    this.#retireToken = parts.retireToken
    this.#log = parts.log
  }

  find(account: AccountId): Connection | undefined {
    return this.#byAccount.get(account)
  }

  all(): Connection[] {
    return [...this.#byAccount.values()]
  }

  /** Takes a connection in. The account's older one, if any, is on its way out from here on. */
  add(connection: Connection): void {
    const older = this.#byAccount.get(connection.account)
    this.#byAccount.set(connection.account, connection)
    if (older) this.#replace(older, connection.jti)
  }

  /** @returns false where a newer connection had taken its place already */
  remove(connection: Connection): boolean {
    if (this.#byAccount.get(connection.account) !== connection) return false
    return this.#byAccount.delete(connection.account)
  }

  hear(account: AccountId, ring: Ring): void {
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
        if (ring.connection === connection.id) return
        this.#byAccount.delete(account)
        this.#replace(connection, ring.jti)
        return
      case 'token_dead':
        if (ring.jti === connection.jti) connection.goAway('jwt_revoked', 'tokenDead')
        return
      case 'deleted':
        connection.goAway('account_deleted', 'tokenDead')
        return
      case 'mailbox':
      case 'receipt':
      case 'notice':
      case 'topic':
        return // The business of the features that follow connections.
      default:
        ring satisfies never
    }
  }

  // With the same token it is the same client coming back; with another one, another device, which is told so.
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
