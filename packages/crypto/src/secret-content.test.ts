import { expect, test } from 'bun:test'
import fc from 'fast-check'
import contentVectors from '../../../vectors/content.json'
import { anyBytes, anyText, codeOf, expectCode } from '../test/expectations.ts'
import { decodeBase64 } from './base64.ts'
import { ByteWriter } from './byte-record.ts'
import { encodeUtf8 } from './bytes.ts'
import { MAX_UNKNOWN_MEMBERS } from './content-members.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { pad } from './padding.ts'
import { decodeSecretContent, encodeSecretContent } from './secret-content.ts'
import { MAX_SECRET_CONTENT_BYTES, MAX_SECRET_TEXT_BYTES, type SecretContent } from './secret-kinds.ts'

const FILE = { mediaKey: 'm_0123456789abcdefghijkl', fileKey: new Uint8Array(32).fill(7), sizeBytes: 482_133 }
const JPEG = decodeBase64(
  contentVectors.sent
    .flatMap(({ content }) => ('thumbnail' in content ? [content.thumbnail ?? ''] : []))[0]
    ?.split(',')[1] ?? '',
)
const attachment = { kind: 'attachment', isImage: true, ...FILE } as const
const voice = { kind: 'voice', ...FILE, durationMs: 5000 } as const

const examples: readonly SecretContent[] = [
  { kind: 'text', text: 'déjà vu 🔐' },
  { kind: 'text', text: '', replyToId: 'm-1' },
  { kind: 'text', text: 'x'.repeat(MAX_SECRET_TEXT_BYTES) },
  { kind: 'text', text: 'edited', at: 8_640_000_000_000_000 },
  { kind: 'text_form', text: '[img]m_key' },
  { kind: 'edit', messageId: 'm-1', text: 'better', at: 1_790_000_000_000 },
  { kind: 'reaction', messageId: 'm-1', isOwn: false, reaction: '👍', at: 1 },
  { kind: 'reaction', messageId: 'm-1', isOwn: true, at: 2 },
  { kind: 'deletion', messageId: 'm-1' },
  { ...attachment, isImage: false, name: 'a.pdf' },
  { ...attachment, dimensions: { width: 1600, height: 1200 }, caption: 'here', replyToId: 'm-1' },
  { ...attachment, preview: { place: 'inside', jpeg: JPEG } },
  { ...attachment, preview: { place: 'file', ...FILE, sizeBytes: 9000 } },
  voice,
  { ...voice, waveform: [0, 50, 100], replyToId: 'm-1' },
  { kind: 'profile', at: 1 },
  { kind: 'profile', name: 'Alice', picture: FILE, at: 1_790_000_000_000 },
  { kind: 'text', text: 'new', unknown: [{ number: 99, value: Uint8Array.of(1, 2) }] },
]

for (const content of examples) {
  test(`${content.kind} is decoded to itself: ${Object.keys(content).join(', ')}`, () => {
    const bytes = encodeSecretContent(content)
    expect(decodeSecretContent(bytes)).toStrictEqual(content)
    expect(encodeSecretContent(decodeSecretContent(bytes))).toEqual(bytes)
  })
}

test('an encoding has few bytes, and one form whatever the order of members', () => {
  expect(bytesToHex(encodeSecretContent({ kind: 'text', text: 'hi' }))).toBe('010101026869')
  const reordered = encodeSecretContent({ replyToId: 'r', text: 'hi', kind: 'text' })
  expect(bytesToHex(reordered)).toBe('010101026869020172')
})

