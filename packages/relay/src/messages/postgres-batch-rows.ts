// Reads the rows of a batch on PostgreSQL, in two statements that are sent together.
//
// The joins begin with the lists of keys. PostgreSQL must look each key up in an index: a plan that reads a
// whole table takes longer with each message. A list in a subquery has a length that the planner does not
// know, so it plans for few keys, and keeps that plan.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'
import { integers, texts } from '../storage/storage.ts'
import type { BatchRows, Conversation, Lane, Mailbox, SentId } from './batch-rows.ts'
import type { BatchKeys } from './batch-store.ts'

// Rows arrive as JSON, as arrays of their columns.
type ConversationRow = readonly [
  id: number,
  convId: ConversationId,
  isOpen: number,
  lastSeq: number,
  lastAt: number,
  groupEpoch: number,
]
type MailboxRow = readonly [
  account: AccountId,
  lastPosition: number,
  pendingCount: number,
  pendingBytes: number,
  retractionCount: number,
]
type LaneRow = readonly [
  conversation: number,
  recipient: AccountId,
  sender: AccountId,
  pendingCount: number,
  pendingBytes: number,
  retractionCount: number,
  deliveredSeq: number,
  readSeq: number,
  unreadSeqs: string,
  toldRound: number,
  version3Seq: number,
  unlistedSince: number,
]
type SentRow = readonly [
  sender: AccountId,
  id: string,
  conversation: number,
  seq: number,
  at: number,
  isRetracted: number,
  isHandshake: number | null,
  isStored: boolean,
]
/** A number that belongs to the lane of a recipient. */
type LaneNumber = readonly [conversation: number, recipient: AccountId, number: number]

interface Locked {
  readonly conversations: readonly ConversationRow[]
  readonly mailboxes: readonly MailboxRow[]
}

interface Read {
  readonly lanes: readonly LaneRow[]
  readonly aliases: readonly (readonly [AccountId, AliasId])[]
  readonly owners: readonly (readonly [AliasId, AccountId])[]
  readonly friends: readonly (readonly [AccountId, AccountId])[]
  readonly sent: readonly SentRow[]
  readonly epochs: readonly (readonly [AccountId, number])[]
  readonly handshakes: readonly LaneNumber[]
  readonly first_of_version_3: readonly LaneNumber[]
}

/**
 * Locks and reads the rows that the operations of a batch need.
 * @param sql a transaction
 */
export async function readRows(sql: Sql, keys: BatchKeys): Promise<BatchRows> {
  // What the locks protect must be read by a later statement: it sees what was committed before it began, and
  // it begins only when the locks are there. So it sees which connections began while this transaction
  // waited, and an older connection's frames never follow those of a newer one.
  const [[locked], [read]] = await Promise.all([lock(sql, keys), readProtected(sql, keys)])
  return batchRowsOf(found(locked), found(read))
}

// Every transaction locks rows in the same order: conversations before mailboxes, each by its id. The batches
// of two nodes therefore cannot deadlock. Only mailboxes that the batch can change are locked.
function lock(sql: Sql, { conversations, mailboxes }: BatchKeys): Promise<Locked[]> {
  return sql<Locked>`
    WITH asked AS MATERIALIZED (
      SELECT id, conv_id, low_id, high_id, is_open, last_seq, last_at, group_epoch FROM conversations
      WHERE conv_id = ANY ((SELECT ${texts(conversations)}::text::text[])::text[]) ORDER BY id FOR UPDATE
    ), boxes AS MATERIALIZED (
      SELECT account_id, last_position, pending_count, pending_bytes, retraction_count FROM mailboxes
      WHERE account_id = ANY (ARRAY(
        SELECT CASE WHEN by.is_peers = 1 THEN asked.low_id + asked.high_id - by.account_id ELSE by.account_id END
        FROM unnest(
          (SELECT ${texts(mailboxes.map(({ convId }) => convId))}::text::text[]),
          (SELECT ${integers(mailboxes.map(({ account }) => account))}::text::bigint[]),
          (SELECT ${integers(mailboxes.map(({ isPeers }) => (isPeers ? 1 : 0)))}::text::bigint[])
        ) AS by (conv_id, account_id, is_peers)
        JOIN asked ON asked.conv_id = by.conv_id
        WHERE by.account_id IN (asked.low_id, asked.high_id)
      )) ORDER BY account_id FOR UPDATE
    )
    SELECT
      (SELECT COALESCE(json_agg(json_build_array(
        id, conv_id, is_open, last_seq, last_at, group_epoch)), '[]') FROM asked) AS conversations,
      (SELECT COALESCE(json_agg(json_build_array(
        account_id, last_position, pending_count, pending_bytes, retraction_count)), '[]') FROM boxes) AS mailboxes`
}

