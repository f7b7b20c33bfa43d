// Writes changes into the tables of an IndexedDB database.

import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { unreachable } from '../client-error.ts'
import { done, startingWith } from './indexeddb-request.ts'
import { patched, type StoreChange, StoredMessage, tombstoneOf } from './records.ts'

/** Sorts a message without a `seq` after all others. */
export const WITHOUT_SEQ = Number.MAX_SAFE_INTEGER

/** A row of the table of messages: the message and the keys that find it. */
export const MessageRow = v.object({
  message: StoredMessage,
  name: v.array(v.string()),
  /** Conversation, `seq` (without one: a number above every `seq`), time; only in messages to be listed. */
  order: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
  /** Conversation and `seq`, only in the first message with that `seq`. */
  seq: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
  nonce: v.exactOptional(v.array(v.string())),
  /** Conversation and `seq` of a received message. */
  peer: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
  /** Conversation, status and `seq` of a sent message. */
  own: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
})
type MessageRow = v.InferOutput<typeof MessageRow>

/** How many rows of messages have a search block in common. */
export const BLOCK_ROWS = 128

/** The name of the search block of a row of messages. */
export function blockOf(row: IDBValidKey): number {
  return Math.floor(Number(row) / BLOCK_ROWS)
}

/** The key of a message. It includes the side, because an id is unique only among one side's messages. */
export function messageName(conversationId: string, isMe: boolean, id: string): string[] {
  return [conversationId, isMe ? 'me' : 'them', id]
}

/** Writes one change. Await it before the next: some changes read before they write. */
export async function writeChange(transaction: IDBTransaction, change: StoreChange): Promise<void> {
  const table = (name: string) => transaction.objectStore(name)
  switch (change.change) {
    case 'clear':
      for (const name of transaction.objectStoreNames)
        if (name !== 'vault') await done(transaction.objectStore(name).clear())
      return
    case 'vault':
      await done(table('vault').put(change.vault, 'vault'))
      return
    case 'vault_removed':
      await done(table('vault').clear())
      return
    case 'identity':
      await done(table('values').put(change.identity, 'identity'))
      return
    case 'friends':
      await done(table('values').put(change.friends, 'friends'))
      return
    case 'session':
      return putNamed(table('sessions'), change.session.conversationId, change.session)
    case 'session_removed':
      return deleteNamed(table('sessions'), change.conversationId)
    case 'trust':
      await done(table('trust').put(change.trust, change.conversationId))
      return
    case 'message':
      return putMessage(table('messages'), change.message)
    case 'message_patch': {
      const messages = table('messages')
      const name = messageName(change.conversationId, change.isMe, change.id)
      const row: unknown = await done(messages.index('name').get(name))
      if (row === undefined) return
      return putMessage(messages, patched(check(MessageRow, row).message, change.patch))
    }
    case 'message_removed':
      return removeMessages(
        table('messages').index('name'),
        IDBKeyRange.only(messageName(change.conversationId, change.isMe, change.id)),
      )
    case 'messages_removed':
      return removeMessages(table('messages').index('order'), startingWith(change.conversationId))
    case 'outbox_added':
      return putNamed(table('outbox'), change.intent.internalId, change.intent)
    case 'outbox_removed':
      return deleteNamed(table('outbox'), change.internalId)
    case 'retract_added': {
      const { conversationId, messageId } = change.intent
      return putNamed(table('retract_intents'), [conversationId, messageId], change.intent)
    }
    case 'retract_removed':
      return deleteNamed(table('retract_intents'), [change.conversationId, change.messageId])
    case 'offline_added':
      await done(table('offline').put(change.message))
      return
    case 'offline_removed':
      await done(table('offline').delete([change.conversationId, change.seq]))
      return
    case 'read_mark':
      await done(table('read_marks').put(change.mark))
      return
    case 'settings':
      await done(table('settings').put(change.settings))
      return
    case 'call_logged':
      await done(table('calls').put(change.call))
      return
    case 'call_removed':
      await done(table('calls').delete(change.id))
      return
    default:
      return unreachable(change)
  }
}

async function putMessage(messages: IDBObjectStore, written: StoredMessage): Promise<void> {
  const { conversationId, isMe } = written
  const name = messageName(conversationId, isMe, written.id)
  const key = await done(messages.index('name').getKey(name))
  const before: unknown = key === undefined ? undefined : await done(messages.get(key))
  // A removed message never comes back.
  const isRemoved = before !== undefined && check(MessageRow, before).message.removed
  const message = isRemoved ? tombstoneOf(written) : written
  const { seq, nonce } = message
  const row: MessageRow = {
    message,
    name,
    ...(message.removed ? {} : { order: [conversationId, seq ?? WITHOUT_SEQ, message.time] }),
    ...(nonce === undefined ? {} : { nonce: [conversationId, nonce] }),
  }
  if (seq !== undefined) {
    // A seq names one message: the first one that has it.
    const holder = await done(messages.index('seq').getKey([conversationId, seq]))
    if (holder === undefined || holder === key) row.seq = [conversationId, seq]
    if (!isMe) row.peer = [conversationId, seq]
    else if (!message.removed) row.own = [conversationId, message.status, seq]
  }
  await done(messages.put(row, key))
  // What was searched of the message before must not stay.
  if (key !== undefined) await deleteNamed(messages.transaction.objectStore('search_blocks'), blockOf(key))
}

/** Replaces messages by their tombstones, which are in no list. */
async function removeMessages(index: IDBIndex, range: IDBKeyRange): Promise<void> {
  for (const row of await done(index.getAll(range)))
    await putMessage(index.objectStore, tombstoneOf(check(MessageRow, row).message))
}

/** Replaces the row with this name, or adds a row at the end. */
async function putNamed(table: IDBObjectStore, name: IDBValidKey, value: unknown): Promise<void> {
  await done(table.put(value, await done(table.index('name').getKey(name))))
}

/** Deletes the row with this name, if there is one. */
export async function deleteNamed(table: IDBObjectStore, name: IDBValidKey): Promise<void> {
  const key = await done(table.index('name').getKey(name))
  if (key !== undefined) await done(table.delete(key))
}
