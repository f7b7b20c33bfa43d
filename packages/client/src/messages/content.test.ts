// Message contents: the text that is sent and stored, and the fields that an application gets back.
import { expect, test } from 'bun:test'
import { decodeContent } from '@sotto/crypto'
import { ConversationId, check, MessageId } from '@sotto/protocol'
import type { StoredMessage } from '../stores/records.ts'
import { contentOf, fieldsOf, outgoing } from './content.ts'

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

test('media are sent and stored as text, and read back as fields, with the digest in their key', () => {
  for (const [content, text] of [
    [{ kind: 'image', mediaKey: key }, `[img]${key}`],
    [{ kind: 'file', mediaKey: key, name: 'a|b.pdf', sizeBytes: 12 }, `[file]${key}|a|b.pdf|12`],
    [{ kind: 'voice', mediaKey: key, durationMs: 900 }, `[voice]${key}|900`],
  ] as const) {
    const { plaintext, fields } = outgoing(content, undefined)
    expect(plaintext).toBe(text)
    expect(fields).toMatchObject({ text, msgType: content.kind, mediaUrl: key })
    expect(contentOf(stored(fields))).toEqual(content)
  }
})

test('JSON contents from other clients are stored as the same text', () => {
  for (const [json, text, caption] of [
    [{ type: 'image', key, thumbnail: 'x' }, `[img]${key}`, undefined],
    [{ type: 'file', key, name: 'a.pdf', size: 5 }, `[file]${key}|a.pdf|5`, 'a.pdf'],
    [{ type: 'voice', key, durationMs: 7 }, `[voice]${key}|7`, undefined],
    [{ type: 'voice', key, duration: 7.4 }, `[voice]${key}|7`, undefined],
  ] as const) {
    const fields = fieldsOf(decodeContent(JSON.stringify(json)))
    expect(fields).toMatchObject({ text, mediaUrl: key, msgType: json.type })
    expect(fields.caption).toBe(caption)
  }
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
    expect([plaintext, fields.caption]).toEqual([`[file]${key}|${shown}|5`, shown])
    for (const sent of [`[file]${key}|${name}|5`, JSON.stringify({ type: 'file', key, name, size: 5 })]) {
      const arrived = fieldsOf(decodeContent(sent))
      expect([arrived.text, arrived.caption]).toEqual([plaintext, shown])
    }
    const older = stored({ text: `[file]${key}|${name}|5`, msgType: 'file', mediaUrl: key, caption: name })
    expect(contentOf(older)).toEqual({ ...file, name: shown })
  }
})
