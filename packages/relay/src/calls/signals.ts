// Forwards the signals of calls between friends, and keeps offers for those who are not there.
import { type AliasId, type CallFrame, ProtocolError } from '@sotto/protocol'
import { findAccount } from '../accounts/accounts.ts'
import type { Bus } from '../cluster/bus.ts'
import { areFriends } from '../friends/friends.ts'
import type { CallSignal } from '../gateway/frame-handlers.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { checkNamesOnce, withFrom } from './frame-text.ts'
import { AccountTurns } from './turns.ts'
import type { WaitingOffer, WaitingOffers } from './waiting-offers.ts'

const UTF8 = new TextDecoder()

/** A connection, as far as calls look at it. */
export interface Presence {
  readonly account: AccountId
  readonly jti: string
}

/** What calls are forwarded with. */
export interface SignalParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly offers: WaitingOffers
  readonly log: Log
  /** Told when an offer waits for an account that has no connection. */
  readonly onOfferWaits?: ((account: AccountId) => void) | undefined
}

export class CallSignals {
  readonly #parts: SignalParts
  readonly #present = new Map<AccountId, Presence>()
  readonly #turns = new AccountTurns()

  constructor(parts: SignalParts) {
    this.#parts = parts
  }

  /** How much of an account's signals is not forwarded yet, in bytes of UTF-8. */
  pendingOf(account: AccountId): number {
    return this.#turns.bytesOf(account)
  }

  /**
   * Forwards a signal after those the account sent before.
   * @throws ProtocolError `NOT_FRIENDS`; `INVALID_FIELD` where `from` is not one's own or a field stands there twice
   */
  async forward(by: Presence, { frame, text }: CallSignal): Promise<void> {
    checkNamesOnce(text)
    await this.#turns.take(by.account, Buffer.byteLength(text), async () => {
      const { peer, from } = await partiesOf(this.#parts.storage.sql, by.account, frame)
      this.#pass(by, peer, frame, frame.from === undefined ? withFrom(text, from) : text)
    })
  }

  opened(connection: Presence): void {
    const { account, jti } = connection
    const older = this.#present.get(account)
    this.#present.set(account, connection)
    // Another device than the one that called. With the same token it is the same client coming back.
    if (older && older.jti !== jti) this.#parts.offers.eraseOf(account)
    for (const offer of this.#parts.offers.waitingFor(account)) this.#handOnInTurn(offer)
  }

  closed(connection: Presence): void {
    const { account } = connection
    // A newer connection ends the older one just before it is heard of here.
    queueMicrotask(() => {
      if (this.#present.get(account) !== connection) return
      this.#present.delete(account)
      this.#parts.offers.eraseOf(account)
    })
  }

  #pass(by: Presence, peer: AccountId, frame: CallFrame, text: string): void {
    const { bus, offers, onOfferWaits } = this.#parts
    const caller = by.account
    const { call_id: callId } = frame
    switch (frame.type) {
      case 'call_offer': {
        // Gone while it was looked up: nobody would be there to take the answer.
        if (this.#present.get(caller)?.jti !== by.jti) return
        const isHandedOn = this.#present.has(peer)
        // Kept where the callee is there, too: its connection may be half-open, or about to be a newer one.
        const isKept = offers.keep({ caller, callee: peer, callId, frame: text, isHandedOn })
        if (isKept && !isHandedOn) onOfferWaits?.(peer)
        break
      }
      case 'call_ice': {
        const offer = offers.find({ caller, callee: peer }, callId)
        if (!offer) break
        offers.addCandidate(offer, text)
        if (!offer.isHandedOn) return // It would come before its offer.
        break
      }
      case 'call_answer':
      case 'call_reject':
        offers.erase({ caller: peer, callee: caller }, callId)
        break
      case 'call_hangup':
        offers.erase({ caller, callee: peer }, callId)
        offers.erase({ caller: peer, callee: caller }, callId)
        break
      default:
        frame satisfies never
    }
    bus.ring(peer, { kind: 'signal', frame: text })
  }

  // In the caller's turn, so that nothing of the call comes in between.
  #handOnInTurn(offer: WaitingOffer): void {
    offer.isHandedOn = false
    this.#turns
      .take(offer.caller, 0, () => this.#handOn(offer))
      .catch((error) => this.#parts.log.error('offer_failed', { error, account: offer.callee }))
  }

  async #handOn(offer: WaitingOffer): Promise<void> {
    const { storage, bus, offers } = this.#parts
    if (!(await areFriends(storage.sql, offer.caller, offer.callee))) {
      offers.erase(offer, offer.callId)
      return
    }
    // Whoever connected again in the meantime has a turn of its own, which finds the offer handed on.
    if (!offers.has(offer) || offer.isHandedOn || !this.#present.has(offer.callee)) return
    for (const frame of offer.frames) bus.ring(offer.callee, { kind: 'signal', frame: UTF8.decode(frame) })
    offer.isHandedOn = true
  }
}

/** Whom a signal is for, and the alias its sender goes by. */
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
    throw new ProtocolError('INVALID_FIELD', { field: 'from', rule: 'must be an alias of one’s own' })
  }
  const peer = ownerOf(frame.to)
  if (peer === undefined || !(await areFriends(sql, sender, peer))) throw new ProtocolError('NOT_FRIENDS')
  return { peer, from }
}
