import { expect, test } from 'bun:test'
import { ConversationId, MessageId } from '@sotto/protocol'
import * as v from 'valibot'
import type { StoredMessage } from '../stores/stores.ts'
import { isEditable, takesEdit } from './editable.ts'

const DAY_MS = 86_400_000
const SENT_AT = 1_790_000_000_000
const message: StoredMessage = {
  id: v.parse(MessageId, 'm-1'),
  conversationId: v.parse(ConversationId, '00000000-0000-4000-8000-000000000000'),
  ...{ text: 'hello', isMe: true, time: SENT_AT, status: 'sent', version: 3 },
}

test('an own text with forward secrecy can be edited for a day', () => {
  expect(isEditable(message, SENT_AT + DAY_MS)).toBe(true)
  expect(isEditable(message, SENT_AT + DAY_MS + 1)).toBe(false)
  const { version: _, ...older } = message
  const others: StoredMessage[] = [
    older,
    { ...message, isMe: false },
    { ...message, status: 'failed' },
    { ...message, retracted: true },
    { ...message, removed: true },
    { ...message, msgType: 'file' },
  ]
  for (const other of others) expect([other, isEditable(other, SENT_AT)]).toEqual([other, false])
})

test('an edit by the contact is taken as long as it can have waited at the relay', () => {
  const theirs = { ...message, isMe: false }
  expect(takesEdit(theirs, SENT_AT + 31 * DAY_MS)).toBe(true)
  expect(takesEdit(theirs, SENT_AT + 31 * DAY_MS + 1)).toBe(false)
  expect(takesEdit(message, SENT_AT)).toBe(false)
  expect(takesEdit({ ...theirs, msgType: 'undecryptable' }, SENT_AT)).toBe(false)
})
