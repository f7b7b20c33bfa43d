// Things done one after another, in the order they were asked for.

/** A line of things to do. One that fails holds up nothing after it. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `run` once everything asked for before has ended. */
  take<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when everything asked for so far has ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}
