// Runs writers one at a time. With SQLite, a writer that waits for another connection's transaction blocks
// the process.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `work` after all earlier work has ended. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const running = this.#last.then(work)
    this.#last = running.catch(() => undefined) // `run` returns the failure; the next work runs all the same.
    return running
  }
}
