// Decides when a connection is too poor for video, because audio is more important.

/** A link that loses a larger share of the sent video packets is poor. */
const MAX_LOSS = 0.15
/** The bandwidth that video needs at least, in bits per second. */
const MIN_BITS = 100_000
/** A link is poor after this many poor samples in a row: one may be a passing disturbance. */
const POOR_SAMPLES = 3

/** One measurement of a link. Unknown values are left out. */
export interface LinkSample {
  /** 0 to 1, as the other side reports it. */
  readonly videoLoss?: number
  /** When that report arrived, by any clock. */
  readonly reportedAt?: number
  /** Bits per second. */
  readonly available?: number
}

/** Judges a link by successive samples. */
export class LinkQuality {
  #poorSamples = 0
  #reportedAt: number | undefined

  /**
   * Adds a sample. Returns true if it is the last of several poor ones in a row, and then starts to count
   * again. A report that was in the sample before, too, says nothing new.
   */
  isPoor({ videoLoss = 0, reportedAt, available = MIN_BITS }: LinkSample): boolean {
    const isNew = reportedAt === undefined || reportedAt !== this.#reportedAt
    this.#reportedAt = reportedAt
    if (!isNew && available >= MIN_BITS) return false
    this.#poorSamples = videoLoss > MAX_LOSS || available < MIN_BITS ? this.#poorSamples + 1 : 0
    if (this.#poorSamples < POOR_SAMPLES) return false
    this.#poorSamples = 0
    return true
  }
}
