// When the process of the tests stood still. What reached its models meanwhile, they handle at once: replies,
// acks and marks between which the relay waits for slow clients. No relay can be careful enough for that.

/** How often it looks, and how late a look may be. Handlers of the models take 200 ms, marks wait 500 ms. */
const [LOOK_EVERY_MS, MOST_LATE_MS] = [50, 150]

/** Watches the process until it is disposed. */
export class Standstills implements Disposable {
  #lookedAt = performance.now()
  #lastAt = Number.NEGATIVE_INFINITY
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS)

  /** Whether the process stood still after this moment. */
  isAny(afterMs: number): boolean {
    this.#look()
    return this.#lastAt > afterMs
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    if (now - this.#lookedAt > LOOK_EVERY_MS + MOST_LATE_MS) this.#lastAt = now
    this.#lookedAt = now
  }
}