function readProtected(
  sql: Sql,
  { conversations, sentIds, peersIds, addressed, connected, handshakes, olderReaders }: BatchKeys,
): Promise<Read[]> {
  return sql<Read>`
    WITH asked AS MATERIALIZED (
      SELECT id, conv_id, low_id, high_id FROM conversations
      WHERE conv_id = ANY ((SELECT ${texts(conversations)}::text::text[])::text[])
    ), addressed AS MATERIALIZED (
      SELECT by.sender_id, aliases.alias_id, aliases.account_id
      FROM unnest(
        (SELECT ${integers(addressed.map(({ sender }) => sender))}::text::bigint[]),
        (SELECT ${texts(addressed.map(({ alias }) => alias))}::text::text[])
      ) AS by (sender_id, alias_id)
      JOIN aliases ON aliases.alias_id = by.alias_id
    ), ids AS MATERIALIZED (
      SELECT sender_id, message_id FROM unnest(
        (SELECT ${integers(sentIds.map(({ sender }) => sender))}::text::bigint[]),
        (SELECT ${texts(sentIds.map(({ id }) => id))}::text::text[])
      ) AS own (sender_id, message_id)
      UNION
      SELECT asked.low_id + asked.high_id - peers.account_id, peers.message_id FROM unnest(
        (SELECT ${texts(peersIds.map(({ convId }) => convId))}::text::text[]),
        (SELECT ${integers(peersIds.map(({ account }) => account))}::text::bigint[]),
        (SELECT ${texts(peersIds.map(({ id }) => id))}::text::text[])
      ) AS peers (conv_id, account_id, message_id)
      JOIN asked ON asked.conv_id = peers.conv_id
    )
    SELECT
      (SELECT COALESCE(json_agg(json_build_array(
          lanes.conversation_id, lanes.recipient_id, lanes.sender_id, lanes.pending_count, lanes.pending_bytes,
          lanes.retraction_count, lanes.delivered_seq, lanes.read_seq, lanes.unread_seqs, lanes.told_round,
          lanes.version_3_seq, lanes.unlisted_since)), '[]')
        FROM asked JOIN lanes ON lanes.conversation_id = asked.id) AS lanes,
      (SELECT COALESCE(json_agg(json_build_array(accounts.id, accounts.alias_id)), '[]')
        FROM accounts WHERE id = ANY (ARRAY(SELECT low_id FROM asked UNION SELECT high_id FROM asked))) AS aliases,
      (SELECT COALESCE(json_agg(json_build_array(alias_id, account_id)), '[]') FROM addressed) AS owners,
      (SELECT COALESCE(json_agg(json_build_array(conversations.low_id, conversations.high_id)), '[]')
        FROM addressed JOIN conversations
          ON conversations.low_id = LEAST(addressed.sender_id, addressed.account_id)
          AND conversations.high_id = GREATEST(addressed.sender_id, addressed.account_id)
        WHERE conversations.is_open = 1) AS friends,
      (SELECT COALESCE(json_agg(json_build_array(
          sent_ids.sender_id, sent_ids.message_id, sent_ids.conversation_id, sent_ids.seq, sent_ids.at,
          sent_ids.is_retracted, sent_ids.is_handshake, EXISTS (
            SELECT 1 FROM lanes JOIN messages ON messages.conversation_id = lanes.conversation_id
              AND messages.recipient_id = lanes.recipient_id
            WHERE lanes.conversation_id = sent_ids.conversation_id AND lanes.sender_id = sent_ids.sender_id
              AND messages.seq = sent_ids.seq AND messages.kind = 0))), '[]')
        FROM ids JOIN sent_ids ON sent_ids.sender_id = ids.sender_id AND sent_ids.message_id = ids.message_id)
        AS sent,
      (SELECT COALESCE(json_agg(json_build_array(connections.account_id, connections.epoch)), '[]')
        FROM connections WHERE account_id = ANY ((SELECT ${integers(connected)}::text::bigint[])::bigint[]))
        AS epochs,
      (SELECT COALESCE(json_agg(json_build_array(asked.id, asked.low_id + asked.high_id - senders.account_id, (
          SELECT COUNT(*) FROM messages WHERE messages.conversation_id = asked.id
            AND messages.recipient_id = asked.low_id + asked.high_id - senders.account_id
            AND messages.is_handshake = 1))), '[]')
        FROM unnest(
          (SELECT ${texts(handshakes.map(({ convId }) => convId))}::text::text[]),
          (SELECT ${integers(handshakes.map(({ account }) => account))}::text::bigint[])
        ) AS senders (conv_id, account_id)
        JOIN asked ON asked.conv_id = senders.conv_id) AS handshakes,
      (SELECT COALESCE(json_agg(json_build_array(first.id, first.account_id, first.seq)), '[]') FROM (
        SELECT asked.id, readers.account_id, (
          SELECT MIN(seq) FROM messages WHERE messages.conversation_id = asked.id
            AND messages.recipient_id = readers.account_id AND messages.crypto_v = 3) AS seq
        FROM unnest(
          (SELECT ${texts(olderReaders.map(({ convId }) => convId))}::text::text[]),
          (SELECT ${integers(olderReaders.map(({ account }) => account))}::text::bigint[])
        ) AS readers (conv_id, account_id)
        JOIN asked ON asked.conv_id = readers.conv_id) AS first
        WHERE first.seq IS NOT NULL) AS first_of_version_3`
}

