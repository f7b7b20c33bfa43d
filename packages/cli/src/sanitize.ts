// Text of other people, made safe to print: nothing in it may move the cursor, change colours or reorder a line.

/** Bidirectional controls can make a line read as what it is not; tags and fillers hide text in it. */
const INVISIBLE =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
/** More marks than any script puts on one letter would spill over the lines around. */
const PILED_MARKS = /(\p{M}{6})\p{M}+/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach the terminal
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g

/** A text of any number of lines. Controls, with which escape sequences begin, become U+FFFD; a tab becomes spaces. */
export function sanitizeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '  ')
    .replace(CONTROLS, '\ufffd')
    .replace(INVISIBLE, '')
    .replace(PILED_MARKS, '$1')
}

/** A text that must be one line of at most `maxCells` columns, such as a nickname. */
export function sanitizeLine(text: string, maxCells = 40): string {
  return cut(sanitizeText(text).replace(/\s+/g, ' ').trim(), maxCells)
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The characters of a text as people count them. */
export function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** How many columns a text takes. */
export function cells(text: string): number {
  return Bun.stringWidth(text)
}

/** A text of at most `maxCells` columns, cut with "…". */
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
