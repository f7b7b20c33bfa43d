// Logs what can happen many times a second: at once, then at most once a minute.
import type { Clock } from './clock.ts'
import type { Log, LogFields } from './log.ts'

const AT_MOST_EVERY_MS = 60_000

export class RepeatedWarning {
  readonly #event: string
  readonly #log: Log
  readonly #clock: Clock
  #count = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(event: string, parts: { log: Log; clock: Clock }) {
    this.#event = event
    this.#log = parts.log
    this.#clock = parts.clock
  }

  /** Counts it. A line of the log has the number of times since the line before. */
  happened(fields: LogFields = {}, times = 1): void {
    this.#count += times
    const now = this.#clock.monotonic()
    if (now - this.#loggedAt < AT_MOST_EVERY_MS) return
    this.#log.warn(this.#event, { ...fields, count: this.#count })
    this.#count = 0
    this.#loggedAt = now
  }
}
