// Bounds the bytes of the frames that wait for their rates: those of one connection, and those of all.
import type { Limits } from '@sotto/protocol'

/** A connection whose frames wait. */
export interface FrameHolder {
  readonly heldBytes: number
  readonly connection: { readonly account: number }
  /** Drops the waiting frames and closes the connection with 1013. */
  giveWay(): void
}

/**
 * The share of the limit that remains after connections gave way. Below 1, so that the next frame need not
 * close more at once.
 */
const TARGET = 3 / 4

export class HeldFrames {
  readonly #limits: Pick<Limits, 'heldBytes' | 'allHeldBytes'>
  readonly #onFull: (most: FrameHolder) => void
  readonly #holders = new Set<FrameHolder>()
  #bytes = 0

  /** @param onFull called with the one that holds the most, before connections give way */
  constructor(limits: Pick<Limits, 'heldBytes' | 'allHeldBytes'>, onFull: (most: FrameHolder) => void) {
    this.#limits = limits
    this.#onFull = onFull
  }

  /** What all hold together. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether one connection may hold this much. */
  allows(heldBytes: number): boolean {
    return heldBytes <= this.#limits.heldBytes
  }

  /**
   * Counts further bytes of a holder. If all hold too much together, those that hold the most give way; the
   * holder may be one of them.
   */
  add(holder: FrameHolder, bytes: number): void {
    this.#bytes += bytes
    this.#holders.add(holder)
    if (this.#bytes > this.#limits.allHeldBytes) this.#makeRoom()
  }

  remove(holder: FrameHolder, bytes: number): void {
    this.#bytes -= bytes
    if (holder.heldBytes === 0) this.#holders.delete(holder)
  }

  #makeRoom(): void {
    const holders = [...this.#holders].sort((a, b) => b.heldBytes - a.heldBytes)
    if (holders[0]) this.#onFull(holders[0])
    for (const holder of holders) {
      if (this.#bytes <= this.#limits.allHeldBytes * TARGET) return
      holder.giveWay()
    }
  }
}
