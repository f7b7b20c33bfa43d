// Splits a text into the words by which it is found. Case, diacritics and vowel marks that may be left out
// make no difference.

/** Changes whenever the line of any text does, so that stores make their search blocks again. */
export const LINE_VERSION = 1
/** Of one text, this many different words are searched, so that a hostile one does not fill the memory. */
const MAX_WORDS = 1000
/** The maximum of one word, and of the words of one text, in UTF-16 units. */
const MAX_WORD_LENGTH = 1000
const MAX_LINE_LENGTH = 16_384

// Scripts that do not separate words by spaces, and pictographs. Any part of such a text is found.
const UNSPACED = [
  ...['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'].map(
    (script) => `\\p{Script=${script}}`,
  ),
  '\\u30fc\\p{Extended_Pictographic}\\p{RI}',
].join('')
const RUNS = new RegExp(`([${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, 'gu')

// Marks on Latin, Greek, Cyrillic, Hebrew and Arabic letters, the Arabic tatweel, variation selectors, and
// invisible characters. The vowel signs of Indic scripts stay, because words differ by them.
const IGNORED = new RegExp(
  '[\\u0300-\\u036f\\u0591-\\u05c7\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06ed' +
    '\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe00-\\ufe0f\\p{Cf}]',
  'gu',
)

/** A word, or a run of characters of a script without spaces. */
export interface Run {
  readonly text: string
  readonly isUnspaced: boolean
  /** Where it is in the folded text. */
  readonly start: number
}

/** A text without the differences that a search ignores. */
export function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(IGNORED, '')
  // Upper case first, for letters that have two lower cases. A sigma at the end of a word is such a one.
  return plain.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}

/** The runs of a folded text. */
export function* runsOf(folded: string): Generator<Run> {
  for (const { 0: text, 1: unspaced, index } of folded.matchAll(RUNS))
    yield { text, isUnspaced: unspaced !== undefined, start: index }
}

/**
 * What is searched of a text: its different runs, up to the maximum, with a space before, between and after
 * them. Of a run in a script without spaces each character counts as a word. Empty without a run.
 */
export function lineOf(text: string): string {
  const kept = new Set<string>()
  let [words, length] = [0, 0]
  for (const { text: run, isUnspaced } of runsOf(fold(text))) {
    if (words >= MAX_WORDS || length >= MAX_LINE_LENGTH) break
    const part = isUnspaced ? [...run].slice(0, MAX_WORDS - words).join('') : run.slice(0, MAX_WORD_LENGTH)
    if (kept.has(part)) continue
    kept.add(part)
    words += isUnspaced ? [...part].length : 1
    length += part.length
  }
  return kept.size === 0 ? '' : ` ${[...kept].join(' ')} `
}
