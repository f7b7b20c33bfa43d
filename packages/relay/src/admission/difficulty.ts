// How much work a registration takes: more while many people register, and as much as before when they do
// not. Each node counts in memory, from nothing at each start, and adds what the other nodes tell.
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'

const WINDOW_MS = 600_000
/** The window moves by this. */
const STEP_MS = 60_000
/** Each further zero needs this many times as many registrations. It is 16 times the work. */
const FACTOR = 4

interface Parts {
  readonly clock: Clock
  readonly log: Log
  /** The zeros of a proof of work at usual times, and the most that there can be. */
  readonly least: number
  readonly most: number
  /** How many registrations in ten minutes make it one zero more; undefined if none do. */
  readonly risesAt: number | undefined
}

export class Difficulty {
  readonly #parts: Parts
  /** Registrations by the step that they came in. */
  readonly #counts = new Map<number, number>()
  #more = 0
  #elsewhere = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Counts a registration. */
  registered(): void {
    const step = this.#step()
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1)
    this.look()
  }

  /** How many accounts registered at this node in the last ten minutes. */
  get registrations(): number {
    return this.#count()
  }

  /** Takes how many accounts registered at the other nodes in the last ten minutes. */
  countElsewhere(count: number): void {
    this.#elsewhere = count
    this.look()
  }

  /** How many zeros a new challenge asks for. */
  current(): number {
    this.look()
    return this.#parts.least + this.#more
  }

  /** Looks whether it rises or falls now. Runs periodically, too, so that the log says when it has fallen. */
  look(): void {
    const { risesAt, least, most, log } = this.#parts
    if (risesAt === undefined) return
    const count = this.#count() + this.#elsewhere
    const before = this.#more
    while (least + this.#more < most && count >= risesAt * FACTOR ** this.#more) this.#more++
    // It falls at half of what made it rise, so that it does not go up and down all the time.
    while (this.#more > 0 && count < (risesAt * FACTOR ** (this.#more - 1)) / 2) this.#more--
    if (this.#more === before) return
    const reason = `a proof of work needs ${least + this.#more} zeros`
    if (this.#more > before) log.warn('proof_of_work_rises', { count, reason })
    else log.info('proof_of_work_falls', { count, reason })
  }

  #count(): number {
    const oldest = this.#step() - WINDOW_MS / STEP_MS
    let sum = 0
    for (const [step, count] of this.#counts) {
      if (step <= oldest) this.#counts.delete(step)
      else sum += count
    }
    return sum
  }

  #step(): number {
    return Math.floor(this.#parts.clock.monotonic() / STEP_MS)
  }
}
