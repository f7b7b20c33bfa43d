// What a search asks for, and where a text has it.
import type { TextRange } from './search-page.ts'
import { fold, type Run, runsOf } from './words.ts'

/** Of a query, this many words are searched, and this many characters read. */
const MAX_TERMS = 16
const MAX_QUERY_LENGTH = 1000

/** ASCII without marks after it, conjoining Hangul, or a character with its marks. */
const CLUSTERS = /([\0-\x7f]+(?!\p{M}))|[\u1100-\u11ff]+|\P{M}\p{M}*|\p{M}+/gsu

/** One word of a query. */
interface Term extends Pick<Run, 'text' | 'isUnspaced'> {
  /** Whether longer words are found as well: the user may still be typing it. */
  readonly isPrefix: boolean
}

/** A query in parts. */
export interface Query {
  readonly terms: readonly Term[]
}

/** Reads what the user typed. The last word is the beginning of one, unless something follows it. */
export function readQuery(typed: string): Query {
  const folded = fold(typed.slice(0, MAX_QUERY_LENGTH))
  const runs = [...runsOf(folded)].slice(0, MAX_TERMS)
  return {
    terms: runs.map(({ text, isUnspaced, start }) => ({
      text,
      isUnspaced,
      isPrefix: start + text.length === folded.length,
    })),
  }
}

/** A part of a text's line (see `lineOf`). */
export interface Needle {
  readonly text: string
  /** Whether only a space may come before it. */
  readonly beginsWord: boolean
}

/** What a text's line has, all of it, if the query finds the text. */
export function needlesOf({ terms }: Query): Needle[] {
  return terms.map(({ text, isUnspaced, isPrefix }) => ({
    text: isUnspaced || isPrefix ? text : `${text} `,
    beginsWord: !isUnspaced,
  }))
}

/** Where lines have a needle, from a position on; -1 if they do not. */
export function indexOfNeedle(lines: string, { text, beginsWord }: Needle, from = 0): number {
  let at = lines.indexOf(text, from)
  // To look for the space as well would take five times as long: every word begins with one.
  while (beginsWord && at !== -1 && lines[at - 1] !== ' ') at = lines.indexOf(text, at + 1)
  return at
}

/** The parts of a text that a query finds, in order, without overlaps. */
export function rangesIn({ terms }: Query, text: string): TextRange[] {
  // Folding changes lengths, so each character and the marks after it are folded by themselves, except ASCII.
  const starts: number[] = []
  const ends: number[] = []
  let folded = ''
  for (const { 0: cluster, 1: ascii, index } of text.matchAll(CLUSTERS)) {
    const piece = fold(cluster)
    folded += piece
    for (let at = 0; at < piece.length; at += 1) {
      starts.push(ascii ? index + at : index)
      ends.push(ascii ? index + at + 1 : index + cluster.length)
    }
  }
  const found: TextRange[] = []
  for (const run of runsOf(folded)) {
    for (const { at, length } of places(terms, run)) {
      const start = starts[run.start + at] ?? 0
      const end = ends[run.start + at + length - 1] ?? text.length
      found.push({ start, end })
    }
  }
  return merge(found.sort((a, b) => a.start - b.start))
}

/** Where a run has a term. */
function* places(terms: readonly Term[], run: Run): Generator<{ at: number; length: number }> {
  for (const { text, isUnspaced, isPrefix } of terms) {
    const { length } = text
    if (isUnspaced !== run.isUnspaced) continue
    if (!isUnspaced) {
      if (isPrefix ? run.text.startsWith(text) : run.text === text) yield { at: 0, length }
      continue
    }
    for (let at = run.text.indexOf(text); at !== -1; at = run.text.indexOf(text, at + length))
      yield { at, length }
  }
}

function merge(sorted: readonly TextRange[]): TextRange[] {
  const merged: TextRange[] = []
  for (const range of sorted) {
    const last = merged.at(-1)
    if (last && range.start < last.end)
      merged.splice(-1, 1, { start: last.start, end: Math.max(last.end, range.end) })
    else merged.push(range)
  }
  return merged
}
