// Other people's text must reach the terminal only as text.
import { expect, test } from 'bun:test'
import { cells, cut, graphemes, sanitizeLine, sanitizeText } from './sanitize.ts'

test('all control characters except line breaks are removed', () => {
  const controls = [...Array(32).keys(), 127, ...Array.from({ length: 32 }, (_, at) => 128 + at)]
  for (const code of controls) {
    const text = sanitizeText(`a${String.fromCharCode(code)}b`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be removed
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  }
  expect(sanitizeText('one\r\ntwo\rthree\u2028four')).toBe('one\ntwo\nthree\nfour')
})

test('characters that reorder, hide or stack text are removed', () => {
  expect(sanitizeText('\u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff')).toBe('gnp.exe x ')
  expect(sanitizeText('a\u{e0041}b')).toBe('ab')
  expect(sanitizeText(`e${'\u0301'.repeat(50)}`).length).toBe(7)
  expect(sanitizeText('\ud800 alone').isWellFormed()).toBe(true)
})

test('ordinary text does not change', () => {
  for (const text of ['naïve café', '日本語', 'עברית', 'العربية', '👩‍👩‍👧 🇩🇪 👍🏽', 'हिन्दी', 'a\nb'])
    expect(sanitizeText(text)).toBe(text)
})

test('a nickname becomes one short line', () => {
  expect(sanitizeLine('  two\n lines\t ')).toBe('two lines')
  expect(cells(sanitizeLine('x'.repeat(100)))).toBe(40)
  expect(cells(sanitizeLine('日'.repeat(100), 11))).toBeLessThanOrEqual(11)
  expect(cut('short', 10)).toBe('short')
})

test('an emoji of several code points is one character', () => {
  expect(graphemes('👩‍👩‍👧é')).toEqual(['👩‍👩‍👧', 'é'])
})
