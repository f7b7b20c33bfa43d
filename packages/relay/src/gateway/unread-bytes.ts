// Bounds what all connections of this node together have been sent and not taken: each of them may be slow, not all of them.
import type { Connection } from './connection.ts'

/** How much is written between two looks, of what may be unread in all. */
const LOOK_EVERY = 1 / 8
/** What is left when the fullest have been sent away, so that the next look does not find it full again. */
const LEAVE = 3 / 4

export class UnreadBytes {
  readonly #most: number
  readonly #all: () => readonly Connection[]
  #written = 0

  /** @param most bytes @param all the connections that are there */
  constructor(most: number, all: () => readonly Connection[]) {
    this.#most = most
    this.#all = all
  }

  /** Counts what was written to many at once; looks at them all where that may have been too much. */
  wrote(bytes: number): void {
    this.#written += bytes
    if (this.#written >= this.#most * LOOK_EVERY) this.bound()
  }

  /** Sends the fullest away with 1013, where all together hold too much. */
  bound(): void {
    this.#written = 0
    const unread = this.#all()
      .map((connection) => ({ connection, bytes: connection.bufferedBytes }))
      .filter(({ bytes }) => bytes > 0)
    let sum = unread.reduce((total, { bytes }) => total + bytes, 0)
    if (sum <= this.#most) return
    for (const { connection, bytes } of unread.sort((a, b) => b.bytes - a.bytes)) {
      if (sum <= this.#most * LEAVE) return
      connection.close('overload')
      sum -= bytes
    }
  }
}
