// Message contents: the text that is sent and stored, and the fields that an application gets back.
import { expect, test } from 'bun:test'
import { decodeContent } from '@sotto/crypto'
import { ConversationId, check, MessageId } from '@sotto/protocol'
import vectors from '../../../../vectors/content.json'
import type { StoredMessage } from '../stores/records.ts'
import { contentOf, fieldsOf, outgoing } from './content.ts'

const [{ thumbnail } = { thumbnail: '' }] = vectors.sent
  .map(({ content }) => content)
  .flatMap((content) => (content.thumbnail === undefined ? [] : [{ thumbnail: content.thumbnail }]))
const key = `m_${'a'.repeat(22)}.h${'b'.repeat(43)}`

function stored(fields: Partial<StoredMessage>): StoredMessage {
  return {
    id: check(MessageId, 'id'),
    conversationId: check(ConversationId, '33333333-3333-4333-8333-333333333333'),
    text: '',
    isMe: true,
    time: 1,
    status: 'sent',
    ...fields,
  }
}

test('media are sent as JSON, stored as text with their details, and read back', () => {
  for (const [content, form, text] of [
    [{ kind: 'image', mediaKey: key }, { type: 'image', key }, `[img]${key}`],
    [
      { kind: 'image', mediaKey: key, width: 4, height: 3, sizeBytes: 9, thumbnail },
      { type: 'image', key, size: 9, width: 4, height: 3, thumbnail },
      `[img]${key}`,
    ],
    [
      { kind: 'file', mediaKey: key, name: 'a|b.pdf', sizeBytes: 12 },
      { type: 'file', key, size: 12, name: 'a|b.pdf' },
      `[file]${key}|a|b.pdf|12`,
    ],
    [
      { kind: 'voice', mediaKey: key, durationMs: 900, waveform: [0, 100] },
      { type: 'voice', key, durationMs: 900, waveform: [0, 100] },
      `[voice]${key}|900`,
    ],
  ] as const) {
    const { plaintext, fields } = outgoing(content, undefined)
    expect(JSON.parse(plaintext)).toEqual(form)
    const { kind, mediaKey, ...details } = content
    const { name, ...rest } = { name: undefined, ...details }
    expect(fields).toEqual({
      ...{ text, msgType: kind, mediaUrl: mediaKey, ...rest },
      ...(name === undefined ? {} : { caption: name }),
    })
    expect(contentOf(stored(fields))).toEqual(content)
    expect(contentOf(stored({ ...fields, replyToId: 'r' }))).toEqual({ ...content, replyToId: 'r' })
  }
})

test('a message of an older store has no details, and is read by its text', () => {
  for (const [fields, content] of [
    [
      { msgType: 'image', text: `[img]${key}` },
      { kind: 'image', mediaKey: key },
    ],
    [
      { msgType: 'voice', text: `[voice]${key}|7` },
      { kind: 'voice', mediaKey: key, durationMs: 7 },
    ],
    [
      { msgType: 'file', text: `[file]${key}|a|5` },
      { kind: 'file', mediaKey: key, name: 'a', sizeBytes: 5 },
    ],
  ] as const)
    expect(contentOf(stored({ ...fields, mediaUrl: key }))).toEqual(content)
})

test('text that looks like media stays text for the sender and the recipient', () => {
  const text = `[img]${key}`
  const { plaintext, fields } = outgoing(text, 'reply')
  expect(fields).toEqual({ text, msgType: 'text' })
  const arrived = fieldsOf(decodeContent(plaintext))
  expect(arrived).toEqual({ text, msgType: 'text' })
  expect(contentOf(stored({ ...arrived, replyToId: 'reply' }))).toEqual({
    kind: 'text',
    text,
    replyToId: 'reply',
  })
})

test('retracted and undecryptable messages have no content', () => {
  expect(contentOf(stored({ retracted: true }))).toBeUndefined()
  expect(contentOf(stored({ msgType: 'undecryptable' }))).toBeUndefined()
})

test('invalid media contents are refused', () => {
  for (const content of [
    { kind: 'image', mediaKey: 'a|b' },
    { kind: 'voice', mediaKey: key, durationMs: -1 },
    { kind: 'file', mediaKey: key, name: 'x', sizeBytes: 1.5 },
  ] as const)
    expect(() => outgoing(content, undefined)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})

test('a file name is cleaned when it is sent, when it arrives and when it is read from an older store', () => {
  for (const [name, shown] of [
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['a\u0000\u001b[2J\nb.pdf', 'a[2J b.pdf'],
    ['\u200b\u2066\u3164', 'file'],
    ['', 'file'],
    ['👩‍💻 می‌خواهم.txt', '👩‍💻 می‌خواهم.txt'],
  ] as const) {
    const file = { kind: 'file', mediaKey: key, name, sizeBytes: 5 } as const
    const { plaintext, fields } = outgoing(file, undefined)
    expect([JSON.parse(plaintext).name, fields.caption]).toEqual([shown, shown])
    for (const sent of [`[file]${key}|${name}|5`, JSON.stringify({ type: 'file', key, name, size: 5 })]) {
      const arrived = fieldsOf(decodeContent(sent))
      expect([arrived.text, arrived.caption]).toEqual([`[file]${key}|${shown}|5`, shown])
    }
    const older = stored({ text: `[file]${key}|${name}|5`, msgType: 'file', mediaUrl: key, caption: name })
    expect(contentOf(older)).toEqual({ ...file, name: shown })
  }
})
