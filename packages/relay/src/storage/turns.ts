// Writers take turns: with SQLite, an open transaction of one connection would make another block the whole process.

export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `work` once those that came before are through. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined) // Whoever asked hears of the failure; the next one starts afresh.
    return turn
  }
}
