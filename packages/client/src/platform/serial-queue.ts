// A queue that runs work one after another, in the order of the calls.

/** A queue of work. Failed work does not block later work. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `work` once all earlier work has ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when all earlier work has ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}
