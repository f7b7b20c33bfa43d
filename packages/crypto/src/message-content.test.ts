import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import vectors from '../../../vectors/content.json'
import { anyString, anyText, expectCode } from '../test/expectations.ts'
import { isTextInPhoneList, phoneReading, webReading } from '../test/older-readers.ts'
import { decodeContent, encodeContent, type MessageContent, type OutgoingContent } from './message-content.ts'

const KEY = 'm_0123456789abcdefghijkl'
const [{ thumbnail: THUMBNAIL = '' } = {}] = vectors.sent
  .map(({ content }) => content)
  .filter((content) => 'thumbnail' in content)

describe('content is sent as this plaintext, and read back', () => {
  for (const { content, plaintext } of vectors.sent) {
    test(plaintext.slice(0, 100), () => {
      expect(encodeContent(content as OutgoingContent)).toBe(plaintext)
      expect(decodeContent(plaintext)).toEqual(content as MessageContent)
    })
  }

  test('`kind` is optional for text, and an empty `replyToId` is none', () => {
    expect(encodeContent({ text: 'hello', replyToId: '' })).toBe('hello')
  })

  test('content that receivers could not read is refused', async () => {
    for (const mediaKey of ['', 'a|b', 'a b', '../x', 'k'.repeat(257)])
      await expectCode('INVALID_ARGUMENT', () => encodeContent({ kind: 'image', mediaKey }))
    for (const number of [-1, 0.5, -0, Number.NaN, 2 ** 53]) {
      for (const content of [
        { kind: 'voice', mediaKey: KEY, durationMs: number },
        { kind: 'file', mediaKey: KEY, name: 'n', sizeBytes: number },
        { kind: 'image', mediaKey: KEY, sizeBytes: number },
        { kind: 'image', mediaKey: KEY, width: 4, height: number },
        { kind: 'voice', mediaKey: KEY, durationMs: 1, waveform: [number] },
      ] as const)
        await expectCode('INVALID_ARGUMENT', () => encodeContent(content))
    }
    for (const details of [{ width: 4 }, { thumbnail: 'data:image/png;base64,AAAA' }, { thumbnail: '' }])
      await expectCode('INVALID_ARGUMENT', () => encodeContent({ kind: 'image', mediaKey: KEY, ...details }))
    const waveform = Array.from({ length: 65 }, () => 1)
    await expectCode('INVALID_ARGUMENT', () =>
      encodeContent({ kind: 'voice', mediaKey: KEY, durationMs: 1, waveform }),
    )
    for (const invalid of [{ kind: 'film', mediaKey: KEY }, { text: 7 }])
      await expectCode('INVALID_ARGUMENT', () => encodeContent(invalid as never))
  })
})

describe('forms of other clients are read', () => {
  for (const { content, plaintext } of vectors.received)
    test(plaintext.slice(0, 100), () => expect(decodeContent(plaintext)).toEqual(content as MessageContent))
})

describe('details that are out of bounds are left out', () => {
  for (const { content, plaintext } of vectors.bounded)
    test(plaintext.slice(0, 160), () => expect(decodeContent(plaintext)).toEqual(content as MessageContent))
})

describe('a plaintext that only resembles a form is text', () => {
  for (const text of vectors.text)
    test(JSON.stringify(text), () => expect(decodeContent(text)).toEqual({ kind: 'text', text }))
})

test('a text that begins like a form is marked, also in a reply, and every other text is sent as it is', () => {
  for (const { text, plaintext } of vectors.marked) {
    expect(encodeContent({ text })).toBe(plaintext)
    expect(encodeContent({ text, replyToId: 'r' })).toBe(JSON.stringify({ text: plaintext, replyToId: 'r' }))
  }
  for (const text of vectors.unmarked) expect(encodeContent({ text })).toBe(text)
})

test('any content decodes to the same content, and older clients show it as what it is', () => {
  const mediaKey = fc.stringMatching(/^m_[A-Za-z0-9_-]{22}(\.h[A-Za-z0-9_-]{43})?$/)
  const whole = fc.maxSafeNat()
  const edge = fc.integer({ min: 1, max: 65_535 })
  const waveform = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 64 })
  const image = fc.record(
    { kind: fc.constant('image' as const), mediaKey, sizeBytes: whole, thumbnail: fc.constant(THUMBNAIL) },
    { requiredKeys: ['kind', 'mediaKey'] },
  )
  const content: fc.Arbitrary<MessageContent> = fc.oneof(
    anyTextLikeAForm().map((text) => ({ kind: 'text' as const, text })),
    image,
    fc.record({ kind: fc.constant('image' as const), mediaKey, width: edge, height: edge }),
    fc.record({ kind: fc.constant('file' as const), mediaKey, name: anyString(), sizeBytes: whole }),
    fc.record({ kind: fc.constant('voice' as const), mediaKey, durationMs: whole }),
    fc.record({ kind: fc.constant('voice' as const), mediaKey, durationMs: whole, waveform }),
  )
  const replyToId = fc.option(fc.string({ minLength: 1 }), { nil: undefined })
  fc.assert(
    fc.property(content, replyToId, (sent, reply) => {
      const plaintext = encodeContent({ ...sent, replyToId: reply })
      const replying = reply === undefined ? {} : { replyToId: reply }
      expect(decodeContent(plaintext)).toEqual({ ...sent, ...replying })
      for (const shown of [webReading(plaintext), phoneReading(plaintext)]) {
        if (sent.kind !== 'text')
          expect(shown).toEqual({ kind: sent.kind, shows: sent.mediaKey, ...replying })
        else {
          expect(shown).toMatchObject({ kind: 'text', ...replying })
          // What is shown is the text, or the text after one invisible character.
          expect([sent.text, `\u200b${sent.text}`]).toContain(String(shown.shows))
          expect(isTextInPhoneList(String(shown.shows))).toBe(true)
        }
      }
    }),
    { numRuns: 3000 },
  )
})

