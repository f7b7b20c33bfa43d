// Notices connections that send requests without waiting for the answers. Bun handles all that it has read of
// a connection in one turn of the event loop. That may be thousands of requests, and everybody else waits.

export class RequestsAtOnce {
  /** The connections with a request in this turn of the event loop. */
  readonly #seen = new Set<string>()

  /** Counts a request. @returns whether its connection has sent an earlier one in the same turn */
  isFurther(connectionKey: string): boolean {
    if (this.#seen.has(connectionKey)) return true
    if (this.#seen.size === 0) setImmediate(() => this.#seen.clear())
    this.#seen.add(connectionKey)
    return false
  }
}
