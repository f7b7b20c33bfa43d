// Work that is requested more often than it can run: requests that come while it runs share the next run.

/** Runs work, one run at a time. */
export class Repeatable {
  readonly #work: () => Promise<void>
  readonly #onFailure: (error: unknown) => void
  #running: Promise<void> | undefined
  #isRequested = false
  #isStopped = false

  constructor(work: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#work = work
    this.#onFailure = onFailure
  }

  /** Lets the work run, after the running one if there is one. */
  request(): void {
    if (this.#isStopped) return
    this.#isRequested = true
    this.#running ??= this.#run()
  }

  /** Waits for the running work. None runs after it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isRequested && !this.#isStopped) {
      this.#isRequested = false
      await this.#work().catch(this.#onFailure)
    }
    this.#running = undefined
  }
}
