// Commits batches on PostgreSQL, with a fixed number of round trips per batch, no matter how many frames it
// has.
import type { AliasId, ConversationId } from '@sotto/protocol'
import { type AccountId, isUniqueViolation, type Sql, type Storage } from '../storage/storage.ts'
import type { Batch } from './batch.ts'
import { type BatchRows, type Conversation, type Mailbox, MESSAGE_KINDS, type SentId } from './batch-rows.ts'
import { type BatchKeys, type BatchStore, keysOf } from './batch-store.ts'

export function createPostgresBatchStore(storage: Storage): BatchStore {
  return {
    commit: async (operations, work) => {
      const keys = keysOf(operations)
      const attempt = (): Promise<Batch> =>
        storage.transaction(async (sql) => {
          const rows = await readRows(sql, keys)
          const batch = work(rows)
          await write(sql, rows, batch)
          return batch
        })
      try {
        return await attempt()
      } catch (error) {
        // Another node stored the same sender's id in another conversation at the same time. Now this node
        // can read it.
        if (isUniqueViolation(error)) return await attempt()
        throw error
      }
    },
  }
}

interface ConversationRow {
  id: number
  conv_id: ConversationId
  low_id: AccountId
  high_id: AccountId
  is_open: number
  last_seq: number
  last_at: number
}

interface LaneRow {
  conversation_id: number
  recipient_id: AccountId
  sender_id: AccountId
  pending_count: number
  pending_bytes: number
  retraction_count: number
  delivered_seq: number
  read_seq: number
  unread_seqs: string
  told_round: number
  unlisted_since: number
}

// Every transaction locks rows in the same order: conversations before mailboxes, each by its id. The batches
// of two nodes therefore cannot deadlock.
async function readRows(sql: Sql, keys: BatchKeys): Promise<BatchRows> {
  const conversationRows = await sql<ConversationRow>`
    SELECT id, conv_id, low_id, high_id, is_open, last_seq, last_at FROM conversations
    WHERE conv_id IN (SELECT json_array_elements_text(${json([...keys.conversations])}::text::json))
    ORDER BY id FOR UPDATE`
  const ids = json(conversationRows.map((row) => row.id))
  const laneRows = await sql<LaneRow>`
    SELECT conversation_id, recipient_id, sender_id, pending_count, pending_bytes, retraction_count, delivered_seq,
      read_seq, unread_seqs, told_round, unlisted_since
    FROM lanes
    WHERE conversation_id IN (SELECT json_array_elements_text(${ids}::text::json)::bigint)`
  const members = [...new Set(conversationRows.flatMap((row) => [row.low_id, row.high_id]))]
  const mailboxRows = await sql<{
    account_id: AccountId
    last_position: number
    pending_count: number
    pending_bytes: number
    retraction_count: number
  }>`
    SELECT account_id, last_position, pending_count, pending_bytes, retraction_count FROM mailboxes
    WHERE account_id IN (SELECT json_array_elements_text(${json(members)}::text::json)::bigint)
    ORDER BY account_id FOR UPDATE`
  const aliasRows = await sql<{ id: AccountId; alias_id: AliasId }>`
    SELECT id, alias_id FROM accounts
    WHERE id IN (SELECT json_array_elements_text(${json(members)}::text::json)::bigint)`
  const ownerRows = await sql<{ alias_id: AliasId; account_id: AccountId }>`
    SELECT alias_id, account_id FROM aliases
    WHERE alias_id IN (SELECT json_array_elements_text(${json(keys.addressed.map(({ alias }) => alias))}::text::json))`
  const sentRows = await sql<SentRow>`
    SELECT sent_ids.sender_id, sent_ids.message_id, conversation_id, seq, at, is_retracted,
      CASE WHEN EXISTS (
        SELECT 1 FROM lanes JOIN messages ON messages.conversation_id = lanes.conversation_id
          AND messages.recipient_id = lanes.recipient_id
        WHERE lanes.conversation_id = sent_ids.conversation_id AND lanes.sender_id = sent_ids.sender_id
          AND messages.seq = sent_ids.seq AND messages.kind = 0
      ) THEN 1 ELSE 0 END AS is_stored
    FROM json_to_recordset(${json(sentKeys(keys, conversationRows))}::text::json) AS asked (sender_id BIGINT, message_id TEXT)
    JOIN sent_ids ON sent_ids.sender_id = asked.sender_id AND sent_ids.message_id = asked.message_id`
  const friendRows = await sql<{ low_id: AccountId; high_id: AccountId }>`
    SELECT conversations.low_id, conversations.high_id
    FROM json_to_recordset(${json(pairsOf(keys, ownerRows))}::text::json) AS asked (low_id BIGINT, high_id BIGINT)
    JOIN conversations ON conversations.low_id = asked.low_id AND conversations.high_id = asked.high_id
    WHERE is_open = 1`
  // A statement of its own, after the one that locks the conversations: it must see which connections began while
  // this transaction waited for the locks. An older connection's frames thus never follow those of a newer one.
  const epochRows = await sql<EpochRow>`
    SELECT account_id, epoch FROM connections
    WHERE account_id IN (SELECT json_array_elements_text(${json([...keys.connected])}::text::json)::bigint)`
  return batchRowsOf({
    epochRows,
    conversationRows,
    laneRows,
    mailboxRows,
    aliasRows,
    ownerRows,
    sentRows,
    friendRows,
  })
}

