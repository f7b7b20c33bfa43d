// Bounds the bytes that the peers of all connections of this node have not received yet. One connection may
// be slow; all of them together may not fill the memory.
import type { Connection } from './connection.ts'

/** The share of the limit that is written between two checks. */
const CHECK_EVERY = 1 / 8
/**
 * The share of the limit that remains after closing connections. Below 1, so that the next check need not
 * close more at once.
 */
const TARGET = 3 / 4

export class UnreadBytes {
  readonly #limit: number
  readonly #connections: () => readonly Connection[]
  #written = 0

  /** @param limit bytes @param connections all open connections */
  constructor(limit: number, connections: () => readonly Connection[]) {
    this.#limit = limit
    this.#connections = connections
  }

  /**
   * Counts bytes that were written to many connections at once. Checks all of them once enough was written.
   */
  countWritten(bytes: number): void {
    this.#written += bytes
    if (this.#written >= this.#limit * CHECK_EVERY) this.closeFullest()
  }

  /** Closes the connections with the most unread bytes with 1013, if all together exceed the limit. */
  closeFullest(): void {
    this.#written = 0
    const unread = this.#connections()
      .map((connection) => ({ connection, bytes: connection.bufferedBytes }))
      .filter(({ bytes }) => bytes > 0)
    let sum = unread.reduce((total, { bytes }) => total + bytes, 0)
    if (sum <= this.#limit) return
    for (const { connection, bytes } of unread.sort((a, b) => b.bytes - a.bytes)) {
      if (sum <= this.#limit * TARGET) return
      connection.close('overload')
      sum -= bytes
    }
  }
}
