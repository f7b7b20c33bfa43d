// What a search result shows of a text.
import { expect, test } from 'bun:test'
import { snippetOf } from './snippet.ts'

const rangeOf = (text: string, word: string) => ({
  start: text.indexOf(word),
  end: text.indexOf(word) + word.length,
})
const shown = (text: string, ...words: string[]): string =>
  snippetOf(
    text,
    words.map((word) => rangeOf(text, word)),
  )
    .map((piece) => (piece.isFound ? `[${piece.text}]` : piece.text))
    .join('')

test('a short text is shown whole, with what was found marked', () => {
  expect(shown('Green tea, black tea', 'tea', 'black')).toBe('Green [tea], [black] tea')
  expect(shown('no range')).toBe('no range')
})

test('a long text is cut before the first found word, at a word, and after a line or two', () => {
  const text = `${'many words come first '.repeat(20)}oolong ${'and many follow '.repeat(40)}`
  const snippet = shown(text, 'oolong')
  expect(snippet).toMatch(/^…[a-z ]{20,40}\[oolong\] and many/)
  expect(snippet.length).toBeLessThan(170)
  expect(snippet.endsWith('…')).toBe(true)
})

test('no character is cut in two, and ranges that overlap are marked once', () => {
  const text = `${'😀'.repeat(60)}tea`
  expect(shown(text, 'tea')).toMatch(/^…(?:😀)+\[tea\]$/u)
  expect(
    snippetOf('oolong', [
      { start: 0, end: 4 },
      { start: 2, end: 6 },
    ]),
  ).toEqual([
    { text: 'oolo', isFound: true },
    { text: 'ng', isFound: false },
  ])
})
