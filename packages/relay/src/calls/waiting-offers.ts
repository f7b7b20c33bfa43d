// Keeps the offers of calls that wait for an answer, with the candidates that followed them: in memory, for
// less than a minute. The relay keeps nothing else of a call, and these are lost at a restart.
import type { Limits } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { AccountId } from '../storage/storage.ts'

/** The caller and the callee. Each pair has at most one offer in each direction. */
export interface Pair {
  readonly caller: AccountId
  readonly callee: AccountId
}

/** An offer that waits for an answer. */
export interface WaitingOffer extends Pair {
  readonly callId: string
  /**
   * The offer and its candidates as they are forwarded, in order. In UTF-8, so that counted bytes are bytes
   * in memory.
   */
  readonly frames: readonly Uint8Array[]
  /**
   * Whether all of `frames` were sent to the callee's connection. If so, further candidates are sent at once.
   */
  isForwarded: boolean
}

type OfferLimits = Pick<
  Limits,
  'offerSeconds' | 'offerCandidates' | 'offerBytes' | 'offers' | 'allOffersBytes'
>

interface StoredOffer extends WaitingOffer {
  readonly frames: Uint8Array[]
  bytes: number
  readonly until: number
}

// The memory that a frame takes in addition to its text.
const FRAME_OVERHEAD_BYTES = 512
const UTF8 = new TextEncoder()

export class WaitingOffers {
  readonly #limits: OfferLimits
  readonly #clock: Clock
  // In each of these maps and sets the oldest offer comes first.
  readonly #byPair = new Map<string, StoredOffer>()
  readonly #byCaller = new Map<AccountId, Set<StoredOffer>>()
  readonly #byCallee = new Map<AccountId, Set<StoredOffer>>()
  readonly #bytesOf = new Map<AccountId, number>()
  #bytes = 0

  constructor(parts: { limits: OfferLimits; clock: Clock }) {
    this.#limits = parts.limits
    this.#clock = parts.clock
  }

  /**
   * Keeps an offer and erases the pair's previous one. Older offers of the caller and the callee are erased
   * when there are too many.
   * @returns undefined if the offer is too large, or there is no room for it
   */
  keep(offer: Pair & { callId: string; frame: string }): WaitingOffer | undefined {
    this.eraseExpired()
    const { caller, callee, callId } = offer
    const { offerSeconds, offerBytes, offers } = this.#limits
    this.#erase(this.#byPair.get(keyOf(offer)))
    const frame = UTF8.encode(offer.frame)
    if (frame.length > offerBytes) return undefined
    for (const others of [this.#byCaller.get(caller), this.#byCallee.get(callee)])
      if (others && others.size >= offers) this.#erase(first(others))
    const bytes = frame.length + FRAME_OVERHEAD_BYTES
    if (!this.#makeRoom(caller, bytes)) return undefined
    const until = this.#clock.monotonic() + offerSeconds * 1000
    const kept: StoredOffer = { caller, callee, callId, frames: [frame], isForwarded: false, bytes, until }
    this.#byPair.set(keyOf(offer), kept)
    addTo(this.#byCaller, caller, kept)
    addTo(this.#byCallee, callee, kept)
    this.#count(caller, bytes)
    return kept
  }

  /** The offer of a pair, if it belongs to this call. */
  find(pair: Pair, callId: string): WaitingOffer | undefined {
    this.eraseExpired()
    const kept = this.#byPair.get(keyOf(pair))
    return kept?.callId === callId ? kept : undefined
  }

  /** Keeps a candidate with its offer, if there is room for it. */
  addCandidate(offer: WaitingOffer, text: string): void {
    const kept = this.#byPair.get(keyOf(offer))
    const { offerCandidates, offerBytes } = this.#limits
    if (kept !== offer || kept.frames.length > offerCandidates) return
    const frame = UTF8.encode(text)
    const bytes = frame.length + FRAME_OVERHEAD_BYTES
    if (kept.bytes + bytes > offerBytes || !this.#makeRoom(kept.caller, bytes)) return
    kept.frames.push(frame)
    kept.bytes += bytes
    this.#count(kept.caller, bytes)
  }

  /** Whether exactly this offer still waits. */
  has(offer: WaitingOffer): boolean {
    return this.find(offer, offer.callId) === offer
  }

  /** The offers that wait for a callee, the oldest first. */
  waitingFor(callee: AccountId): WaitingOffer[] {
    this.eraseExpired()
    return [...(this.#byCallee.get(callee) ?? [])]
  }

  /** The offers that were not forwarded yet. */
  unforwarded(): WaitingOffer[] {
    this.eraseExpired()
    return [...this.#byPair.values()].filter((offer) => !offer.isForwarded)
  }

  /** Erases the offer of a pair, if it belongs to this call. */
  erase(pair: Pair, callId: string): void {
    const kept = this.#byPair.get(keyOf(pair))
    if (kept?.callId === callId) this.#erase(kept)
  }

  /** Erases all offers by an account. */
  eraseAllBy(caller: AccountId): void {
    for (const kept of [...(this.#byCaller.get(caller) ?? [])]) this.#erase(kept)
  }

  /** Erases the offers that have waited too long. */
  eraseExpired(): void {
    const now = this.#clock.monotonic()
    for (const kept of this.#byPair.values()) {
      if (kept.until > now) return
      this.#erase(kept)
    }
  }

  // Erases the oldest offers of the accounts that use the most memory, but only of accounts that use at least
  // as much as the caller would. Accounts that fill the memory thus lose their own offers, and an account
  // with one small offer keeps it.
  #makeRoom(caller: AccountId, bytes: number): boolean {
    const { allOffersBytes } = this.#limits
    const wanted = (this.#bytesOf.get(caller) ?? 0) + bytes
    while (this.#bytes + bytes > allOffersBytes) {
      let [heaviest, most] = [caller, wanted - 1]
      for (const [account, held] of this.#bytesOf) if (held > most) [heaviest, most] = [account, held]
      if (heaviest === caller) return false
      this.#erase(first(this.#byCaller.get(heaviest) ?? []))
    }
    return true
  }

  #count(caller: AccountId, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#bytesOf.get(caller) ?? 0) + bytes
    if (held === 0) this.#bytesOf.delete(caller)
    else this.#bytesOf.set(caller, held)
  }

  #erase(kept: StoredOffer | undefined): void {
    if (!kept) return
    this.#byPair.delete(keyOf(kept))
    removeFrom(this.#byCaller, kept.caller, kept)
    removeFrom(this.#byCallee, kept.callee, kept)
    this.#count(kept.caller, -kept.bytes)
  }
}

function keyOf({ caller, callee }: Pair): string {
  return `${caller} ${callee}`
}

function addTo(index: Map<AccountId, Set<StoredOffer>>, account: AccountId, kept: StoredOffer): void {
  const set = index.get(account) ?? new Set()
  index.set(account, set.add(kept))
}

function removeFrom(index: Map<AccountId, Set<StoredOffer>>, account: AccountId, kept: StoredOffer): void {
  const set = index.get(account)
  set?.delete(kept)
  if (set?.size === 0) index.delete(account)
}

function first(kept: Iterable<StoredOffer>): StoredOffer | undefined {
  for (const each of kept) return each
  return undefined
}