test('any content is decoded to itself', () => {
  const id = fc.stringMatching(/^[\x21-\x7e]{1,128}$/)
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const whole = fc.maxSafeNat()
  const time = fc.nat({ max: 8_640_000_000_000_000 })
  const edge = fc.integer({ min: 1, max: 65_535 })
  const file = fc.record({
    mediaKey: fc.stringMatching(/^[A-Za-z0-9._~-]{1,256}$/),
    fileKey: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new Uint8Array(bytes)),
    sizeBytes: whole,
  })
  const unknown = fc.uniqueArray(
    fc.record({ number: fc.integer({ min: 100, max: 1e6 }), value: anyBytes(20) }),
    { selector: ({ number }) => number, maxLength: 5, minLength: 1 },
  )
  const inOrder = optional(
    unknown.map((members) => members.toSorted((one, other) => one.number - other.number)),
  )
  const one = fc.constant
  const content: fc.Arbitrary<SecretContent> = fc.oneof(
    fc.record({ kind: one('text' as const), text: anyText(), replyToId: optional(id), unknown: inOrder }),
    fc.record({ kind: one('edit' as const), text: anyText(), messageId: id, at: time, unknown: inOrder }),
    fc.record({
      ...{ kind: one('reaction' as const), messageId: id, isOwn: fc.boolean(), at: time, unknown: inOrder },
      reaction: optional(fc.constantFrom('👍', '❤️', '👨‍👩‍👧‍👦')),
    }),
    fc
      .tuple(file, anyText(), edge, edge, optional(id), inOrder)
      .map(([sealed, caption, width, height, replyToId, more]) => ({
        ...{ ...attachment, ...sealed, caption, dimensions: { width, height }, replyToId, unknown: more },
      })),
    fc
      .tuple(file, whole, fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 64 }))
      .map(([sealed, durationMs, waveform]) => ({ ...voice, ...sealed, durationMs, waveform })),
  )
  fc.assert(
    fc.property(content, (sent) => {
      const bytes = encodeSecretContent(sent)
      expect(decodeSecretContent(bytes)).toEqual(sent)
      expect(encodeSecretContent(decodeSecretContent(bytes))).toEqual(bytes)
    }),
    { numRuns: 500 },
  )
})

test('a later format and an unknown kind are kept as they are', () => {
  for (const hex of ['0201', '02ff01aabb', '0109', '010a', '01e807010161']) {
    const content = { kind: 'unknown', bytes: hexToBytes(hex) } as const
    expect(decodeSecretContent(content.bytes)).toEqual(content)
    expect(bytesToHex(encodeSecretContent(content))).toBe(hex)
  }
})

/** The encoding of a kind with these members, right or not. */
function written(kind: number, ...members: readonly (readonly [number, Uint8Array | string])[]): Uint8Array {
  const writer = new ByteWriter().number(1).number(kind)
  for (const [number, value] of members) {
    writer.number(number).bytes(typeof value === 'string' ? encodeUtf8(value) : value)
  }
  return writer.done()
}

const file = [
  [6, 'm_key'],
  [7, new Uint8Array(32)],
  [8, Uint8Array.of(9)],
] as const

const refused: Record<string, Uint8Array> = {
  nothing: new Uint8Array(0),
  'a format without a kind': hexToBytes('01'),
  'format 0': hexToBytes('0001'),
  'a number that is not in its shortest form': hexToBytes('810001'),
  'a text without its text': written(1),
  'a member twice': written(1, [1, 'a'], [1, 'b']),
  'members out of order': written(1, [2, 'r'], [1, 'a']),
  'a member that is cut off': written(1, [1, 'abc']).subarray(0, -1),
  'a text that is not UTF-8': written(1, [1, Uint8Array.of(0xc3, 0x28)]),
  'a text that is too long': written(1, [1, 'x'.repeat(MAX_SECRET_TEXT_BYTES + 1)]),
  'an empty reply': written(1, [1, 'a'], [2, '']),
  'an id with a space': written(4, [3, 'a b']),
  'an id that is too long': written(4, [3, 'a'.repeat(129)]),
  'a deletion of nothing': written(4),
  'an edit without a time': written(2, [1, 'a'], [3, 'm']),
  'a time that no date has': written(2, [1, 'a'], [3, 'm'], [5, hexToBytes('8180f0968cc1ac0f')]),
  'an empty reaction': written(3, [3, 'm'], [4, ''], [5, Uint8Array.of(1)]),
  'a long reaction': written(3, [3, 'm'], [4, 'x'.repeat(65)], [5, Uint8Array.of(1)]),
  'a reaction without a time': written(3, [3, 'm'], [4, 'x']),
  'a flag with a value': written(3, [3, 'm'], [4, 'x'], [5, Uint8Array.of(1)], [17, 'y']),
  'a file without a key': written(5, [6, 'm_key'], [8, Uint8Array.of(9)]),
  'a file key that is too short': written(5, [6, 'm_key'], [7, new Uint8Array(31)], [8, Uint8Array.of(9)]),
  'a media key that is none': written(5, [6, '../x'], ...file.slice(1)),
  'a size with bytes after it': written(5, ...file.slice(0, 2), [8, Uint8Array.of(9, 9)]),
  'an empty name': written(5, ...file, [10, '']),
  'dimensions of 0': written(5, ...file, [11, Uint8Array.of(0, 9)]),
  'dimensions that are too large': written(5, ...file, [11, Uint8Array.of(1, 0x80, 0x80, 4)]),
  'a preview that is no JPEG': written(5, ...file, [13, new Uint8Array(100)]),
  'two previews': written(
    5,
    ...file,
    [12, new ByteWriter().text('m').fixed(new Uint8Array(32)).number(1).done()],
    [13, JPEG],
  ),
  'a voice message without a duration': written(6, ...file),
  'an empty waveform': written(6, ...file, [14, Uint8Array.of(9)], [15, '']),
  'a sample above 100': written(6, ...file, [14, Uint8Array.of(9)], [15, Uint8Array.of(101)]),
  'a waveform that is too long': written(6, ...file, [14, Uint8Array.of(9)], [15, new Uint8Array(65)]),
  'too many unknown members': written(
    1,
    [1, ''],
    ...Array.from({ length: MAX_UNKNOWN_MEMBERS + 1 }, (_, at) => [100 + at, ''] as const),
  ),
  'a content that is too long': new Uint8Array(MAX_SECRET_CONTENT_BYTES + 1).fill(2),
}

