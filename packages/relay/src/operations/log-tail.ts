// The latest lines of the log, in memory.
import type { Clock } from './clock.ts'
import { type Log, type LogFields, type LogLevel, logLevels } from './log.ts'

/** So many lines are kept. */
const MOST_LINES = 500
/** What is longer of one field is cut. */
const MOST_CHARACTERS = 2000

/** A line of the log. */
export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: Exclude<LogLevel, 'silent'>
  readonly event: string
  /** The other fields as text, in their order. */
  readonly fields: Readonly<Record<string, string>>
}

export class LogTail {
  readonly #clock: Clock
  readonly #lines: LogLine[] = []
  #next = 0

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /** The same log. Its lines are kept here, too, as far as `level` lets them through. */
  kept(log: Log, level: LogLevel): Log {
    const most = logLevels.indexOf(level)
    const at =
      (name: LogLine['level']) =>
      (event: string, fields: LogFields = {}): void => {
        if (logLevels.indexOf(name) <= most)
          this.#keep({ at: this.#clock.now(), level: name, event, fields: textsOf(fields) })
        log[name](event, fields)
      }
    return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
  }

  /** The lines, newest first. */
  latest(): LogLine[] {
    return [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)].reverse()
  }

  #keep(line: LogLine): void {
    this.#lines[this.#next] = line
    this.#next = (this.#next + 1) % MOST_LINES
  }
}

function textsOf(fields: LogFields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, textOf(value).slice(0, MOST_CHARACTERS)]],
    ),
  )
}

function textOf(value: unknown): string {
  return value instanceof Error ? (value.stack ?? value.message) : String(value)
}
