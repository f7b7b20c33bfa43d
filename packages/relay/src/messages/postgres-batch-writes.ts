// Writes what a batch changed on PostgreSQL, in one statement. Its parts run on the same snapshot, so no part
// may change a row that another part changes: a batch never confirms a message that it stores.

import type { Sql } from '../storage/storage.ts'
import { integers, texts } from '../storage/storage.ts'
import type { BatchWrites } from './batch.ts'
import { type BatchRows, type Lane, type LaneChanges, type Mailbox, MESSAGE_KINDS } from './batch-rows.ts'

/**
 * Writes the changes, deletes delivered and retracted messages and delivered retractions, and subtracts these
 * from the counts of their lanes and mailboxes.
 * @param sql the transaction that has read the rows
 */
export async function write(sql: Sql, rows: BatchRows, writes: BatchWrites): Promise<void> {
  const { lanes, conversations, newSentIds, retractedSentIds } = writes
  const groupInfos = [...writes.groupInfos]
  const confirmed = lanes.filter(({ lane, before }) => lane.deliveredSeq > before.deliveredSeq)
  const retracted = lanes.flatMap((changes) => changes.retractedSeqs.map((seq) => ({ ...changes, seq })))
  const inserts = lanes.flatMap((changes) => changes.inserts.map((row) => ({ ...changes, row })))
  const mailboxes = new Set(writes.mailboxes)
  for (const { lane } of [...confirmed, ...retracted]) mailboxes.add(rows.mailbox(lane.recipient))
  if (lanes.length + conversations.length + mailboxes.size + retractedSentIds.length === 0) return
  const ids = (changes: readonly Pick<LaneChanges, 'conversation'>[]): string =>
    integers(changes.map(({ conversation }) => conversation.id))
  const recipients = (changes: readonly Pick<LaneChanges, 'lane'>[]): string =>
    integers(changes.map(({ lane }) => lane.recipient))
  const ofLanes = (value: (lane: Lane) => number): string => integers(lanes.map(({ lane }) => value(lane)))
  const ofMailboxes = (value: (mailbox: Mailbox) => number): string => integers(Array.from(mailboxes, value))
  await sql`
    WITH confirmed AS (
      DELETE FROM messages USING unnest(
        (SELECT ${ids(confirmed)}::text::bigint[]),
        (SELECT ${recipients(confirmed)}::text::bigint[]),
        (SELECT ${integers(confirmed.map(({ before }) => before.deliveredSeq))}::text::bigint[]),
        (SELECT ${integers(confirmed.map(({ lane }) => lane.deliveredSeq))}::text::bigint[])
      ) AS row (conversation, recipient, above, up_to)
      WHERE messages.conversation_id = row.conversation AND messages.recipient_id = row.recipient
        AND messages.seq > row.above AND messages.seq <= row.up_to
      RETURNING conversation_id, recipient_id, kind, octet_length(payload) AS bytes
    ), retracted AS (
      DELETE FROM messages USING unnest(
        (SELECT ${ids(retracted)}::text::bigint[]),
        (SELECT ${recipients(retracted)}::text::bigint[]),
        (SELECT ${integers(retracted.map(({ seq }) => seq))}::text::bigint[])
      ) AS row (conversation, recipient, seq)
      WHERE messages.conversation_id = row.conversation AND messages.recipient_id = row.recipient
        AND messages.seq = row.seq AND messages.kind = 0
      RETURNING conversation_id, recipient_id, kind, octet_length(payload) AS bytes
    ), gone AS (
      SELECT conversation_id, recipient_id, COUNT(*) FILTER (WHERE kind = 0) AS messages,
        COALESCE(SUM(bytes) FILTER (WHERE kind = 0), 0) AS bytes, COUNT(*) FILTER (WHERE kind = 1) AS retractions
      FROM (SELECT * FROM confirmed UNION ALL SELECT * FROM retracted) AS every
      GROUP BY conversation_id, recipient_id
    ), stored AS (
      INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at,
        group_epoch, is_handshake)
      SELECT * FROM unnest(
        (SELECT ${ids(inserts)}::text::bigint[]),
        (SELECT ${recipients(inserts)}::text::bigint[]),
        (SELECT ${integers(inserts.map(({ row }) => row.seq))}::text::bigint[]),
        (SELECT ${integers(inserts.map(({ row }) => row.position))}::text::bigint[]),
        (SELECT ${integers(inserts.map(({ row }) => MESSAGE_KINDS[row.kind]))}::text::bigint[]),
        (SELECT ${texts(inserts.map(({ row }) => row.id))}::text::text[]),
        (SELECT ${integers(inserts.map(({ row }) => row.crypto_v))}::text::bigint[]),
        (SELECT ${texts(inserts.map(({ row }) => row.payload))}::text::text[]),
        (SELECT ${integers(inserts.map(({ row }) => row.at))}::text::bigint[]),
        (SELECT ${integers(inserts.map(({ row }) => row.epoch ?? null))}::text::bigint[]),
        (SELECT ${integers(inserts.map(({ row }) => (row.isHandshake ? 1 : null)))}::text::bigint[])
      )
    ), changed_lanes AS (
      UPDATE lanes SET pending_count = row.pending_count - COALESCE(gone.messages, 0),
        pending_bytes = row.pending_bytes - COALESCE(gone.bytes, 0),
        retraction_count = row.retraction_count - COALESCE(gone.retractions, 0),
        delivered_seq = row.delivered_seq, read_seq = row.read_seq, unread_seqs = row.unread_seqs,
        told_round = row.told_round, version_3_seq = row.version_3_seq,
        told_delivered_seq = CASE WHEN lanes.told_round < row.told_round THEN 0 ELSE told_delivered_seq END,
        told_read_seq = CASE WHEN lanes.told_round < row.told_round THEN 0 ELSE told_read_seq END
      FROM unnest(
        (SELECT ${ids(lanes)}::text::bigint[]),
        (SELECT ${recipients(lanes)}::text::bigint[]),
        (SELECT ${ofLanes((lane) => lane.pendingCount)}::text::bigint[]),
        (SELECT ${ofLanes((lane) => lane.pendingBytes)}::text::bigint[]),
        (SELECT ${ofLanes((lane) => lane.retractionCount)}::text::bigint[]),
        (SELECT ${ofLanes((lane) => lane.deliveredSeq)}::text::bigint[]),
        (SELECT ${ofLanes((lane) => lane.readSeq)}::text::bigint[]),
        (SELECT ${texts(lanes.map(({ lane }) => lane.unreadSeqs))}::text::text[]),
        (SELECT ${ofLanes((lane) => lane.toldRound)}::text::bigint[]),
        (SELECT ${ofLanes((lane) => lane.version3Seq)}::text::bigint[])
      ) AS row (conversation, recipient, pending_count, pending_bytes, retraction_count, delivered_seq, read_seq,
        unread_seqs, told_round, version_3_seq)
      LEFT JOIN gone ON gone.conversation_id = row.conversation AND gone.recipient_id = row.recipient
      WHERE lanes.conversation_id = row.conversation AND lanes.recipient_id = row.recipient
    ), changed_conversations AS (
      UPDATE conversations SET last_seq = row.last_seq, last_at = row.last_at, group_epoch = row.group_epoch
      FROM unnest(
        (SELECT ${integers(conversations.map(({ id }) => id))}::text::bigint[]),
        (SELECT ${integers(conversations.map(({ lastSeq }) => lastSeq))}::text::bigint[]),
        (SELECT ${integers(conversations.map(({ lastAt }) => lastAt))}::text::bigint[]),
        (SELECT ${integers(conversations.map(({ groupEpoch }) => groupEpoch))}::text::bigint[])
      ) AS row (id, last_seq, last_at, group_epoch)
      WHERE conversations.id = row.id
    ), kept_infos AS (
      INSERT INTO group_infos (conversation_id, group_info)
      SELECT * FROM unnest(
        (SELECT ${integers(groupInfos.map(([{ id }]) => id))}::text::bigint[]),
        (SELECT ${texts(groupInfos.map(([, groupInfo]) => groupInfo))}::text::text[])
      )
      ON CONFLICT (conversation_id) DO UPDATE SET group_info = excluded.group_info
    ), changed_mailboxes AS (
      UPDATE mailboxes SET last_position = row.last_position,
        pending_count = row.pending_count - COALESCE(gone_from.messages, 0),
        pending_bytes = row.pending_bytes - COALESCE(gone_from.bytes, 0),
        retraction_count = row.retraction_count - COALESCE(gone_from.retractions, 0)
      FROM unnest(
        (SELECT ${ofMailboxes((mailbox) => mailbox.account)}::text::bigint[]),
        (SELECT ${ofMailboxes((mailbox) => mailbox.lastPosition)}::text::bigint[]),
        (SELECT ${ofMailboxes((mailbox) => mailbox.pendingCount)}::text::bigint[]),
        (SELECT ${ofMailboxes((mailbox) => mailbox.pendingBytes)}::text::bigint[]),
        (SELECT ${ofMailboxes((mailbox) => mailbox.retractionCount)}::text::bigint[])
      ) AS row (account, last_position, pending_count, pending_bytes, retraction_count)
      LEFT JOIN (
        SELECT recipient_id, SUM(messages) AS messages, SUM(bytes) AS bytes, SUM(retractions) AS retractions
        FROM gone GROUP BY recipient_id
      ) AS gone_from ON gone_from.recipient_id = row.account
      WHERE mailboxes.account_id = row.account
    ), new_ids AS (
      INSERT INTO sent_ids (sender_id, message_id, conversation_id, seq, at, is_retracted, is_handshake)
      SELECT * FROM unnest(
        (SELECT ${integers(newSentIds.map(({ sender }) => sender))}::text::bigint[]),
        (SELECT ${texts(newSentIds.map(({ id }) => id))}::text::text[]),
        (SELECT ${integers(newSentIds.map(({ conversation }) => conversation))}::text::bigint[]),
        (SELECT ${integers(newSentIds.map(({ seq }) => seq))}::text::bigint[]),
        (SELECT ${integers(newSentIds.map(({ at }) => at))}::text::bigint[]),
        (SELECT ${integers(newSentIds.map(({ isRetracted }) => (isRetracted ? 1 : 0)))}::text::bigint[]),
        (SELECT ${integers(newSentIds.map(({ isHandshake }) => (isHandshake ? 1 : null)))}::text::bigint[])
      )
    )
    UPDATE sent_ids SET is_retracted = 1
    FROM unnest(
      (SELECT ${integers(retractedSentIds.map(({ sender }) => sender))}::text::bigint[]),
      (SELECT ${texts(retractedSentIds.map(({ id }) => id))}::text::text[])
    ) AS row (sender, id)
    WHERE sent_ids.sender_id = row.sender AND sent_ids.message_id = row.id`
}