for (const [name, bytes] of Object.entries(refused))
  test(`refused: ${name}`, () => expectCode('INVALID_ENCODING', () => decodeSecretContent(bytes)))

test('content that would be refused is not encoded', async () => {
  for (const wrong of [
    { kind: 'text', text: 'x'.repeat(MAX_SECRET_TEXT_BYTES + 1) },
    { kind: 'text', text: 7 },
    { kind: 'text' },
    { kind: 'text', text: '', replyToId: '' },
    { kind: 'text', text: '', unknown: [{ number: 1, value: new Uint8Array(0) }] },
    { kind: 'text', text: '', unknown: [{ number: -1, value: new Uint8Array(0) }] },
    { kind: 'film' },
    { kind: 'unknown', bytes: written(1, [1, '']) },
    { kind: 'unknown', bytes: 'text' },
    { kind: 'profile', at: 1, picture: { ...FILE, fileKey: new Uint8Array(31) } },
    { kind: 'profile', name: 'Alice' },
    { ...voice, durationMs: -1 },
    { ...voice, waveform: [300] },
    { ...voice, waveform: [-1] },
    { ...attachment, dimensions: { width: 0, height: 1 } },
    { kind: 'edit', messageId: 'm', text: '' },
    { kind: 'edit', messageId: 'm', text: '', at: 0.5 },
    { kind: 'reaction', messageId: 'm', isOwn: false, reaction: '', at: 1 },
  ])
    expect([wrong, await codeOf(() => encodeSecretContent(wrong as never))]).toEqual([
      wrong,
      'INVALID_ARGUMENT',
    ])
})

test('any bytes are decoded or refused, and what is decoded is encoded to the same bytes', async () => {
  const valid = examples.map(encodeSecretContent)
  const changed = fc
    .tuple(fc.constantFrom(...valid), fc.nat(400), fc.integer({ min: 0, max: 255 }))
    .map(([bytes, at, byte]) => {
      const copy = new Uint8Array(bytes)
      copy[at % copy.length] = byte
      return copy
    })
  const headed = fc.tuple(fc.nat(10), anyBytes(80)).map(([kind, rest]) => Uint8Array.of(1, kind, ...rest))
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyBytes(80), headed, changed), async (bytes) => {
      const code = await codeOf(() =>
        expect(encodeSecretContent(decodeSecretContent(bytes))).toEqual(new Uint8Array(bytes)),
      )
      expect(code ?? 'INVALID_ENCODING').toBe('INVALID_ENCODING')
    }),
    { numRuns: 3000 },
  )
})

test('the longest content has room in a message', () => {
  // 64 bytes for the header of the course; 200 for MLS and the binding; in Base64 at most 65,536 characters.
  const padded = pad(new Uint8Array(MAX_SECRET_CONTENT_BYTES + 64))
  expect(Math.ceil((padded.length + 200) / 3) * 4).toBeLessThanOrEqual(65_536)
})
