// The Web Lock that decides which tab runs the client: in line for it, holding it, and out of line.

/** One tab's place in the line for the lock. The browser releases the lock of a tab that is gone. */
export class TabLock {
  readonly #name: string
  readonly #onGained: () => void
  readonly #onLost: (error: unknown) => void
  #waiting: AbortController | undefined
  #release: (() => void) | undefined

  /** `onLost` hears of a lock that was taken away, or that the browser refuses. */
  constructor(name: string, onGained: () => void, onLost: (error: unknown) => void) {
    this.#name = name
    this.#onGained = onGained
    this.#onLost = onLost
  }

  /** Gets in line, unless it is in line or holds the lock. */
  queue(): void {
    if (this.#waiting || this.#release) return
    const waiting = new AbortController()
    this.#waiting = waiting
    navigator.locks
      .request(this.#name, { signal: waiting.signal }, () => this.#hold(waiting))
      .catch((error: unknown) => {
        // Leaving the line ends the request with an error of its own.
        if (!waiting.signal.aborted) this.#onLost(error)
      })
  }

  /** Leaves the line, or gives the lock back. */
  leave(): void {
    this.#waiting?.abort()
    this.#waiting = undefined
    this.#release?.()
    this.#release = undefined
  }

  /** Lets all who are in line go before. */
  letOthersBefore(): void {
    if (!this.#waiting) return
    this.leave()
    this.queue()
  }

  #hold(waiting: AbortController): Promise<void> | undefined {
    // It left the line while the lock was on its way.
    if (waiting.signal.aborted) return undefined
    this.#waiting = undefined
    const released = new Promise<void>((resolve) => {
      this.#release = resolve
    })
    this.#onGained()
    return released
  }
}
