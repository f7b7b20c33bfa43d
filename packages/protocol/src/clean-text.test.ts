// Names and texts that other people chose: nothing invisible can change how they read, and no script loses
// what it needs.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyCharacter } from '../test/any-character.ts'
import { cleanName, cleanText } from './clean-text.ts'

test.each([
  ['reverses the text around it', 'the channel \u202egnp.exe\u202c', 'the channel gnp.exe'],
  ['isolates itself', '\u2066a\u2069\u2067b\u2069', 'ab'],
  ['marks a direction', '\u200ea\u200fb\u061cc', 'abc'],
  ['looks like another name', 'a\u200bd\ufeffa\u2060\u00ad\u034f', 'ada'],
  ['joins letters that do not join', 'a\u200cd\u200da\ufe0f', 'ada'],
  ['varies what has no variants', '1\ufe0f2\ufe00 b\u{e0100}', '12 b'],
  ['repeats a joiner or selector', 'م\u200c\u200cن 👁\ufe0f\ufe0f', 'م\u200cن 👁\ufe0f'],
  ['hides a text in tags', '🏴hi\u{e0068}\u{e0069}', '🏴hi'],
  ['is empty to the eye', '\u3164\u115f\uffa0\u200b \u2062', ''],
  ['breaks the line', 'a\nb\r\n\u2028c\u2029d\u0000\u009b\te', 'a b c d e'],
  ['controls a terminal', '\u001b[2Jred\u0007', '[2Jred'],
  ['begins and ends with spaces', ' \u00a0Ada\u3000', 'Ada'],
])('a name loses the characters with which it %s', (_what, given, shown) => {
  expect(cleanName(given)).toBe(shown)
})

test.each([
  ...['Кошки', 'قطط', 'می‌خواهم', 'naïve café', '猫', '葛\u{e0100}城', 'क्‍ष', 'അവന്‍', 'ශ්‍රී', 'עברית', '한국어'],
  ...['👩‍👩‍👧', '🏳️‍🌈', '❤️‍🔥', '👍🏽', '🇩🇪', '1️⃣', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '👩🏽‍🚀', '©︎', 'ᠮᠣᠩ᠋ᠭᠣᠯ', '♂️'],
])('a name stays as it is: %s', (name) => {
  expect(cleanName(name)).toBe(name)
})

test('a text keeps its line breaks and tabs, and unusual line breaks become usual ones', () => {
  expect(cleanText(' one\r\n\ttwo\u2028three\u000bfour \u202e\u0000')).toBe(' one\r\n\ttwo\nthree\nfour ')
})

describe('of any text', () => {
  const hostile = () =>
    fc.array(
      fc.oneof(
        anyCharacter(),
        fc.constantFrom('\u200c', '\u200d', '\ufe0f', '\ufe00', '\u202e', '\u{e0061}', '\u{e007f}', '\n'),
        fc.constantFrom('a', 'م', '\u094d', '👩', '🏴', '葛', '1', '\u20e3', '\ud800'),
      ),
    )

  test('cleaning twice is the same as cleaning once', () => {
    fc.assert(
      fc.property(hostile(), (characters) => {
        const name = cleanName(characters.join(''))
        expect(cleanName(name)).toBe(name)
      }),
    )
  })

  test('no control or bidirectional character is left in a name, and no visible one is lost', () => {
    const shownOf = (text: string) => text.replaceAll(/[\p{Cc}\p{DI}\s\ufff9-\ufffb]/gu, '')
    fc.assert(
      fc.property(hostile(), (characters) => {
        const given = characters.join('')
        const name = cleanName(given)
        expect(name).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u200b\u2060\ufeff\u2028\u2029]/u)
        expect(shownOf(name)).toBe(shownOf(given))
      }),
    )
  })
})

test('a long text is cleaned in linear time', () => {
  const text = 'م\u200c'.repeat(50_000)
  expect(cleanText(text).length).toBe(99_999)
})
