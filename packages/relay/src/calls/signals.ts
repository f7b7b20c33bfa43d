// Forwards the signals of calls between friends, and keeps offers for callees that are not connected.
import { type AliasId, type CallFrame, ProtocolError } from '@sotto/protocol'
import { findAccount } from '../accounts/accounts.ts'
import type { Bus } from '../cluster/bus.ts'
import { areFriends } from '../friends/friends.ts'
import type { CallSignal } from '../gateway/frame-handlers.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { AccountQueue } from './account-queue.ts'
import { checkNamesOnce, withFrom } from './frame-text.ts'
import type { WaitingOffer, WaitingOffers } from './waiting-offers.ts'

const UTF8 = new TextDecoder()

/** The part of a connection that calls use. */
export interface CallConnection {
  readonly account: AccountId
  readonly jti: string
}

export interface SignalParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly offers: WaitingOffers
  readonly log: Log
  /** Whether an account is connected at another node; undefined if there are no others. */
  readonly isConnectedElsewhere?: ((account: AccountId) => Promise<boolean>) | undefined
  /** Called when an offer waits for an account that is not connected. */
  readonly onOfferWaits?: ((account: AccountId) => void) | undefined
}

export class CallSignals {
  readonly #parts: SignalParts
  readonly #connections = new Map<AccountId, CallConnection>()
  readonly #queue = new AccountQueue()

  constructor(parts: SignalParts) {
    this.#parts = parts
    parts.bus.listen((account, ring, isOwn) => {
      if (isOwn) return
      if (ring.kind === 'connected') this.#queueOffersTo(account)
      if (ring.kind === 'call_over') parts.offers.erase({ caller: account, callee: ring.callee }, ring.callId)
    })
    // The callee may have connected to another node without a word that arrived here.
    parts.bus.listenToLoss(() => {
      for (const offer of parts.offers.unforwarded()) this.#queueOffer(offer)
    })
  }

  /** The size of an account's signals that are not forwarded yet, in bytes of UTF-8. */
  pendingOf(account: AccountId): number {
    return this.#queue.bytesOf(account)
  }

  /** The same for all accounts together. */
  get pending(): number {
    return this.#queue.bytes
  }

