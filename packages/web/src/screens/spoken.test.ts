// What screen readers are told of what comes at the same time.
import { expect, test } from 'bun:test'
import type { StoredMessage } from '@sotto/client'
import { changes } from '../texts/en/changes.ts'
import { type Heard, spoken } from './spoken.ts'

const message = (text: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
  id: text as StoredMessage['id'],
  conversationId: 'bob' as StoredMessage['conversationId'],
  text,
  isMe: false,
  time: 0,
  status: 'delivered',
  ...more,
})

/** What is told while Bob's conversation is open, or another one. */
const told = (heard: readonly Heard[], opened = 'bob'): string =>
  spoken(heard, { conversations: [{ conversationId: 'bob', nickname: 'Bob' }], opened, nowMs: 0 })

const came = (text: string): Heard => ({ event: 'message', message: message(text) })
const edited = (text: string): Heard => ({ event: 'edited', message: message(text, { editedAt: 1 }) })
const reacted = (text: string, isMe: boolean, emoji?: string): Heard => {
  const earlier = { isMe: !isMe, at: 1, text: '👍' }
  const reaction = { isMe, at: 2, ...(emoji === undefined ? {} : { text: emoji }) }
  return { event: 'reacted', message: message(text, { isMe: true, reactions: [earlier, reaction] }) }
}

test('one change is told with what it is about', () => {
  expect(told([edited('At nine')])).toBe(changes.heardEdit('Bob', 'At nine'))
  expect(told([reacted('At nine?', false, '🎉')])).toBe(changes.heardReaction('Bob', '🎉', 'At nine?'))
  expect(told([reacted('At nine?', false)])).toBe(changes.heardTakenBack('Bob', 'At nine?'))
})

test('many changes are told by their number, after the messages', () => {
  expect(told([edited('At nine'), reacted('At nine?', false, '🎉')])).toBe('Bob: 2 edits and reactions')
  expect(told([edited('At nine'), came('Sorry')])).toBe(`Bob: Sorry. ${changes.heardEdit('Bob', 'At nine')}`)
  expect(told([came('Sorry'), came('Really')])).toBe('Bob: 2 new messages')
})

test('one’s own changes are not told, nor those of a conversation that is not open', () => {
  const own: Heard = { event: 'edited', message: message('At ten', { isMe: true, editedAt: 1 }) }
  expect(told([own, reacted('At nine?', true, '🎉')])).toBe('')
  expect(told([edited('At nine'), came('Sorry')], 'carol')).toBe('Bob: Sorry')
})
