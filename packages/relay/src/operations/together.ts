// Work that many ask for at the same time, done for all of them together. When a node has died, thousands of
// connections open at another one within a second. One query for 256 of them costs little more than one for
// each, and whatever their number, only one query at a time waits for the database.

/** How many items one run takes at most. */
const MOST_TOGETHER = 256

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Collects items while a run is under way. The next run takes all of them, up to 256. */
export class Together<Item, Result> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>
  #waiting: Waiting<Item, Result>[] = []
  #isRunning = false

  /** @param work returns the results in the order of its items. If it fails, it has failed for all of them */
  constructor(work: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#work = work
  }

  /** Resolves with the result for this item. What was written before the call is read. */
  do(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#isRunning) return
      this.#isRunning = true
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MOST_TOGETHER)
      try {
        const results = await this.#work(group.map(({ item }) => item))
        for (const [index, { resolve, reject }] of group.entries()) {
          if (index < results.length) resolve(results[index] as Result)
          else reject(new Error('work for several items has too few results'))
        }
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#isRunning = false
  }
}