function batchRowsOf(locked: Locked, read: Read): BatchRows {
  const lanes = Map.groupBy(read.lanes, ([conversation]) => conversation)
  const conversations = new Map(
    locked.conversations.map((row) => [row[1], conversationOf(row, lanes.get(row[0]) ?? [])]),
  )
  const mailboxes = new Map(locked.mailboxes.map((row) => [row[0], mailboxOf(row)]))
  const aliases = new Map(read.aliases)
  const owners = new Map(read.owners)
  const epochs = new Map(read.epochs)
  const sent = new Map(read.sent.map((row) => [`${row[0]} ${row[1]}`, sentIdOf(row)]))
  const friends = new Set(read.friends.map(([low, high]) => `${low} ${high}`))
  const handshakes = byLane(read.handshakes)
  const firstOfVersion3 = byLane(read.first_of_version_3)
  return {
    conversation: (convId) => conversations.get(convId),
    mailbox: (account) => found(mailboxes.get(account)),
    sentId: (sender, id) => sent.get(`${sender} ${id}`),
    aliasOf: (account) => found(aliases.get(account)),
    ownerOf: (alias) => owners.get(alias),
    epochOf: (account) => epochs.get(account),
    areFriends: (a, b) => friends.has(`${Math.min(a, b)} ${Math.max(a, b)}`),
    handshakesIn: ({ id }, { recipient }) => handshakes.get(`${id} ${recipient}`) ?? 0,
    firstOfVersion3: ({ id }, { recipient }) => firstOfVersion3.get(`${id} ${recipient}`),
  }
}

function byLane(rows: readonly LaneNumber[]): ReadonlyMap<string, number> {
  return new Map(rows.map(([conversation, recipient, number]) => [`${conversation} ${recipient}`, number]))
}

function conversationOf(row: ConversationRow, lanes: readonly LaneRow[]): Conversation {
  const [id, convId, isOpen, lastSeq, lastAt, groupEpoch] = row
  return {
    id,
    convId,
    isOpen: isOpen === 1,
    committedSeq: lastSeq,
    lastSeq,
    lastAt,
    groupEpoch,
    lanes: lanes.map(laneOf),
  }
}

function laneOf([, recipient, sender, ...row]: LaneRow): Lane {
  const [pendingCount, pendingBytes, retractionCount, ...marks] = row
  const [deliveredSeq, readSeq, unreadSeqs, toldRound, version3Seq, unlistedSince] = marks
  const counts = { pendingCount, pendingBytes, retractionCount }
  const read = { deliveredSeq, readSeq, unreadSeqs, toldRound, version3Seq, unlistedSince }
  return { recipient, sender, ...counts, ...read }
}

function mailboxOf([
  account,
  lastPosition,
  pendingCount,
  pendingBytes,
  retractionCount,
]: MailboxRow): Mailbox {
  return { account, lastPosition, pendingCount, pendingBytes, retractionCount }
}

function sentIdOf([sender, id, conversation, seq, at, ...row]: SentRow): SentId {
  const [isRetracted, isHandshake, isStored] = row
  return {
    ...{ sender, id, conversation, seq, at, isStored },
    isRetracted: isRetracted === 1,
    isHandshake: isHandshake === 1,
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a row that must exist is missing')
  return value
}
