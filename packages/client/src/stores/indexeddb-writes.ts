// Writes changes into the tables of an IndexedDB database.

import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { unreachable } from '../client-error.ts'
import { done, startingWith } from './indexeddb-request.ts'
import { concernsSummary } from './indexeddb-summaries.ts'
import { conversationOf, patched, type StoreChange, StoredMessage, tombstoneOf } from './records.ts'

/** Sorts a message without a `seq` after all others. */
export const WITHOUT_SEQ = Number.MAX_SAFE_INTEGER

/** A row of the table of messages: the message and the keys that find it. */
export const MessageRow = v.object({
  message: StoredMessage,
  name: v.array(v.string()),
  /** Conversation, `seq` (without one: a number above every `seq`), time; only in messages to be listed. */
  order: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
  /** Conversation and `seq`. The index finds the first message that had it, by the order of the rows. */
  seq: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
  nonce: v.exactOptional(v.array(v.string())),
  /** Conversation and `seq` of a received message. */
  peer: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
  /** Conversation and `seq` of a received message that was neither retracted nor removed. */
  received: v.exactOptional(v.array(v.union([v.string(), v.number()]))),
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

/** What becomes of one message. */
interface MessageWrite {
  readonly name: string[]
  /** The `seq` that the change gives to the message, if any. */
  readonly seq: number | undefined
  /** The message to store, by the one that is stored; undefined for none. */
  readonly make: (before: StoredMessage | undefined) => StoredMessage | undefined
}

/** A change of one message, which it names. */
type OneMessageChange = Extract<StoreChange, { change: 'message' | 'message_patch' | 'message_removed' }>

/** Writes changes in their order. Changes of different messages that follow each other are made at once. */
export async function writeChanges(
  transaction: IDBTransaction,
  changes: readonly StoreChange[],
): Promise<void> {
  const writes: MessageWrite[] = []
  const taken = new Set<string>()
  const summaries = new Set<string>()
  const writeMessages = async (): Promise<void> => {
    taken.clear()
    await putMessages(transaction.objectStore('messages'), writes.splice(0))
  }
  for (const change of changes) {
    const conversationId = conversationOf(change)
    if (conversationId !== undefined && concernsSummary(change)) summaries.add(conversationId)
    if (!isOfOneMessage(change)) {
      await writeMessages()
      await writeChange(transaction, change)
      continue
    }
    const write = messageWriteOf(change)
    // What depends on an earlier change has to wait for it.
    const keys = [write.name.join(' '), ...(write.seq === undefined ? [] : [`${write.name[0]} ${write.seq}`])]
    if (keys.some((key) => taken.has(key))) await writeMessages()
    writes.push(write)
    for (const key of keys) taken.add(key)
  }
  await Promise.all([
    writeMessages(),
    ...Array.from(summaries, (id) => done(transaction.objectStore('summaries').delete(id))),
  ])
}

function isOfOneMessage(change: StoreChange): change is OneMessageChange {
  return ['message', 'message_patch', 'message_removed'].includes(change.change)
}

function messageWriteOf(change: OneMessageChange): MessageWrite {
  if (change.change === 'message') return replacedBy(change.message)
  const { conversationId, isMe, id } = change
  const name = messageName(conversationId, isMe, id)
  if (change.change === 'message_removed')
    return { name, seq: undefined, make: (before) => before && tombstoneOf(before) }
  const { patch } = change
  return { name, seq: patch.seq, make: (before) => before && patched(before, patch) }
}

function replacedBy(message: StoredMessage): MessageWrite {
  const { conversationId, isMe, id, seq } = message
  return { name: messageName(conversationId, isMe, id), seq, make: () => message }
}

/** Writes one change. Await it before the next: some changes read before they write. */
async function writeChange(
  transaction: IDBTransaction,
  change: Exclude<StoreChange, OneMessageChange>,
): Promise<void> {
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
    case 'messages_removed': {
      const range = startingWith(change.conversationId)
      const rows = await done(table('messages').index('order').getAll(range))
      const removed = rows.map((row) => replacedBy(tombstoneOf(check(MessageRow, row).message)))
      return putMessages(table('messages'), removed)
    }
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
    case 'app_data':
      await done(table('app_data').put(change.record))
      return
    case 'app_data_removed':
      await done(table('app_data').delete(change.name))
      return
    case 'secret': {
      const { name, value } = change
      if (value === undefined) await done(table('secrets').delete(name))
      else await done(table('secrets').put(value, name))
      return
    }
    case 'secrets_removed':
      await done(table('secrets').clear())
      return
    default:
      return unreachable(change)
  }
}

/** Stores different messages at once. */
async function putMessages(messages: IDBObjectStore, writes: readonly MessageWrite[]): Promise<void> {
  // No row is written before all are made, so that they do not depend on each other.
  const made = await Promise.all(writes.map((write) => makeRow(messages, write)))
  const blocks = new Set<number>()
  await Promise.all(
    made.map(async ({ row, key }) => {
      if (!row) return
      await done(messages.put(row, key))
      // What was searched of the message before must not stay.
      if (key !== undefined) blocks.add(blockOf(key))
    }),
  )
  const searchBlocks = messages.transaction.objectStore('search_blocks')
  for (const block of blocks) await deleteNamed(searchBlocks, block)
}

/** The row that a message gets, and the key of its row if it has one. */
async function makeRow(
  messages: IDBObjectStore,
  { name, make }: MessageWrite,
): Promise<{ readonly row?: MessageRow; readonly key: IDBValidKey | undefined }> {
  const key = await done(messages.index('name').getKey(name))
  const found: unknown = key === undefined ? undefined : await done(messages.get(key))
  const before = found === undefined ? undefined : check(MessageRow, found).message
  const after = make(before)
  if (!after) return { key }
  // A removed message never comes back.
  const message = before?.removed ? tombstoneOf(after) : after
  const { conversationId, isMe, seq, nonce } = message
  const row: MessageRow = {
    message,
    name,
    ...(message.removed ? {} : { order: [conversationId, seq ?? WITHOUT_SEQ, message.time] }),
    ...(nonce && { nonce: [conversationId, nonce] }),
  }
  if (seq !== undefined) {
    // A seq names one message: the first one that has it. A new row comes after all others, and what the
    // index finds is the first row, so only an old one has to look.
    const holder = key && (await done(messages.index('seq').getKey([conversationId, seq])))
    if (holder === undefined || holder === key) row.seq = [conversationId, seq]
    if (isMe && !message.removed) row.own = [conversationId, message.status, seq]
    if (!isMe) row.peer = [conversationId, seq]
    if (!isMe && !message.removed && !message.retracted) row.received = [conversationId, seq]
  }
  return { row, key }
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
