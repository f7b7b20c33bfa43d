// The inputs of one part of a run: where they come from, how many there were, and how they were answered.
import fc from 'fast-check'
import { Random } from '../bench/faults/random.ts'

/** The random choices of one input. */
export class Draws extends Random {
  /** A value of an arbitrary of fast-check. */
  of<T>(arbitrary: fc.Arbitrary<T>): T {
    const [value] = fc.sample(arbitrary, { seed: this.whole(0, 0x7fff_ffff), numRuns: 1 })
    return value as T // fast-check returns as many values as it is asked for.
  }
}

/** An input: its number, with which it can be made again, and its text. */
interface Input {
  readonly index: number
  readonly text: string
}

/** A promise that an input broke. */
export class Finding extends Error {
  override readonly name = 'Finding'
}

const RECENT = 16

/** The inputs of one part. */
export class Inputs {
  readonly part: string
  readonly seconds: number
  /** How many inputs there were. A sequence of frames has many, all with one index. */
  count = 0
  /** How often each kind of answer came. */
  readonly answers = new Map<string, number>()
  /** Throws a Finding if the last inputs broke something that no answer shows. */
  watch: () => void = () => undefined
  readonly #seed: number
  readonly #recent: Input[] = []
  #next: number
  #budgetMs = 0
  #endsAtMs = 0

  /** @param given.from the index of the first input */
  constructor(given: { part: string; seed: number; from: number; seconds: number }) {
    this.part = given.part
    this.seconds = given.seconds
    this.#seed = given.seed
    this.#next = given.from
  }

  /** The next lanes run for this share of the part's time. */
  spend(share: number): void {
    this.#budgetMs = this.seconds * share * 1000
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAtMs
  }

  /**
   * The index and the random choices of the next input. They follow from the seed, the part and the index
   * alone. Undefined when the time is over.
   */
  next(): { readonly index: number; readonly draws: Draws } | undefined {
    if (this.isOver) return undefined
    const index = this.#next
    this.#next += 1
    return { index, draws: new Draws(this.#seed, Bun.hash.crc32(this.part), index) }
  }

  /** Runs this for every input until the time is over, in so many lanes at a time. */
  async inLanes(lanes: number, run: (index: number, draws: Draws, lane: number) => Promise<void>) {
    const lane = async (number: number): Promise<void> => {
      for (let input = this.next(); input; input = this.next()) await run(input.index, input.draws, number)
    }
    this.#endsAtMs = performance.now() + this.#budgetMs
    try {
      await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))
    } finally {
      this.#endsAtMs = 0 // Ends the other lanes if one failed.
    }
  }

  /** Counts an input, just before it is sent. */
  sending(index: number, text: string): void {
    this.count += 1
    this.#recent.push({ index, text })
    if (this.#recent.length > RECENT) this.#recent.shift()
    this.watch()
  }

  /** Counts an answer. */
  answered(kind: string | number): void {
    this.answers.set(`${kind}`, (this.answers.get(`${kind}`) ?? 0) + 1)
  }

  /** The latest inputs, the last one first, cut and with escapes. */
  describeRecent(): string {
    const lines = this.#recent.toReversed().map(({ index, text }) => `  ${index}: ${escaped(text)}`)
    return lines.join('\n')
  }
}

/** A text on one line, cut. */
export function escaped(text: string): string {
  const cut = text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text
  return JSON.stringify(cut).replaceAll(/[\u007f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
