// The rules for the text of a message: links, folding, names of emoji, groups.
import { expect, test } from 'bun:test'
import type { StoredMessage } from '@sotto/client'
import { emojiList as arabic } from '../../texts/ar/emoji.ts'
import { emojiList as english } from '../../texts/en/emoji.ts'
import { en } from '../../texts/en/en.ts'
import { emojiFor, findEmoji, wordAt } from './emoji-words.ts'
import { foldedLength } from './folding.ts'
import { estimatedHeight } from './grouping.ts'
import { isMisleading, partsOf } from './links.ts'
import { roomOf } from './message-room.ts'
import { transcriptOf } from './transcript.ts'

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
  const named = (list: typeof english, word: string): string[] =>
    findEmoji(list, word).map(({ name }) => name)
  expect(named(english, 'smile')).toEqual(['smile', 'smiley', 'sweat_smile'])
  expect(named(english, 'Smiley')).toEqual(['smiley'])
  expect(named(english, 'xyz')).toEqual([])
})

test('emoji are found by Arabic names, as people type them', async () => {
  const found = async (typed: string): Promise<string[]> => {
    const word = wordAt(typed, typed.length) ?? ''
    return findEmoji(await emojiFor(word), word).map(({ character }) => character)
  }
  expect(await found('أهلا :قلب')).toContain('❤️')
  expect(await found(':ابتسامه')).toContain('🙂')
  expect(await found(':اعجاب')).toEqual(['👍'])
  expect(await found(':عِناق')).toEqual(['🤗'])
  expect(await found(':ازرق')).toEqual(['💙'])
})

test('every emoji has a name that can be typed, once', () => {
  for (const list of [english, arabic]) {
    const names = list.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(150)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, character } of list) {
      expect(wordAt(`:${name}`, name.length + 1), name).toBe(name)
      expect(character, name).toMatch(/^(?:\p{Extended_Pictographic}|\p{Emoji_Presentation})\ufe0f?$/u)
    }
  }
})

test('a message that nears its limit says how much room is left', () => {
  expect(roomOf('x'.repeat(40_000), undefined)).toBeUndefined()
  expect(roomOf('x'.repeat(49_000), undefined)).toBe(124)
  expect(roomOf('x'.repeat(49_130), undefined)).toBe(-6)
  expect(roomOf('ب'.repeat(24_500), undefined)).toBe(62)
  // What says which message it answers takes room, too.
  expect(roomOf('x'.repeat(49_000), 'an id')).toBeLessThan(124)
})

const message = (fields: object): StoredMessage => ({
  id: 'id' as StoredMessage['id'],
  conversationId: 'conversation' as StoredMessage['conversationId'],
  text: 'Hello',
  isMe: false,
  time: new Date(2026, 2, 12, 14, 5).getTime(),
  status: 'sent',
  ...fields,
})

test('one message is copied as its text, several with their times and names', () => {
  const file = message({ text: `[file]m_${'a'.repeat(22)}|plan.pdf|9`, msgType: 'file', isMe: true })
  expect(transcriptOf([message({})], 'Bob', en)).toBe('Hello')
  expect(transcriptOf([file], 'Bob', en)).toBe('File: plan.pdf')
  expect(transcriptOf([message({}), file], 'Bob', en).replace(/\u202f/g, ' ')).toBe(
    '[3/12/26, 2:05 PM] Bob: Hello\n[3/12/26, 2:05 PM] You: File: plan.pdf',
  )
  const words = 'the way '.repeat(100)
  const image = message({ text: `[img]m_${'a'.repeat(22)}`, msgType: 'image', mediaUrl: 'x', words })
  expect(transcriptOf([image], 'Bob', en)).toBe(words)
  expect(transcriptOf([message({}), image], 'Bob', en)).toEndWith(`: ${words}`)
})

test('the height of a row is estimated by its lines, its time, and what stands above it', () => {
  const within = { isFirst: false, isNewDay: false, isFirstUnread: false }
  const heightOf = (text: string, more: object = {}): number =>
    estimatedHeight(message({ text, ...more }), within, 660)
  expect(heightOf('Hello')).toBe(38)
  expect(estimatedHeight(message({}), { ...within, isFirst: true }, 660)).toBe(44)
  expect(estimatedHeight(message({}), { ...within, isFirst: true, isNewDay: true }, 660)).toBe(87)
  // The time finds no room beside a line that is nearly full, nor beside several lines.
  expect(heightOf('x'.repeat(60))).toBe(55)
  expect(heightOf('x'.repeat(55))).toBe(38)
  expect(heightOf('x'.repeat(55), { isMe: true })).toBe(55)
  expect(heightOf('x'.repeat(80))).toBe(77)
  expect(heightOf('one\ntwo\nthree')).toBe(99)
  // Characters of twice the width.
  expect(heightOf('漢'.repeat(25))).toBe(38)
  expect(heightOf('漢'.repeat(40))).toBe(77)
  expect(heightOf('Hello', { replyToId: 'c' })).toBe(90)
  // Words below a picture have lines of their own.
  expect(heightOf('[img]m_a', { msgType: 'image' })).toBe(242)
  expect(heightOf('[img]m_a', { msgType: 'image', words: 'a\nb' })).toBe(286)
  expect(estimatedHeight(message({ text: 'x'.repeat(60) }), within, 320)).toBeGreaterThan(55)
})
