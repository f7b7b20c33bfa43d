// Bounds how much work of one kind is under way at the same time. The rest waits in its order.

export class AtOnce {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Does the work once there is a place for it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next)
        next() // It gets the place.
      else this.#running -= 1
    }
  }
}
