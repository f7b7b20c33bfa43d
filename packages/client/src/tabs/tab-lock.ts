// The Web Lock that decides which tab runs the client.
/**
 * One tab's request for the lock, or its hold on it. The browser releases the lock of a tab that is closed or
 * crashes.
 */
export class TabLock {
  readonly #name: string
  readonly #onGained: () => void
  readonly #onLost: (error: unknown) => void
  #waiting: AbortController | undefined
  #release: (() => void) | undefined

  /** `onLost` is called if the lock is taken away, or if the browser refuses it. */
  constructor(name: string, onGained: () => void, onLost: (error: unknown) => void) {
    this.#name = name
    this.#onGained = onGained
    this.#onLost = onLost
  }

  /** Joins the queue for the lock, unless it is in the queue or holds the lock. */
  queue(): void {
    if (this.#waiting || this.#release) return
    const waiting = new AbortController()
    this.#waiting = waiting
    navigator.locks
      .request(this.#name, { signal: waiting.signal }, () => this.#hold(waiting))
      .catch((error: unknown) => {
        // Leaving the queue also ends the request with an error.
        if (!waiting.signal.aborted) this.#onLost(error)
      })
  }

  /** Leaves the queue, or releases the lock. */
  leave(): void {
    this.#waiting?.abort()
    this.#waiting = undefined
    this.#release?.()
    this.#release = undefined
  }

  /** Moves to the end of the queue. */
  moveToEnd(): void {
    if (!this.#waiting) return
    this.leave()
    this.queue()
  }

  #hold(waiting: AbortController): Promise<void> | undefined {
    // It left the queue while the lock was being granted.
    if (waiting.signal.aborted) return undefined
    this.#waiting = undefined
    const released = new Promise<void>((resolve) => {
      this.#release = resolve
    })
    this.#onGained()
    return released
  }
}
