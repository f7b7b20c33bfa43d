// Turns a pattern into a table, before any id is looked at. Deciding an id then reads one entry of the table
// for each of its characters, whatever the pattern is.
import { ID_CHARACTERS, type Pattern, PatternError, readPattern } from './pattern-syntax.ts'

const LONGEST_ID = 32
/**
 * A pattern may have this many characters once its repetitions are written out, and its table this many rows.
 * A list of memorable ids needs a few dozen of each.
 */
const MOST_POSITIONS = 500
const MOST_ROWS = 1000

/** A pattern in the form that decides ids. */
export interface PatternTable {
  readonly rows: number
  /** Whether the pattern matches the whole text. */
  matches(text: Pick<string, 'length' | 'charCodeAt'>): boolean
}

/**
 * @throws PatternError if the text is no pattern, has something that a table cannot decide, or is too large
 */
export function patternTableOf(text: string): PatternTable {
  const positions = new Positions()
  const { isOptional, first, last } = positions.add(readPattern(text))
  return tableOf({ ...positions, first, ends: new Set(last), isOptional })
}

// A part of the pattern: the positions that can come first and last, and whether it can match nothing.
interface Part {
  readonly isOptional: boolean
  readonly first: readonly number[]
  readonly last: readonly number[]
}

// Each character of the pattern, with its repetitions written out, is a position (Glushkov's construction).
class Positions {
  /** The characters of ids that a position accepts. */
  readonly accepts: string[] = []
  /** The positions that can follow a position. */
  readonly follow: Set<number>[] = []

  add(pattern: Pattern): Part {
    switch (pattern.kind) {
      case 'character':
        return this.#character(pattern.of)
      case 'sequence':
        return this.#sequence(pattern.parts)
      case 'choice':
        return eitherOf(pattern.options.map((option) => this.add(option)))
      case 'repetition':
        return this.#repetition(pattern.part, pattern.least, pattern.most)
      default:
        return pattern satisfies never
    }
  }

  #character(accepted: string): Part {
    if (this.accepts.length === MOST_POSITIONS)
      throw new PatternError(`is too large: more than ${MOST_POSITIONS} characters with its repetitions`)
    this.accepts.push(accepted)
    this.follow.push(new Set())
    const only = [this.accepts.length - 1]
    return { isOptional: false, first: only, last: only }
  }

  #sequence(parts: readonly Pattern[]): Part {
    let whole: Part = { isOptional: true, first: [], last: [] }
    for (const pattern of parts) {
      const next = this.add(pattern)
      this.#link(whole.last, next.first)
      whole = {
        isOptional: whole.isOptional && next.isOptional,
        first: whole.isOptional ? [...whole.first, ...next.first] : whole.first,
        last: next.isOptional ? [...whole.last, ...next.last] : next.last,
      }
    }
    return whole
  }

  // A copy follows only the copy before it: a copy that matches nothing could as well be the last one.
  #repetition(pattern: Pattern, least: number, most: number): Part {
    // No id is long enough to tell more repetitions than it has characters from any number of them.
    const isEndless = most >= LONGEST_ID
    const copies: Part[] = []
    for (let count = isEndless ? Math.max(1, Math.min(least, LONGEST_ID + 1)) : most; count > 0; count--) {
      const copy = this.add(pattern)
      this.#link(copies.at(-1)?.last ?? [], copy.first)
      copies.push(copy)
    }
    if (isEndless) this.#link(copies.at(-1)?.last ?? [], copies.at(-1)?.first ?? [])
    const isOptional = least === 0 || copies.every((copy) => copy.isOptional)
    const fewest = isOptional ? 1 : Math.min(least, LONGEST_ID + 1)
    return { isOptional, first: copies[0]?.first ?? [], last: copies.slice(fewest - 1).flatMap(lastOf) }
  }

  #link(from: readonly number[], to: readonly number[]): void {
    for (const position of from) for (const next of to) this.follow[position]?.add(next)
  }
}

function lastOf({ last }: Part): readonly number[] {
  return last
}

function eitherOf(options: readonly Part[]): Part {
  return {
    isOptional: options.some(({ isOptional }) => isOptional),
    first: options.flatMap(({ first }) => first),
    last: options.flatMap(({ last }) => last),
  }
}

const NOTHING_MATCHES = 0
const START = 1

// A row stands for the set of positions that the characters read so far may have led to. Each entry is the
// row to go to with one more character (the subset construction).
function tableOf(pattern: {
  accepts: readonly string[]
  follow: readonly ReadonlySet<number>[]
  first: readonly number[]
  ends: ReadonlySet<number>
  isOptional: boolean
}): PatternTable {
  const { columnOf, accepting, width } = columnsOf(pattern.accepts)
  const entries: number[] = new Array(width * 2).fill(NOTHING_MATCHES)
  const isEnd = [false, pattern.isOptional]
  const rowsByPositions = new Map<string, number>()
  const waiting: { row: number; reachable: readonly number[] }[] = [{ row: START, reachable: pattern.first }]
  for (const { row, reachable } of waiting) {
    for (const [column, isAccepting] of accepting.entries()) {
      const positions = reachable.filter((position) => isAccepting[position])
      if (positions.length === 0) continue
      const key = positions.join()
      let next = rowsByPositions.get(key)
      if (next === undefined) {
        next = isEnd.length
        if (next > MOST_ROWS)
          throw new PatternError(`is too large: its table has more than ${MOST_ROWS} rows`)
        rowsByPositions.set(key, next)
        isEnd.push(positions.some((position) => pattern.ends.has(position)))
        for (let entry = 0; entry < width; entry++) entries.push(NOTHING_MATCHES)
        const after = new Set(positions.flatMap((position) => [...(pattern.follow[position] ?? [])]))
        waiting.push({ row: next, reachable: [...after].sort((a, b) => a - b) })
      }
      entries[row * width + column] = next
    }
  }
  const table = Uint16Array.from(entries)
  return {
    rows: isEnd.length,
    matches: (text) => {
      let row = START
      for (let at = 0; at < text.length && row !== NOTHING_MATCHES; at++) {
        const column = columnOf.get(text.charCodeAt(at))
        row = column === undefined ? NOTHING_MATCHES : (table[row * width + column] ?? NOTHING_MATCHES)
      }
      return isEnd[row] === true
    },
  }
}

// The columns of a table. Characters that no position tells apart share one.
function columnsOf(accepts: readonly string[]): {
  /** By the character's code. */
  columnOf: ReadonlyMap<number, number>
  /** For each column, whether each position accepts its characters. */
  accepting: readonly (readonly boolean[])[]
  width: number
} {
  const columnOf = new Map<number, number>()
  const accepting: boolean[][] = []
  const columns = new Map<string, number>()
  for (const character of ID_CHARACTERS) {
    const isAccepting = accepts.map((accepted) => accepted.includes(character))
    const key = isAccepting.join()
    const column = columns.get(key) ?? accepting.length
    if (column === accepting.length) accepting.push(isAccepting)
    columns.set(key, column)
    columnOf.set(character.charCodeAt(0), column)
  }
  return { columnOf, accepting, width: accepting.length }
}
