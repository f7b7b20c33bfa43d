// Holds one ConnectionDelivery for each connection of this node, and passes the rings of the bus to it.
import type { ClientFrameOf, ConversationId } from '@sotto/protocol'
import type { Bus, Ring } from '../cluster/bus.ts'
import type { ConnectionFollower } from '../gateway/frame-handlers.ts'
import { Repeatable } from '../operations/repeatable.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Acknowledged } from './batch.ts'
import {
  ConnectionDelivery,
  type DeliveredConnection,
  type DeliveryParts,
  type DeliveryReader,
} from './connection-delivery.ts'
import type { Arrived, MailboxReader } from './mailbox-reader.ts'

/**
 * How often a WebSocket ping is sent to connections that have unconfirmed retractions, notices or receipts.
 */
const PING_EVERY_MS = 5000
/** Of how many accounts one query reads what is due. */
const LOOKED_AT_TOGETHER = 256

/** What the deliveries of all connections need from the mailbox. */
export type ConfirmingReader = DeliveryReader & Pick<MailboxReader, 'confirm' | 'readDue' | 'readUnsuspended'>

export class Deliveries implements ConnectionFollower {
  readonly #byAccount = new Map<AccountId, ConnectionDelivery>()
  readonly #parts: DeliveryParts & { readonly reader: ConfirmingReader }
  readonly #pings: ReturnType<typeof setInterval>
  /** The confirmations that are being stored. */
  readonly #confirming = new Set<Promise<void>>()
  readonly #look: Repeatable

  constructor(parts: DeliveryParts & { reader: ConfirmingReader; bus: Bus }) {
    this.#parts = parts
    const lookFailed = new RepeatedWarning('look_failed', parts)
    this.#look = new Repeatable(
      () => this.#lookIntoStore(),
      (error) => lookFailed.happened({ error }),
    )
    parts.bus.listen((account, ring) => this.#onRing(account, ring))
    parts.bus.listenToLoss(() => this.#look.request())
    this.#pings = setInterval(() => this.#pingAll(), PING_EVERY_MS).unref()
  }

  opened(connection: DeliveredConnection): void {
    this.#byAccount.get(connection.account)?.close()
    const delivery = new ConnectionDelivery(connection, this.#parts)
    this.#byAccount.set(connection.account, delivery)
    delivery.open()
  }

  closed(connection: DeliveredConnection): void {
    const delivery = this.#find(connection)
    delivery?.close()
    if (delivery) this.#byAccount.delete(connection.account)
  }

  frameReceived(connection: DeliveredConnection): void {
    const arrived = this.#find(connection)?.frameReceived()
    if (!arrived) return
    const { log } = this.#parts
    const confirming = this.#confirm(connection, arrived)
      .catch((error) => log.error('confirm_failed', { error, account: connection.account }))
      .finally(() => this.#confirming.delete(confirming))
    this.#confirming.add(confirming)
  }

  pongReceived(connection: DeliveredConnection): void {
    this.#find(connection)?.pongReceived()
  }

  drained(connection: DeliveredConnection): void {
    this.#find(connection)?.drained()
  }

  sync(connection: DeliveredConnection, frame: ClientFrameOf<'sync'>): void {
    this.#find(connection)?.sync(frame)
  }

  /** Whether the client of a connection reads messages of `crypto_v` 3. */
  readsVersion3(connection: DeliveredConnection): boolean {
    return this.#find(connection)?.readsVersion3 ?? false
  }

  /**
   * Whether an account is connected to this node by a client that does not read messages of `crypto_v` 3. Its
   * connections to other nodes are not known here.
   */
  hasOlderClient(account: AccountId): boolean {
    return this.#byAccount.get(account)?.readsVersion3 === false
  }

  /** The `ack` of a message is about to leave on this connection. */
  acknowledged(connection: DeliveredConnection, message: Acknowledged): void {
    this.#find(connection)?.acknowledged(message)
  }

  /** The account has confirmed something in a conversation. The confirmation is stored. */
  confirmed(connection: DeliveredConnection, convId: ConversationId): void {
    this.#find(connection)?.confirmed(convId)
  }

  /** Makes every connection read its mailbox. Used after a commit whose outcome is unknown. */
  readAllMailboxes(): void {
    for (const delivery of this.#byAccount.values()) delivery.readAgain()
  }

  /**
   * Sends the withheld messages of accounts that are not suspended any more, also if no ring said so: the
   * suspension was lifted in the store, or another node's ring got lost. Runs periodically.
   */
  async releaseLifted(): Promise<void> {
    const senders = new Set([...this.#withheld()].map(({ sender }) => sender))
    const lifted = await this.#parts.reader.readUnsuspended(senders)
    for (const { delivery, convId, sender } of [...this.#withheld()])
      if (lifted.has(sender)) delivery.released(convId)
  }

  async stop(): Promise<void> {
    clearInterval(this.#pings)
    await this.#look.stop()
    await Promise.all(this.#confirming)
  }

  async #confirm(connection: DeliveredConnection, arrived: Arrived): Promise<void> {
    if (connection.untilEpoch) await connection.untilEpoch
    await this.#parts.reader.confirm(connection.account, arrived, connection.epoch)
  }

  *#withheld() {
    for (const delivery of this.#byAccount.values())
      for (const withheld of delivery.withheld) yield { delivery, ...withheld }
  }

  // A replaced connection has no delivery any more, but its last frames may still arrive.
  #find(connection: DeliveredConnection): ConnectionDelivery | undefined {
    const delivery = this.#byAccount.get(connection.account)
    return delivery?.connection === connection ? delivery : undefined
  }

  #onRing(account: AccountId, ring: Ring): void {
    const delivery = this.#byAccount.get(account)
    if (ring.kind === 'mailbox') delivery?.onMailboxRing(ring)
    else if (ring.kind === 'listing') delivery?.listing(ring.conversations)
    else if (ring.kind === 'listed') delivery?.listed(ring.conversations)
    else if (ring.kind === 'released') delivery?.released(ring.conversation)
    else if (ring.kind === 'receipt') delivery?.onReceiptRing(ring)
    else if (ring.kind === 'notice') delivery?.onNotice(ring)
  }

  /** Asks the store what is due for each connection. */
  async #lookIntoStore(): Promise<void> {
    const accounts = [...this.#byAccount.keys()]
    for (let i = 0; i < accounts.length; i += LOOKED_AT_TOGETHER) {
      const due = await this.#parts.reader.readDue(accounts.slice(i, i + LOOKED_AT_TOGETHER))
      for (const each of due) this.#byAccount.get(each.account)?.look(each)
    }
    await this.releaseLifted()
  }

  #pingAll(): void {
    for (const delivery of this.#byAccount.values()) delivery.pingIfNeeded()
  }
}
