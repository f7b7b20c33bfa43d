// Makes other people's text safe to print: it cannot move the cursor, change colours or reorder a line.
import { cleanText } from '@sotto/protocol'

/** More marks than any script puts on one letter; they would cover the neighbouring lines. */
const EXCESS_MARKS = /(\p{M}{6})\p{M}+/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach the terminal
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g

/**
 * A text with any number of lines. Control characters, which begin escape sequences, become U+FFFD; a tab
 * becomes spaces.
 */
export function sanitizeText(text: string): string {
  const lines = text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '  ')
    .replace(CONTROLS, '\ufffd')
  return cleanText(lines).replace(EXCESS_MARKS, '$1')
}

/** One line of at most `maxCells` columns, such as a nickname. */
export function sanitizeLine(text: string, maxCells = 40): string {
  return cut(sanitizeText(text).replace(/\s+/g, ' ').trim(), maxCells)
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The characters of a text as people count them. */
export function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** The width of a text in columns. */
export function cells(text: string): number {
  return Bun.stringWidth(text)
}

/** Cuts a text to at most `maxCells` columns, with "…" at the end. */
export function cut(text: string, maxCells: number): string {
  if (cells(text) <= maxCells) return text
  let kept = ''
  let width = 0
  for (const grapheme of graphemes(text)) {
    width += cells(grapheme)
    if (width > maxCells - 1) break
    kept += grapheme
  }
  return `${kept}…`
}