describe('an announcement of version 3', () => {
  const { announcer } = vectors
  const decode = (plaintext: string): unknown => decodeContent(plaintext, { sender: announcer })

  test('is sent and read as in the vectors', () => {
    for (const { content, plaintext } of vectors.announced) {
      expect(encodeContent(content as OutgoingContent, { announcer })).toBe(plaintext)
      expect(decode(plaintext)).toEqual({ ...(content as MessageContent), speaks: 3 })
    }
    for (const { text, plaintext } of vectors.ends_like_announced) {
      expect(encodeContent({ text })).toBe(plaintext)
      expect(decode(plaintext)).toEqual({ kind: 'text', text })
    }
  })

  test('says nothing if it names somebody else, or if nobody knows who the sender is', () => {
    for (const { content, plaintext } of vectors.announced_by_another)
      expect(decode(plaintext)).toEqual(content)
    for (const { content, plaintext } of vectors.announced)
      expect(decodeContent(plaintext)).toEqual(content as MessageContent)
  })

  test('names each character of Base64', () => {
    const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    for (const character of base64) {
      const key = `AA${character}A`
      const plaintext = encodeContent({ text: 'a' }, { announcer: key })
      expect(decodeContent(plaintext, { sender: key })).toEqual({ kind: 'text', text: 'a', speaks: 3 })
      for (const other of base64.replace(character, ''))
        expect(decodeContent(plaintext, { sender: `AA${other}A` })).toEqual({ kind: 'text', text: 'a' })
    }
  })

  test('changes nothing of any content, and older clients show the same', () => {
    const mark = encodeContent({ text: '' }, { announcer })
    const end = fc.array(fc.constantFrom(mark, '\u2063', '\u2061', '\u200b'), { maxLength: 3 })
    const text = fc.tuple(anyTextLikeAForm(), end).map(([first, last]) => first + last.join(''))
    const content = fc.oneof(
      text.map((each) => ({ kind: 'text' as const, text: each })),
      fc.constantFrom<MessageContent[]>(
        { kind: 'image', mediaKey: KEY, thumbnail: THUMBNAIL },
        { kind: 'file', mediaKey: KEY, name: 'a.pdf', sizeBytes: 1 },
        { kind: 'voice', mediaKey: KEY, durationMs: 5000, waveform: [1] },
      ),
    )
    const replyToId = fc.constantFrom(undefined, 'm-1')
    fc.assert(
      fc.property(content, replyToId, (sent, reply) => {
        const replying = reply === undefined ? {} : { replyToId: reply }
        const [plain, announced] = [{}, { announcer }].map((how) =>
          encodeContent({ ...sent, ...replying }, how),
        )
        expect(decode(plain ?? '')).toEqual({ ...sent, ...replying })
        expect(decode(announced ?? '')).toEqual({ ...sent, ...replying, speaks: 3 })
        for (const reading of [webReading, phoneReading]) {
          const [without, shown] = [reading(plain ?? ''), reading(announced ?? '')]
          expect({ ...shown, shows: visible(shown.shows) }).toEqual({
            ...without,
            shows: visible(without.shows),
          })
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('of another version is read as that, and one that is out of bounds is none', () => {
    const read = (speaks: unknown): unknown =>
      decodeContent(JSON.stringify({ text: 'a', replyToId: 'm', speaks, speaker: announcer.slice(0, 4) }), {
        sender: announcer,
      }).speaks
    expect([3, 4, 255].map(read)).toEqual([3, 4, 255])
    for (const speaks of [2, 256, 3.5, '3', null, {}]) expect(read(speaks)).toBeUndefined()
  })
})

/** What a person sees of a shown text. */
function visible(shown: unknown): string {
  return String(shown).replace(/[\u2061-\u2064\u200b]+$/, '')
}

/** Any text, and many that other clients would take for media or a reply. */
function anyTextLikeAForm(): fc.Arbitrary<string> {
  const members = fc.record(
    {
      type: fc.constantFrom('image', 'file', 'voice', 'text'),
      key: fc.constant(KEY),
      text: fc.constantFrom('a', `[img]${KEY}`),
      replyToId: fc.string(),
    },
    { requiredKeys: [] },
  )
  const json = fc.oneof(
    fc.json(),
    members.map((each) => JSON.stringify(each)),
  )
  const inJson = fc.tuple(fc.stringMatching(/^[ \t\n\r]{0,2}$/), json).map(([space, text]) => space + text)
  const brackets = fc.tuple(fc.constantFrom('[img]', '[image]', '[file]', '[voice]'), anyText())
  const marked = vectors.marked.flatMap(({ text, plaintext }) => [text, plaintext])
  return fc.oneof(
    anyText(),
    anyString(),
    inJson,
    brackets.map((parts) => parts.join('')),
    fc.constantFrom(...marked),
  )
}

test('any plaintext decodes to some content', () => {
  const nested = `{"text":${'['.repeat(100_000)}`
  const plaintexts = fc.oneof(
    anyString(),
    fc.json(),
    fc.constant(nested),
    fc.string().map((end) => `[file]${end}`),
  )
  fc.assert(
    fc.property(plaintexts, (plaintext) => {
      expect(['text', 'image', 'file', 'voice']).toContain(decodeContent(plaintext).kind)
    }),
  )
})
