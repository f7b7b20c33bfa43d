// When a connection is too poor for video: sound goes before pictures.

/** The share of own video packets that must be lost, for a link to be poor. */
const MAX_LOSS = 0.15
/** What a link must carry for video to be worth it, in bits a second. */
const MIN_BITS = 100_000
/** So many looks in a row: one may be a passing tunnel. */
const POOR_LOOKS = 3

/** What is seen of a link at one look; what is not known is left out. */
export interface LinkSample {
  /** 0 to 1, as the other side reports it. */
  readonly videoLoss?: number
  /** Bits a second. */
  readonly available?: number
}

/** Judges a link by looks at it. */
export class LinkQuality {
  #poorLooks = 0

  /** Takes a look; true where the link has been poor for long enough. Begins anew then. */
  look({ videoLoss = 0, available = MIN_BITS }: LinkSample): boolean {
    this.#poorLooks = videoLoss > MAX_LOSS || available < MIN_BITS ? this.#poorLooks + 1 : 0
    if (this.#poorLooks < POOR_LOOKS) return false
    this.#poorLooks = 0
    return true
  }
}