interface EpochRow {
  account_id: AccountId
  epoch: number
}

interface SentRow {
  sender_id: AccountId
  message_id: string
  conversation_id: number
  seq: number
  at: number
  is_retracted: number
  is_stored: number
}

// Each id is looked up for its sender and for the sender's peers, because a retraction may name a peer's id.
function sentKeys(
  keys: BatchKeys,
  conversations: readonly ConversationRow[],
): { sender_id: number; message_id: string }[] {
  const peers = new Map<AccountId, Set<AccountId>>()
  for (const { low_id, high_id } of conversations) {
    peers.set(low_id, (peers.get(low_id) ?? new Set()).add(high_id))
    peers.set(high_id, (peers.get(high_id) ?? new Set()).add(low_id))
  }
  const lookups = new Map<string, { sender_id: number; message_id: string }>()
  for (const { sender, id } of keys.sentIds) {
    for (const account of [sender, ...(peers.get(sender) ?? [])]) {
      lookups.set(`${account} ${id}`, { sender_id: account, message_id: id })
    }
  }
  return [...lookups.values()]
}

function pairsOf(
  keys: BatchKeys,
  owners: readonly { alias_id: AliasId; account_id: AccountId }[],
): { low_id: number; high_id: number }[] {
  const ownerOf = new Map(owners.map((row) => [row.alias_id, row.account_id]))
  return keys.addressed.flatMap(({ sender, alias }) => {
    const owner = ownerOf.get(alias)
    return owner === undefined ? [] : [{ low_id: Math.min(sender, owner), high_id: Math.max(sender, owner) }]
  })
}

function batchRowsOf(rows: {
  epochRows: readonly EpochRow[]
  conversationRows: readonly ConversationRow[]
  laneRows: readonly LaneRow[]
  mailboxRows: readonly {
    account_id: AccountId
    last_position: number
    pending_count: number
    pending_bytes: number
    retraction_count: number
  }[]
  aliasRows: readonly { id: AccountId; alias_id: AliasId }[]
  ownerRows: readonly { alias_id: AliasId; account_id: AccountId }[]
  sentRows: readonly SentRow[]
  friendRows: readonly { low_id: AccountId; high_id: AccountId }[]
}): BatchRows {
  const conversations = new Map(
    rows.conversationRows.map((row) => [row.conv_id, conversationOf(row, rows.laneRows)]),
  )
  const mailboxes = new Map(
    rows.mailboxRows.map((row): [AccountId, Mailbox] => [
      row.account_id,
      {
        account: row.account_id,
        lastPosition: row.last_position,
        pendingCount: row.pending_count,
        pendingBytes: row.pending_bytes,
        retractionCount: row.retraction_count,
      },
    ]),
  )
  const aliases = new Map(rows.aliasRows.map((row) => [row.id, row.alias_id]))
  const owners = new Map(rows.ownerRows.map((row) => [row.alias_id, row.account_id]))
  const sent = new Map(rows.sentRows.map((row) => [`${row.sender_id} ${row.message_id}`, sentIdOf(row)]))
  const epochs = new Map(rows.epochRows.map((row) => [row.account_id, row.epoch]))
  const friends = new Set(rows.friendRows.map((row) => `${row.low_id} ${row.high_id}`))
  return {
    conversation: (convId) => conversations.get(convId),
    mailbox: (account) => found(mailboxes.get(account)),
    sentId: (sender, id) => sent.get(`${sender} ${id}`),
    aliasOf: (account) => found(aliases.get(account)),
    ownerOf: (alias) => owners.get(alias),
    epochOf: (account) => epochs.get(account),
    areFriends: (a, b) => friends.has(`${Math.min(a, b)} ${Math.max(a, b)}`),
  }
}

