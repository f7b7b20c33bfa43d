// Offers of calls that wait for an answer, with the candidates that came after them: in memory, for less than a minute.
// Nothing else of a call is kept, and a restart forgets these.
import type { Limits } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { AccountId } from '../storage/storage.ts'

/** Who calls whom. There is one offer of a pair at a time, in each direction. */
export interface Pair {
  readonly caller: AccountId
  readonly callee: AccountId
}

/** An offer that waits. */
export interface WaitingOffer extends Pair {
  readonly callId: string
  /** The offer and its candidates as they are forwarded, in the order they came. UTF-8, which takes what it counts. */
  readonly frames: readonly Uint8Array[]
  /** Whether the callee's connection has all of `frames`: what comes then follows at once, else in its turn. */
  isHandedOn: boolean
}

type OfferLimits = Pick<
  Limits,
  'offerSeconds' | 'offerCandidates' | 'offerBytes' | 'offers' | 'allOffersBytes'
>

interface Kept extends WaitingOffer {
  readonly frames: Uint8Array[]
  bytes: number
  readonly until: number
}

// What a frame costs in memory beside its text.
const FRAME_OVERHEAD_BYTES = 512
const UTF8 = new TextEncoder()

export class WaitingOffers {
  readonly #limits: OfferLimits
  readonly #clock: Clock
  // In all of them the oldest comes first.
  readonly #byPair = new Map<string, Kept>()
  readonly #byCaller = new Map<AccountId, Set<Kept>>()
  readonly #byCallee = new Map<AccountId, Set<Kept>>()
  readonly #bytesOf = new Map<AccountId, number>()
  #bytes = 0

  constructor(parts: { limits: OfferLimits; clock: Clock }) {
    this.#limits = parts.limits
    this.#clock = parts.clock
  }

  /**
   * Keeps an offer in the place of its pair's last one. Older ones give way where there are too many.
   * @returns false where it is too large to be kept, or there is no room for it
   */
  keep(offer: Pair & { callId: string; frame: string; isHandedOn: boolean }): boolean {
    this.forget()
    const { caller, callee, callId, isHandedOn } = offer
    const { offerSeconds, offerBytes, offers } = this.#limits
    this.#erase(this.#byPair.get(keyOf(offer)))
    const frame = UTF8.encode(offer.frame)
    if (frame.length > offerBytes) return false
    for (const others of [this.#byCaller.get(caller), this.#byCallee.get(callee)])
      if (others && others.size >= offers) this.#erase(first(others))
    const bytes = frame.length + FRAME_OVERHEAD_BYTES
    if (!this.#makeRoom(caller, bytes)) return false
    const until = this.#clock.monotonic() + offerSeconds * 1000
    const kept: Kept = { caller, callee, callId, frames: [frame], isHandedOn, bytes, until }
    this.#byPair.set(keyOf(offer), kept)
    addTo(this.#byCaller, caller, kept)
    addTo(this.#byCallee, callee, kept)
    this.#count(caller, bytes)
    return true
  }

  /** The offer of a pair, where it is of this call. */
  find(pair: Pair, callId: string): WaitingOffer | undefined {
    this.forget()
    const kept = this.#byPair.get(keyOf(pair))
    return kept?.callId === callId ? kept : undefined
  }

  /** Keeps a candidate with the offer it came after, if there is room for it. */
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

  /** True as long as this very offer waits. */
  has(offer: WaitingOffer): boolean {
    return this.find(offer, offer.callId) === offer
  }

  /** What waits for an account, the oldest first. */
  waitingFor(callee: AccountId): WaitingOffer[] {
    this.forget()
    return [...(this.#byCallee.get(callee) ?? [])]
  }

  /** Erases the offer of a pair, where it is of this call. */
  erase(pair: Pair, callId: string): void {
    const kept = this.#byPair.get(keyOf(pair))
    if (kept?.callId === callId) this.#erase(kept)
  }

  /** Erases whatever an account has offered. */
  eraseOf(caller: AccountId): void {
    for (const kept of [...(this.#byCaller.get(caller) ?? [])]) this.#erase(kept)
  }

  /** Erases what has waited for long enough. */
  forget(): void {
    const now = this.#clock.monotonic()
    for (const kept of this.#byPair.values()) {
      if (kept.until > now) return
      this.#erase(kept)
    }
  }

  // Whoever holds the most gives up its oldest, never one who would hold less than the caller: so whoever fills the room
  // makes it narrow for itself, and not for an account with one small offer.
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

  #erase(kept: Kept | undefined): void {
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

function addTo(index: Map<AccountId, Set<Kept>>, account: AccountId, kept: Kept): void {
  const set = index.get(account) ?? new Set()
  index.set(account, set.add(kept))
}

function removeFrom(index: Map<AccountId, Set<Kept>>, account: AccountId, kept: Kept): void {
  const set = index.get(account)
  set?.delete(kept)
  if (set?.size === 0) index.delete(account)
}

function first(kept: Iterable<Kept>): Kept | undefined {
  for (const each of kept) return each
  return undefined
}
