// The forms a message's content takes: what is stored of it, and what an application gets out again.
import { expect, test } from 'bun:test'
import { decodeContent } from '@sotto/crypto'
import { ConversationId, check, MessageId } from '@sotto/protocol'
import { contentOf, fieldsOf, outgoing } from './content.ts'
import type { StoredMessage } from './stores/records.ts'

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

test('media leave in their text forms, are stored so, and come back in parts, the digest of their key with them', () => {
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

test('the JSON forms in use are stored in the text forms', () => {
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

test('text that looks like media stays text, on both sides', () => {
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

test('what is taken back or cannot be read has no content', () => {
  expect(contentOf(stored({ retracted: true }))).toBeUndefined()
  expect(contentOf(stored({ msgType: 'undecryptable' }))).toBeUndefined()
})

test('media that cannot be are refused', () => {
  for (const content of [
    { kind: 'image', mediaKey: 'a|b' },
    { kind: 'voice', mediaKey: key, durationMs: -1 },
    { kind: 'file', mediaKey: key, name: 'x', sizeBytes: 1.5 },
  ] as const)
    expect(() => outgoing(content, undefined)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})