function conversationOf(row: ConversationRow, lanes: readonly LaneRow[]): Conversation {
  return {
    id: row.id,
    convId: row.conv_id,
    isOpen: row.is_open === 1,
    committedSeq: row.last_seq,
    lastSeq: row.last_seq,
    lastAt: row.last_at,
    lanes: lanes
      .filter((lane) => lane.conversation_id === row.id)
      .map((lane) => ({
        recipient: lane.recipient_id,
        sender: lane.sender_id,
        pendingCount: lane.pending_count,
        pendingBytes: lane.pending_bytes,
        retractionCount: lane.retraction_count,
        deliveredSeq: lane.delivered_seq,
        readSeq: lane.read_seq,
        unreadSeqs: lane.unread_seqs,
        toldRound: lane.told_round,
        unlistedSince: lane.unlisted_since,
      })),
  }
}

function sentIdOf(row: SentRow): SentId {
  const { sender_id: sender, message_id: id, conversation_id: conversation, seq, at } = row
  const isStored = row.is_stored === 1
  return { sender, id, conversation, seq, at, isStored, isRetracted: row.is_retracted === 1 }
}

async function write(sql: Sql, rows: BatchRows, batch: Batch): Promise<void> {
  const writes = batch.writes()
  const mailboxes = new Set(writes.mailboxes)
  await deleteFinished(sql, rows, batch, mailboxes)
  const inserts = writes.lanes.flatMap(({ conversation, lane, inserts: rows }) =>
    rows.map(({ kind, id, ...row }) => ({
      ...row,
      conversation_id: conversation.id,
      recipient_id: lane.recipient,
      kind: MESSAGE_KINDS[kind],
      message_id: id,
    })),
  )
  if (inserts.length > 0) {
    await sql`
      INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at)
      SELECT conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at
      FROM json_to_recordset(${json(inserts)}::text::json) AS row (conversation_id BIGINT, recipient_id BIGINT,
        seq BIGINT, position BIGINT, kind BIGINT, message_id TEXT, crypto_v BIGINT, payload TEXT, at BIGINT)`
  }
  const lanes = writes.lanes.map(({ conversation, lane }) => ({ ...lane, conversation: conversation.id }))
  if (lanes.length > 0) {
    await sql`
      UPDATE lanes SET pending_count = row."pendingCount", pending_bytes = row."pendingBytes",
        retraction_count = row."retractionCount", delivered_seq = row."deliveredSeq", read_seq = row."readSeq",
        unread_seqs = row."unreadSeqs", told_round = row."toldRound",
        told_delivered_seq = CASE WHEN told_round < row."toldRound" THEN 0 ELSE told_delivered_seq END,
        told_read_seq = CASE WHEN told_round < row."toldRound" THEN 0 ELSE told_read_seq END
      FROM json_to_recordset(${json(lanes)}::text::json) AS row (conversation BIGINT, recipient BIGINT,
        "pendingCount" BIGINT, "pendingBytes" BIGINT, "retractionCount" BIGINT, "deliveredSeq" BIGINT, "readSeq" BIGINT,
        "unreadSeqs" TEXT, "toldRound" BIGINT)
      WHERE lanes.conversation_id = row.conversation AND lanes.recipient_id = row.recipient`
  }
  const conversations = writes.conversations.map(({ id, lastSeq, lastAt }) => ({ id, lastSeq, lastAt }))
  if (conversations.length > 0) {
    await sql`
      UPDATE conversations SET last_seq = row."lastSeq", last_at = row."lastAt"
      FROM json_to_recordset(${json(conversations)}::text::json) AS row (id BIGINT, "lastSeq" BIGINT, "lastAt" BIGINT)
      WHERE conversations.id = row.id`
  }
  if (mailboxes.size > 0) {
    await sql`
      UPDATE mailboxes SET last_position = row."lastPosition", pending_count = row."pendingCount",
        pending_bytes = row."pendingBytes", retraction_count = row."retractionCount"
      FROM json_to_recordset(${json([...mailboxes])}::text::json) AS row (account BIGINT, "lastPosition" BIGINT,
        "pendingCount" BIGINT, "pendingBytes" BIGINT, "retractionCount" BIGINT)
      WHERE mailboxes.account_id = row.account`
  }
  await writeSentIds(sql, batch)
}

