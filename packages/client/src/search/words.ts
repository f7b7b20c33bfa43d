// Splits a text into the words by which it is found. Case, diacritics and vowel marks that may be left out
// make no difference.

/** Changes whenever the words of any text do, so that stores index their messages again. */
export const WORDS_VERSION = 1
/** Of one text, this many different words are searched, so that a hostile one does not fill the store. */
const MAX_WORDS = 1000
/** An index holds only this much of a word, in UTF-16 units. */
const MAX_WORD_LENGTH = 40

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

/** The words of a text. */
export interface Words {
  /** All runs in the order of the text, with a space before, between and after them. */
  readonly line: string
  /** What an index holds: words, and pairs of adjacent characters of scripts without spaces. */
  readonly entries: ReadonlySet<string>
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

/** The entries of an index that a run has. The last character of an unspaced run is an entry by itself. */
export function entriesOf({ text, isUnspaced }: Pick<Run, 'text' | 'isUnspaced'>): string[] {
  if (!isUnspaced) return [text.slice(0, MAX_WORD_LENGTH)]
  const characters = [...text]
  return characters.map((character, at) => character + (characters[at + 1] ?? ''))
}

/** The words of a text, up to the maximum. */
export function wordsOf(text: string): Words {
  const entries = new Set<string>()
  let line = ' '
  for (const run of runsOf(fold(text))) {
    const room = MAX_WORDS - entries.size
    if (room <= 0) break
    const kept = run.isUnspaced ? { ...run, text: [...run.text].slice(0, room).join('') } : run
    for (const entry of entriesOf(kept)) entries.add(entry)
    line += `${kept.text} `
  }
  return { line, entries }
}