  /**
   * Forwards a signal after the earlier signals of the same account.
   * @throws ProtocolError `NOT_FRIENDS`; `INVALID_FIELD` if `from` is not the sender's alias or a field
   *   appears twice
   */
  async forward(by: CallConnection, { frame, text }: CallSignal): Promise<void> {
    checkNamesOnce(text)
    await this.#queue.run(by.account, Buffer.byteLength(text), async () => {
      const { peer, from } = await partiesOf(this.#parts.storage.sql, by.account, frame)
      await this.#forwardToPeer(by, peer, frame, frame.from === undefined ? withFrom(text, from) : text)
    })
  }

  opened(connection: CallConnection): void {
    const { account, jti } = connection
    const older = this.#connections.get(account)
    this.#connections.set(account, connection)
    // Another token means another device, so the older device's offers end. The same token means the same
    // client.
    if (older && older.jti !== jti) this.#parts.offers.eraseAllBy(account)
    this.#queueOffersTo(account)
  }

  closed(connection: CallConnection): void {
    const { account } = connection
    // A newer connection of the account closes this one just before `opened` is called for the newer one.
    queueMicrotask(() => {
      if (this.#connections.get(account) !== connection) return
      this.#connections.delete(account)
      this.#parts.offers.eraseAllBy(account)
    })
  }

  async #forwardToPeer(by: CallConnection, peer: AccountId, frame: CallFrame, text: string): Promise<void> {
    const { bus, offers, onOfferWaits } = this.#parts
    const caller = by.account
    const { call_id: callId } = frame
    switch (frame.type) {
      case 'call_offer': {
        // The caller disconnected during the query, so nobody could receive the answer.
        if (this.#connections.get(caller)?.jti !== by.jti) return
        // Kept even if the callee is connected: its connection may be half-open or about to be replaced. Kept
        // before the callee is looked for, so that it cannot connect unseen in between.
        const offer = offers.keep({ caller, callee: peer, callId, frame: text })
        const isConnected = await this.#isConnected(peer)
        if (offer && !offers.has(offer)) return // The caller disconnected meanwhile, or the call ended.
        if (offer) offer.isForwarded = isConnected
        if (offer && !isConnected) onOfferWaits?.(peer)
        if (offer && !isConnected) return // It is forwarded with its candidates when the callee connects.
        break
      }
      case 'call_ice': {
        const offer = offers.find({ caller, callee: peer }, callId)
        if (!offer) break
        offers.addCandidate(offer, text)
        if (!offer.isForwarded) return // The candidate would arrive before its offer.
        break
      }
      case 'call_answer':
      case 'call_reject':
        this.#endOffer(peer, caller, callId)
        break
      case 'call_hangup':
        offers.erase({ caller, callee: peer }, callId)
        this.#endOffer(peer, caller, callId)
        break
      default:
        frame satisfies never
    }
    bus.ring(peer, { kind: 'signal', frame: text })
  }

  /** Erases an offer, which waits in the memory of the caller's node. */
  #endOffer(caller: AccountId, callee: AccountId, callId: string): void {
    this.#parts.offers.erase({ caller, callee }, callId)
    if (!this.#connections.has(caller)) this.#parts.bus.ring(caller, { kind: 'call_over', callee, callId })
  }

  async #isConnected(account: AccountId): Promise<boolean> {
    return this.#connections.has(account) || ((await this.#parts.isConnectedElsewhere?.(account)) ?? false)
  }

  #queueOffersTo(callee: AccountId): void {
    for (const offer of this.#parts.offers.waitingFor(callee)) this.#queueOffer(offer)
  }

  // Runs in the caller's queue, so that no other signal of the call comes in between.
  #queueOffer(offer: WaitingOffer): void {
    offer.isForwarded = false
    this.#queue
      .run(offer.caller, 0, () => this.#forwardOffer(offer))
      .catch((error) => this.#parts.log.error('offer_failed', { error, account: offer.callee }))
  }

  async #forwardOffer(offer: WaitingOffer): Promise<void> {
    const { storage, bus, offers } = this.#parts
    if (!(await areFriends(storage.sql, offer.caller, offer.callee))) {
      offers.erase(offer, offer.callId)
      return
    }
    // If the callee connected again in the meantime, that connection has queued the offer too; one of them
    // forwards it.
    const isConnected = await this.#isConnected(offer.callee)
    if (!offers.has(offer) || offer.isForwarded || !isConnected) return
    for (const frame of offer.frames) bus.ring(offer.callee, { kind: 'signal', frame: UTF8.decode(frame) })
    offer.isForwarded = true
  }
}

/** The account that a signal is for, and the sender's alias. */
async function partiesOf(
  sql: Sql,
  sender: AccountId,
  frame: { to: AliasId; from?: AliasId | undefined },
): Promise<{ peer: AccountId; from: AliasId }> {
  const from = frame.from ?? (await findAccount(sql, sender))?.alias_id
  if (from === undefined) throw new ProtocolError('NOT_FRIENDS') // Deleted since it connected.
  const owners = await sql<{ alias_id: AliasId; account_id: AccountId }>`
    SELECT alias_id, account_id FROM aliases WHERE alias_id = ${frame.to} OR alias_id = ${from}`
  const ownerOf = (alias: AliasId): AccountId | undefined =>
    owners.find((owner) => owner.alias_id === alias)?.account_id
  if (ownerOf(from) !== sender) {
    throw new ProtocolError('INVALID_FIELD', { field: 'from', rule: 'must be one of your aliases' })
  }
  const peer = ownerOf(frame.to)
  if (peer === undefined || !(await areFriends(sql, sender, peer))) throw new ProtocolError('NOT_FRIENDS')
  return { peer, from }
}
