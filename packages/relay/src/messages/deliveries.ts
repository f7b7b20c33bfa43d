// The deliveries of all connections of this node: opened and closed with them, fed by the bus.
import type { Limits } from '@sotto/protocol'
import type { Bus, Ring } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import type { ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId } from '../storage/storage.ts'
import { ConnectionDelivery } from './delivery.ts'
import type { MailboxReader } from './mailbox-reader.ts'

/** How often connections with unconfirmed receipts are pinged beneath the application. */
const PING_EVERY_MS = 5000

export class Deliveries implements ConnectionFollower {
  readonly #byAccount = new Map<AccountId, ConnectionDelivery>()
  readonly #reader: MailboxReader
  readonly #limits: Limits
  readonly #log: Log
  readonly #pings: ReturnType<typeof setInterval>
  #confirming: Promise<unknown> = Promise.resolve()

  constructor(parts: { reader: MailboxReader; bus: Bus; limits: Limits; log: Log }) {
    this.#reader = parts.reader
    this.#limits = parts.limits
    this.#log = parts.log
    parts.bus.listen((account, ring) => this.#hear(account, ring))
    this.#pings = setInterval(() => this.#pingAll(), PING_EVERY_MS).unref()
  }

  opened(connection: Connection): void {
    this.#byAccount.get(connection.account)?.close()
    const parts = { reader: this.#reader, windowBytes: this.#limits.windowBytes, log: this.#log }
    const delivery = new ConnectionDelivery(connection, parts)
    this.#byAccount.set(connection.account, delivery)
    delivery.open()
  }

  closed(connection: Connection): void {
    const delivery = this.#find(connection)
    delivery?.close()
    if (delivery) this.#byAccount.delete(connection.account)
  }

  frameReceived(connection: Connection): void {
    const arrived = this.#find(connection)?.frameReceived()
    if (!arrived) return
    this.#confirming = this.#reader
      .confirm(connection.account, arrived)
      .catch((error) => this.#log.error('confirm_failed', { error, account: connection.account }))
  }

  ponged(connection: Connection): void {
    this.#find(connection)?.ponged()
  }

  drained(connection: Connection): void {
    this.#find(connection)?.drained()
  }

  sync(connection: Connection): void {
    this.#find(connection)?.sync()
  }

  /** Has every connection read what waits for it: after a commit of which nobody knows whether it took effect. */
  lookAgain(): void {
    for (const delivery of this.#byAccount.values()) delivery.lookAgain()
  }

  async stop(): Promise<void> {
    clearInterval(this.#pings)
    await this.#confirming
  }

  // A connection that was replaced has no delivery any more, though its last frames may still come in.
  #find(connection: Connection): ConnectionDelivery | undefined {
    const delivery = this.#byAccount.get(connection.account)
    return delivery?.connection === connection ? delivery : undefined
  }

  #hear(account: AccountId, ring: Ring): void {
    const delivery = this.#byAccount.get(account)
    if (ring.kind === 'mailbox') delivery?.hearMailbox(ring)
    else if (ring.kind === 'receipt') delivery?.hearReceipt(ring)
    else if (ring.kind === 'notice') delivery?.hearNotice(ring)
  }

  #pingAll(): void {
    for (const delivery of this.#byAccount.values()) if (delivery.wantsPing) delivery.ping()
  }
}
