import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyString, anyText, expectCode, vectors } from '../test/expectations.ts'
import { decodeContent, encodeContent, type MessageContent } from './message-content.ts'

const KEY = 'm_0123456789abcdefghijkl'
const PROVEN = `${KEY}.h${'A'.repeat(43)}`

describe('content is sent as this plaintext', () => {
  const cases: [Parameters<typeof encodeContent>[0], string][] = [
    [{ text: 'hello' }, 'hello'],
    [{ kind: 'text', text: '' }, ''],
    [{ text: 'déjà vu 🔐', replyToId: 'local-abc' }, vectors.messages_v1[1]?.plaintext ?? ''],
    [{ text: 'hello', replyToId: '' }, 'hello'],
    [{ kind: 'image', mediaKey: KEY }, `[img]${KEY}`],
    [{ kind: 'image', mediaKey: PROVEN, replyToId: 'x' }, `{"text":"[img]${PROVEN}","replyToId":"x"}`],
    [{ kind: 'file', mediaKey: KEY, name: 'a|b.pdf', sizeBytes: 12 }, `[file]${KEY}|a|b.pdf|12`],
    [{ kind: 'voice', mediaKey: KEY, durationMs: 3400 }, `[voice]${KEY}|3400`],
  ]
  for (const [content, plaintext] of cases) {
    test(plaintext, () => {
      expect(encodeContent(content)).toBe(plaintext)
      const { replyToId, ...rest } = content
      const expected = { ...rest, kind: content.kind ?? 'text', ...(replyToId ? { replyToId } : {}) }
      expect(decodeContent(plaintext)).toEqual(expected as MessageContent)
    })
  }

  test('content that receivers could not read is refused', async () => {
    for (const mediaKey of ['', 'a|b', 'a b', '../x', 'k'.repeat(257)]) {
      await expectCode('INVALID_ARGUMENT', () => encodeContent({ kind: 'image', mediaKey }))
    }
    for (const number of [-1, 0.5, Number.NaN, 2 ** 53]) {
      await expectCode('INVALID_ARGUMENT', () =>
        encodeContent({ kind: 'voice', mediaKey: KEY, durationMs: number }),
      )
      await expectCode('INVALID_ARGUMENT', () =>
        encodeContent({ kind: 'file', mediaKey: KEY, name: 'n', sizeBytes: number }),
      )
    }
  })
})

describe('JSON from other clients is read', () => {
  const cases: [string, MessageContent][] = [
    [`{"type":"image","key":"${KEY}"}`, { kind: 'image', mediaKey: KEY }],
    [
      `{"type":"image","key":"${KEY}","width":4,"thumbnail":"AAAA"}`,
      { kind: 'image', mediaKey: KEY, thumbnail: 'AAAA' },
    ],
    [
      `{"type":"file","key":"${KEY}","name":"a.pdf","size":12}`,
      { kind: 'file', mediaKey: KEY, name: 'a.pdf', sizeBytes: 12 },
    ],
    [`{"type":"voice","key":"${KEY}","durationMs":1500}`, { kind: 'voice', mediaKey: KEY, durationMs: 1500 }],
    [`{"type":"voice","key":"${KEY}","duration":1500.6}`, { kind: 'voice', mediaKey: KEY, durationMs: 1501 }],
    [`{"type":"image","key":"${KEY}","replyToId":"x"}`, { kind: 'image', mediaKey: KEY, replyToId: 'x' }],
    ['{"text":"hi","replyToId":"x","later":1}', { kind: 'text', text: 'hi', replyToId: 'x' }],
    ['{"text":"hi","replyToId":null}', { kind: 'text', text: 'hi' }],
    ['{"text":"hi","replyToId":""}', { kind: 'text', text: 'hi' }],
    ['{"text":"hi"}', { kind: 'text', text: 'hi' }],
    [`{"text":"[img]${KEY}"}`, { kind: 'image', mediaKey: KEY }],
  ]
  for (const [plaintext, content] of cases)
    test(plaintext, () => expect(decodeContent(plaintext)).toEqual(content))
})

describe('a plaintext that only resembles a form is text', () => {
  const texts = [
    '{}',
    '{"text":7}',
    '{"text":"hi","priority":"high"}',
    '{"text":"hi"',
    ' {"text":"hi"}',
    '["text"]',
    '{"type":"image"}',
    '{"type":"image","key":"a b"}',
    `{"type":"file","key":"${KEY}","name":"a.pdf","size":"12"}`,
    `{"type":"voice","key":"${KEY}"}`,
    `{"type":"voice","key":"${KEY}","duration":-0.4}`,
    `{"type":"file","key":"${KEY}","name":"a","size":-0}`,
    '{"__proto__":{"text":"hi"}}',
    '[img]',
    '[img] see above',
    `[img]${KEY}\n`,
    `[file]${KEY}|a.pdf`,
    `[file]${KEY}|a.pdf|many`,
    `[file]${KEY}|a.pdf|9007199254740993`,
    `[voice]${KEY}`,
    `[voice]${KEY}|-1`,
    `[IMG]${KEY}`,
  ]
  for (const text of texts) {
    test(JSON.stringify(text), () => {
      expect(decodeContent(text)).toEqual({ kind: 'text', text })
      expect(encodeContent({ text })).toBe(text)
    })
  }
})

test('text that has the syntax of a form is wrapped and arrives unchanged', () => {
  const texts = [
    '{"text":"hi"}',
    '{"text":"hi","replyToId":"x"}',
    '{"text":"hi","type":"text"}',
    `{"type":"image","key":"${KEY}"}`,
    `[img]${KEY}`,
    `[file]${KEY}|a|1`,
    `[voice]${KEY}|1`,
    `{"text":"[img]${KEY}"}`,
    `{"text":"[img]${KEY}","type":"text"}`,
  ]
  for (const text of texts) {
    expect(encodeContent({ text })).not.toBe(text)
    expect(decodeContent(encodeContent({ text }))).toEqual({ kind: 'text', text })
    expect(decodeContent(encodeContent({ text, replyToId: 'r' }))).toEqual({
      kind: 'text',
      text,
      replyToId: 'r',
    })
    // Also nested: a quotation of a quotation.
    const twice = encodeContent({ text: encodeContent({ text }) })
    expect(decodeContent(twice)).toEqual({ kind: 'text', text: encodeContent({ text }) })
  }
})

test('any content decodes to the same content', () => {
  const mediaKey = fc.stringMatching(/^m_[A-Za-z0-9_-]{22}$/)
  const whole = fc.maxSafeNat()
  const form = fc.constantFrom(
    `[img]${KEY}`,
    `[file]${KEY}|n|1`,
    '{"text":"a"}',
    `{"type":"image","key":"${KEY}"}`,
  )
  const text = fc.oneof(
    anyText(),
    anyString(),
    form,
    fc.json(),
    form.map((inner) => JSON.stringify({ text: inner })),
  )
  const content: fc.Arbitrary<MessageContent> = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), text }),
    fc.record({ kind: fc.constant('image' as const), mediaKey }),
    fc.record({ kind: fc.constant('file' as const), mediaKey, name: anyString(), sizeBytes: whole }),
    fc.record({ kind: fc.constant('voice' as const), mediaKey, durationMs: whole }),
  )
  const replyToId = fc.option(fc.string({ minLength: 1 }), { nil: undefined })
  fc.assert(
    fc.property(content, replyToId, (sent, reply) => {
      const expected = reply === undefined ? sent : { ...sent, replyToId: reply }
      expect(decodeContent(encodeContent({ ...sent, replyToId: reply }))).toEqual(expected)
    }),
    { numRuns: 2000 },
  )
})

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
