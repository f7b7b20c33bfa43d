// The writes of this process, by the upload and what they write of it: never two at once to one place.

interface UnderWay {
  readonly ending: AbortController
  readonly ended: Promise<unknown>
}

/** Whoever writes the same thing again has most often lost the connection the first attempt came by, so that one is ended. */
export class WriteQueue {
  readonly #underWay = new Map<string, UnderWay>()

  /** Ends all writes to an upload, and waits until they have. */
  async end(upload: string): Promise<void> {
    const ending = [...this.#underWay].filter(([name]) => name.startsWith(`${upload} `))
    for (const [, write] of ending) write.ending.abort()
    await Promise.all(ending.map(([, { ended }]) => ended))
  }

  /**
   * Ends the write of that part that is under way, waits until it has, and does `work`.
   * @param work its signal is given when another one wants to write, or `mostSeconds` are over
   */
  async take<T>(
    { upload, number }: { upload: string; number: number },
    mostSeconds: number,
    work: (ending: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const name = `${upload} ${number}`
    for (let before = this.#underWay.get(name); before; before = this.#underWay.get(name)) {
      before.ending.abort()
      await before.ended
    }
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(), mostSeconds * 1000)
    const done = work(ending.signal).finally(() => {
      clearTimeout(timer)
      this.#underWay.delete(name)
    })
    this.#underWay.set(name, { ending, ended: done.catch(() => undefined) })
    return await done
  }
}
