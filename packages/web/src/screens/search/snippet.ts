// The part of a found text that shows why it was found.
import type { TextRange } from '@sotto/client'

/** A piece of a snippet. */
export interface Piece {
  readonly text: string
  /** It is what was looked for. */
  readonly isFound: boolean
}

/** So much is shown before the first word that was found, in UTF-16 units, and in all. */
const BEFORE = 30
const LENGTH = 160

/** Cuts a text to its first found word, and splits it at the found ones. `ranges` are in order. */
export function snippetOf(text: string, ranges: readonly TextRange[]): readonly Piece[] {
  const first = ranges[0]?.start ?? 0
  const from = first <= BEFORE ? 0 : wordBefore(text, first - BEFORE)
  const to = Math.min(text.length, from + LENGTH)
  const pieces: Piece[] = from > 0 ? [{ text: '…', isFound: false }] : []
  let done = from
  for (const { start, end } of ranges) {
    if (start < done || start >= to) continue
    if (start > done) pieces.push({ text: text.slice(done, start), isFound: false })
    done = Math.min(end, to)
    pieces.push({ text: text.slice(start, done), isFound: true })
  }
  if (done < to) pieces.push({ text: text.slice(done, to), isFound: false })
  if (to < text.length) pieces.push({ text: '…', isFound: false })
  return pieces
}

/** The beginning of the word at a position, if it is near; a surrogate pair is never cut. */
function wordBefore(text: string, position: number): number {
  const space = text.lastIndexOf(' ', position)
  if (space >= 0 && position - space < BEFORE) return space + 1
  const code = text.charCodeAt(position)
  return code >= 0xdc00 && code < 0xe000 ? position - 1 : position
}
