// Work that must not run twice at once: all who ask for it meanwhile get the same result.

export class SharedWork<K, T> {
  readonly #underWay = new Map<K, Promise<T>>()

  /** Runs `work`, or waits for the work of this key that is under way. */
  run(key: K, work: () => Promise<T>): Promise<T> {
    const underWay = this.#underWay.get(key)
    if (underWay) return underWay
    const begun = work().finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, begun)
    return begun
  }
}
