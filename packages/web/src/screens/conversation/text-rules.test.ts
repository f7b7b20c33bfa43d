// The rules for the text of a message: links, folding, names of emoji, groups.
import { expect, test } from 'bun:test'
import { emojiList } from './emoji-list.ts'
import { findEmoji, wordAt } from './emoji-words.ts'
import { foldedLength } from './folding.ts'
import { isMisleading, partsOf } from './links.ts'

const linksIn = (text: string): readonly (string | undefined)[] =>
  partsOf(text).flatMap(({ text: shown, href }) => (href === undefined ? [] : [shown, href]))

test('addresses of the web and of mail are links, without the end of the sentence', () => {
  expect(linksIn('See https://example.org/a?b=c#d.')).toEqual([
    'https://example.org/a?b=c#d',
    'https://example.org/a?b=c#d',
  ])
  expect(linksIn('(www.example.org)')).toEqual(['www.example.org', 'https://www.example.org/'])
  expect(linksIn('https://en.wikipedia.org/wiki/Tea_(drink)!')).toEqual([
    'https://en.wikipedia.org/wiki/Tea_(drink)',
    'https://en.wikipedia.org/wiki/Tea_(drink)',
  ])
  expect(linksIn('mailto:anna@example.org')).toEqual(['mailto:anna@example.org', 'mailto:anna@example.org'])
})

test('nothing else is a link', () => {
  for (const text of [
    'javascript:alert(1)',
    'data:text/html,<script>',
    'file:///etc/passwd',
    'intent://x#Intent;end',
    'http://',
    'https://[',
    'mailto:',
    'www.',
    'example.org',
  ])
    expect(linksIn(text), text).toEqual([])
})

test('joined, the parts are the text', () => {
  const text = 'one https://a.example/ two\nwww.b.example, (https://c.example/(d)) https:// three'
  expect(
    partsOf(text)
      .map((part) => part.text)
      .join(''),
  ).toBe(text)
})

test('an address that is not what it seems is shown before it is opened', () => {
  const isOdd = (text: string): boolean =>
    partsOf(text).some(({ text: shown, href }) => href !== undefined && isMisleading({ text: shown, href }))
  for (const honest of [
    'https://example.org',
    'HTTPS://Example.ORG/Path',
    'www.example.org',
    'http://example.org/a?b=c',
    'https://example.org/übung',
    'mailto:anna@example.org',
  ])
    expect(isOdd(honest), honest).toBe(false)
  for (const odd of [
    'https://good.example@evil.example/',
    'https://аpple.com/',
    'https://example.org\\@evil.example',
    'https://0x7f.1/',
    'https://example.org/a/../b',
  ])
    expect(isOdd(odd), odd).toBe(true)
})

test('a long text is folded, a text a little longer than that is not', () => {
  expect(foldedLength('x'.repeat(1300))).toBe(1300)
  expect(foldedLength('x'.repeat(60_000))).toBe(1200)
  const lines = 'line\n'.repeat(60)
  expect(lines.slice(0, foldedLength(lines)).split('\n')).toHaveLength(20)
  expect(foldedLength(`${'x'.repeat(1199)}😀${'x'.repeat(400)}`)).toBe(1199)
})

test('a word after a colon names emoji', () => {
  expect(wordAt('so :smi', 7)).toBe('smi')
  expect(wordAt('so :smi', 6)).toBe('sm')
  for (const [text, why] of [
    ['10:30', 'a time'],
    ['a:smi', 'no space before'],
    [':s', 'too short'],
    [': smi', 'a space between'],
  ] as const)
    expect(wordAt(text, text.length), why).toBeUndefined()
  expect(findEmoji(emojiList, 'smile').map(({ name }) => name)).toEqual(['smile', 'smiley', 'sweat_smile'])
  expect(findEmoji(emojiList, 'xyz')).toEqual([])
})

test('every emoji has a name that can be typed, once', () => {
  const names = emojiList.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, character } of emojiList) {
    expect(wordAt(`:${name}`, name.length + 1), name).toBe(name)
    expect(character, name).toMatch(/\p{Extended_Pictographic}|\p{Emoji_Presentation}/u)
  }
})