async function writeSentIds(sql: Sql, batch: Batch): Promise<void> {
  const { newSentIds, retractedSentIds } = batch.writes()
  if (newSentIds.length > 0) {
    const rows = newSentIds.map((sent) => ({ ...sent, is_retracted: sent.isRetracted ? 1 : 0 }))
    await sql`
      INSERT INTO sent_ids (sender_id, message_id, conversation_id, seq, at, is_retracted)
      SELECT sender, id, conversation, seq, at, is_retracted
      FROM json_to_recordset(${json(rows)}::text::json) AS row (sender BIGINT, id TEXT, conversation BIGINT,
        seq BIGINT, at BIGINT, is_retracted BIGINT)`
  }
  if (retractedSentIds.length > 0) {
    await sql`
      UPDATE sent_ids SET is_retracted = 1
      FROM json_to_recordset(${json([...retractedSentIds])}::text::json) AS row (sender BIGINT, id TEXT)
      WHERE sent_ids.sender_id = row.sender AND sent_ids.message_id = row.id`
  }
}

// Deletes delivered and retracted messages and delivered retractions, and subtracts them from the counts of
// the lane and the mailbox.
async function deleteFinished(
  sql: Sql,
  rows: BatchRows,
  batch: Batch,
  mailboxes: Set<Mailbox>,
): Promise<void> {
  const { lanes } = batch.writes()
  const confirmed = lanes
    .filter(({ lane, before }) => lane.deliveredSeq > before.deliveredSeq)
    .map(({ conversation, lane }) => ({
      conversation: conversation.id,
      recipient: lane.recipient,
      seq: lane.deliveredSeq,
    }))
  const takenBack = lanes.flatMap(({ conversation, lane, retractedSeqs }) =>
    retractedSeqs.map((seq) => ({ conversation: conversation.id, recipient: lane.recipient, seq })),
  )
  if (confirmed.length + takenBack.length === 0) return
  const deleted = await sql<{
    conversation_id: number
    recipient_id: AccountId
    count: number
    bytes: number
    retractions: number
  }>`
    WITH confirmed AS (
      DELETE FROM messages USING json_to_recordset(${json(confirmed)}::text::json)
        AS row (conversation BIGINT, recipient BIGINT, seq BIGINT)
      WHERE messages.conversation_id = row.conversation AND messages.recipient_id = row.recipient
        AND messages.seq <= row.seq
      RETURNING conversation_id, recipient_id, kind, octet_length(payload) AS bytes
    ), retracted AS (
      DELETE FROM messages USING json_to_recordset(${json(takenBack)}::text::json)
        AS row (conversation BIGINT, recipient BIGINT, seq BIGINT)
      WHERE messages.conversation_id = row.conversation AND messages.recipient_id = row.recipient
        AND messages.seq = row.seq AND messages.kind = 0
      RETURNING conversation_id, recipient_id, kind, octet_length(payload) AS bytes
    ), gone AS (
      SELECT * FROM confirmed UNION ALL SELECT * FROM retracted
    )
    SELECT conversation_id, recipient_id, COUNT(*) FILTER (WHERE kind = 0) AS count,
      COALESCE(SUM(bytes) FILTER (WHERE kind = 0), 0)::bigint AS bytes,
      COUNT(*) FILTER (WHERE kind = 1) AS retractions
    FROM gone GROUP BY conversation_id, recipient_id`
  for (const { conversation_id, recipient_id, count, bytes, retractions } of deleted) {
    const work = lanes.find(
      ({ conversation, lane }) => conversation.id === conversation_id && lane.recipient === recipient_id,
    )
    const mailbox = rows.mailbox(recipient_id)
    mailboxes.add(mailbox)
    for (const counts of [found(work).lane, mailbox]) {
      counts.pendingCount -= count
      counts.pendingBytes -= bytes
      counts.retractionCount -= retractions
    }
  }
}

function json(value: unknown): string {
  return JSON.stringify(value)
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a row that must exist is missing')
  return value
}
