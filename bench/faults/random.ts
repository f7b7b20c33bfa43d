// Random numbers from a seed, so that a run can be repeated (mulberry32).

export class Random {
  #state: number

  /** @param path names one stream of a seed: each part of a run has its own */
  constructor(seed: number, ...path: readonly number[]) {
    this.#state = seed >>> 0
    for (const step of path) this.#state = (Math.imul(this.next() * 2 ** 32, 0x9e3779b1) + step) >>> 0
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** A whole number from `least` to `most`, both inclusive. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least)
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.whole(0, from.length - 1)]
    if (one === undefined) throw new Error('nothing to pick from')
    return one
  }

  shuffle<T>(from: readonly T[]): T[] {
    const rest = [...from]
    return from.map(() => {
      const one = this.pick(rest)
      rest.splice(rest.indexOf(one), 1)
      return one
    })
  }
}
