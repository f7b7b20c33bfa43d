// The records of an archive: every message of long conversations, and nothing that could not be sent.
import { expect, test } from 'bun:test'
import { conversationId, identity, intentOf, messageOf, session } from '../../test/stores/store-contract.ts'
import { MemoryStore, type StoreChange, type StoredMessage } from '../stores/stores.ts'
import { readRecords } from './archive-records.ts'

async function storeOf(...changes: readonly StoreChange[]): Promise<MemoryStore> {
  const store = new MemoryStore()
  await store.write([{ change: 'identity', identity }, { change: 'session', session }, ...changes])
  return store
}

async function recordsOf(store: MemoryStore): Promise<readonly StoreChange[]> {
  return Array.fromAsync(readRecords(store))
}

test('every message of a long conversation is archived once, also if a relay gave several one seq', async () => {
  // More than two steps of reading. Before the end of each step, several messages have one seq.
  const messages = Array.from({ length: 1200 }, (_, at): StoredMessage => {
    const seq = Math.floor(at / 7) * 7 + 1
    return messageOf({ id: `m${at}`, seq, isMe: at % 2 === 0, time: at })
  })
  const store = await storeOf(...messages.map((message) => ({ change: 'message', message }) as const))
  const ids = (await recordsOf(store)).flatMap((record) =>
    record.change === 'message' ? [record.message.id] : [],
  )
  expect(ids.length).toBe(1200)
  expect(ids.toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
})

test('what waits to be sent is archived with its intent, unless it was taken back or has none', async () => {
  const sending = (id: string, fields: Partial<StoredMessage> = {}): StoreChange => ({
    change: 'message',
    message: messageOf({ id, isMe: true, status: 'sending', ...fields }),
  })
  const intent = (id: string): StoreChange => ({ change: 'outbox_added', intent: intentOf(id) })
  const store = await storeOf(
    ...[sending('waits'), intent('waits')],
    ...[sending('taken back', { retracted: true, text: '' }), intent('taken back')],
    sending('without an intent'),
    ...[intent('without a message')],
  )
  const waiting = (await recordsOf(store)).flatMap((record) => {
    if (record.change === 'outbox_added') return [`intent ${record.intent.internalId}`]
    return record.change === 'message' ? [`message ${record.message.id}`] : []
  })
  expect(waiting).toEqual(['message waits', 'intent waits'])
  expect((await store.listMessages(conversationId)).length).toBe(3)
})
