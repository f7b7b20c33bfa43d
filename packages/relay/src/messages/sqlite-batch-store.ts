// Commits batches on SQLite: prepared statements, run synchronously inside one transaction.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { AccountId, SqliteEngine } from '../storage/storage.ts'
import type { Batch } from './batch.ts'
import {
  type BatchRows,
  type Conversation,
  type Lane,
  type Mailbox,
  MESSAGE_KINDS,
  type SentId,
} from './batch-rows.ts'
import type { BatchStore } from './batch-store.ts'

export function createSqliteBatchStore(engine: SqliteEngine): BatchStore {
  const statements = prepare(engine)
  engine.finalizeOnClose(Object.values(statements))
  return {
    commit: (_operations, work) =>
      engine.commit(() => {
        const rows = new SqliteBatchRows(statements)
        const batch = work(rows)
        write(statements, rows, batch)
        return batch
      }),
  }
}

type Statements = ReturnType<typeof prepare>

function prepare({ database }: SqliteEngine) {
  return {
    conversation: database.prepare<
      {
        id: number
        low_id: AccountId
        high_id: AccountId
        is_open: number
        last_seq: number
        last_at: number
        group_epoch: number
      },
      [string]
    >(
      'SELECT id, low_id, high_id, is_open, last_seq, last_at, group_epoch FROM conversations WHERE conv_id = ?',
    ),
    lanes: database.prepare<
      {
        recipient_id: AccountId
        sender_id: AccountId
        pending_count: number
        pending_bytes: number
        retraction_count: number
        delivered_seq: number
        read_seq: number
        unread_seqs: string
        told_round: number
        version_3_seq: number
        unlisted_since: number
      },
      [number]
    >(`SELECT recipient_id, sender_id, pending_count, pending_bytes, retraction_count, delivered_seq, read_seq,
         unread_seqs, told_round, version_3_seq, unlisted_since FROM lanes WHERE conversation_id = ?`),
    mailbox: database.prepare<
      { last_position: number; pending_count: number; pending_bytes: number; retraction_count: number },
      [number]
    >(
      'SELECT last_position, pending_count, pending_bytes, retraction_count FROM mailboxes WHERE account_id = ?',
    ),
    sentId: database.prepare<
      {
        conversation_id: number
        seq: number
        at: number
        is_retracted: number
        is_handshake: number | null
        is_stored: number
      },
      [number, string]
    >(`SELECT conversation_id, seq, at, is_retracted, is_handshake, EXISTS (
         SELECT 1 FROM lanes JOIN messages ON messages.conversation_id = lanes.conversation_id
           AND messages.recipient_id = lanes.recipient_id
         WHERE lanes.conversation_id = sent_ids.conversation_id AND lanes.sender_id = sent_ids.sender_id
           AND messages.seq = sent_ids.seq AND messages.kind = 0
       ) AS is_stored
       FROM sent_ids WHERE sender_id = ? AND message_id = ?`),
    alias: database.prepare<{ alias_id: AliasId }, [number]>('SELECT alias_id FROM accounts WHERE id = ?'),
    owner: database.prepare<{ account_id: AccountId }, [string]>(
      'SELECT account_id FROM aliases WHERE alias_id = ?',
    ),
    friends: database.prepare<{ is_open: number }, [number, number]>(
      'SELECT is_open FROM conversations WHERE low_id = ? AND high_id = ? AND is_open = 1',
    ),
    epoch: database.prepare<{ epoch: number }, [number]>(
      'SELECT epoch FROM connections WHERE account_id = ?',
    ),
    handshakes: database.prepare<{ count: number }, [number, number]>(
      'SELECT COUNT(*) AS count FROM messages WHERE conversation_id = ? AND recipient_id = ? AND is_handshake = 1',
    ),
    firstOfVersion3: database.prepare<{ seq: number | null }, [number, number]>(
      'SELECT MIN(seq) AS seq FROM messages WHERE conversation_id = ? AND recipient_id = ? AND crypto_v = 3',
    ),
    deleteDelivered: database.prepare<{ kind: number; bytes: number }, [number, number, number]>(
      `DELETE FROM messages WHERE conversation_id = ? AND recipient_id = ? AND seq <= ?
       RETURNING kind, octet_length(payload) AS bytes`,
    ),
    deleteRetracted: database.prepare<{ kind: number; bytes: number }, [number, number, number, number]>(
      `DELETE FROM messages WHERE conversation_id = ? AND recipient_id = ? AND seq = ? AND kind = ?
       RETURNING kind, octet_length(payload) AS bytes`,
    ),
    insertMessage: database.prepare<
      never,
      [
        ...[number, number, number, number, number, string, number, string, number],
        ...[number | null, 1 | null],
      ]
    >(
      `INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at,
         group_epoch, is_handshake)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertSentId: database.prepare<never, [number, string, number, number, number, number, 1 | null]>(
      `INSERT INTO sent_ids (sender_id, message_id, conversation_id, seq, at, is_retracted, is_handshake)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    retractSentId: database.prepare<never, [number, string]>(
      'UPDATE sent_ids SET is_retracted = 1 WHERE sender_id = ? AND message_id = ?',
    ),
    updateConversation: database.prepare<never, [number, number, number, number]>(
      'UPDATE conversations SET last_seq = ?, last_at = ?, group_epoch = ? WHERE id = ?',
    ),
    keepGroupInfo: database.prepare<never, [number, string]>(
      `INSERT INTO group_infos (conversation_id, group_info) VALUES (?, ?)
       ON CONFLICT (conversation_id) DO UPDATE SET group_info = excluded.group_info`,
    ),
    updateLane: database.prepare<
      never,
      [number, number, number, number, number, string, number, number, number]
    >(
      `UPDATE lanes SET pending_count = ?, pending_bytes = ?, retraction_count = ?, delivered_seq = ?, read_seq = ?,
         unread_seqs = ?, version_3_seq = ?
       WHERE conversation_id = ? AND recipient_id = ?`,
    ),
    resetTold: database.prepare<never, [number, number, number]>(
      `UPDATE lanes SET told_round = ?, told_delivered_seq = 0, told_read_seq = 0
       WHERE conversation_id = ? AND recipient_id = ?`,
    ),
    updateMailbox: database.prepare<never, [number, number, number, number, number]>(
      `UPDATE mailboxes SET last_position = ?, pending_count = ?, pending_bytes = ?, retraction_count = ?
       WHERE account_id = ?`,
    ),
  }
}

// Reads each row when it is first needed: inside one process that is cheaper than reading all of them in
// advance.
class SqliteBatchRows implements BatchRows {
  readonly #statements: Statements
  readonly #conversations = new Map<ConversationId, Conversation | undefined>()
  readonly #mailboxes = new Map<AccountId, Mailbox>()
  readonly #aliases = new Map<AccountId, AliasId>()
  readonly #sentIds = new Map<string, SentId>()
  readonly #owners = new Map<AliasId, AccountId | undefined>()
  readonly #firstOfVersion3 = new Map<Lane, number | null>()

  constructor(statements: Statements) {
    this.#statements = statements
  }

  conversation(convId: ConversationId): Conversation | undefined {
    if (!this.#conversations.has(convId)) this.#conversations.set(convId, this.#readConversation(convId))
    return this.#conversations.get(convId)
  }

  mailbox(account: AccountId): Mailbox {
    let mailbox = this.#mailboxes.get(account)
    if (!mailbox) {
      const row = this.#statements.mailbox.get(account)
      if (!row) throw new Error('an account without a mailbox')
      mailbox = {
        account,
        lastPosition: row.last_position,
        pendingCount: row.pending_count,
        pendingBytes: row.pending_bytes,
        retractionCount: row.retraction_count,
      }
      this.#mailboxes.set(account, mailbox)
    }
    return mailbox
  }

  sentId(sender: AccountId, id: string): SentId | undefined {
    const key = `${sender} ${id}`
    const known = this.#sentIds.get(key)
    if (known) return known
    const row = this.#statements.sentId.get(sender, id)
    if (!row) return undefined // Most ids are new, so a missing row is not cached.
    const { conversation_id: conversation, seq, at } = row
    const sent = {
      ...{ sender, id, conversation, seq, at },
      isStored: row.is_stored === 1,
      isRetracted: row.is_retracted === 1,
      isHandshake: row.is_handshake === 1,
    }
    this.#sentIds.set(key, sent)
    return sent
  }

  aliasOf(account: AccountId): AliasId {
    let alias = this.#aliases.get(account)
    if (alias === undefined) {
      alias = this.#statements.alias.get(account)?.alias_id
      if (alias === undefined) throw new Error('an account without an alias')
      this.#aliases.set(account, alias)
    }
    return alias
  }

  ownerOf(alias: AliasId): AccountId | undefined {
    if (!this.#owners.has(alias)) this.#owners.set(alias, this.#statements.owner.get(alias)?.account_id)
    return this.#owners.get(alias)
  }

  areFriends(a: AccountId, b: AccountId): boolean {
    return this.#statements.friends.get(Math.min(a, b), Math.max(a, b)) !== null
  }

  handshakesIn({ id }: Conversation, { recipient }: Lane): number {
    return this.#statements.handshakes.get(id, recipient)?.count ?? 0
  }

  firstOfVersion3({ id }: Conversation, lane: Lane): number | undefined {
    let first = this.#firstOfVersion3.get(lane)
    if (first === undefined) {
      first = this.#statements.firstOfVersion3.get(id, lane.recipient)?.seq ?? null
      this.#firstOfVersion3.set(lane, first)
    }
    return first ?? undefined
  }

  epochOf(account: AccountId): number | undefined {
    return this.#statements.epoch.get(account)?.epoch
  }

  #readConversation(convId: ConversationId): Conversation | undefined {
    const row = this.#statements.conversation.get(convId)
    if (!row) return undefined
    const lanes = this.#statements.lanes.all(row.id).map((lane) => ({
      recipient: lane.recipient_id,
      sender: lane.sender_id,
      pendingCount: lane.pending_count,
      pendingBytes: lane.pending_bytes,
      retractionCount: lane.retraction_count,
      deliveredSeq: lane.delivered_seq,
      readSeq: lane.read_seq,
      unreadSeqs: lane.unread_seqs,
      toldRound: lane.told_round,
      version3Seq: lane.version_3_seq,
      unlistedSince: lane.unlisted_since,
    }))
    return {
      id: row.id,
      convId,
      isOpen: row.is_open === 1,
      committedSeq: row.last_seq,
      lastSeq: row.last_seq,
      lastAt: row.last_at,
      groupEpoch: row.group_epoch,
      lanes,
    }
  }
}

function write(statements: Statements, rows: BatchRows, batch: Batch): void {
  const writes = batch.writes()
  const mailboxes = new Set(writes.mailboxes)
  for (const { conversation, lane, inserts, retractedSeqs, before } of writes.lanes) {
    const deleted =
      lane.deliveredSeq > before.deliveredSeq
        ? statements.deleteDelivered.all(conversation.id, lane.recipient, lane.deliveredSeq)
        : []
    for (const seq of retractedSeqs) {
      deleted.push(
        ...statements.deleteRetracted.all(conversation.id, lane.recipient, seq, MESSAGE_KINDS.message),
      )
    }
    if (deleted.length > 0) {
      const mailbox = rows.mailbox(lane.recipient)
      mailboxes.add(mailbox)
      subtractDeleted(deleted, [lane, mailbox])
    }
    for (const { seq, position, kind, id, crypto_v, payload, at, epoch, isHandshake } of inserts) {
      const { insertMessage } = statements
      insertMessage.run(
        conversation.id,
        lane.recipient,
        seq,
        position,
        MESSAGE_KINDS[kind],
        id,
        crypto_v,
        payload,
        at,
        epoch ?? null,
        isHandshake ? 1 : null,
      )
    }
    const { pendingCount, pendingBytes, retractionCount, deliveredSeq, readSeq, unreadSeqs } = lane
    const { version3Seq, recipient } = lane
    const { updateLane } = statements
    updateLane.run(
      pendingCount,
      pendingBytes,
      retractionCount,
      deliveredSeq,
      readSeq,
      unreadSeqs,
      version3Seq,
      conversation.id,
      recipient,
    )
    if (lane.toldRound > before.toldRound)
      statements.resetTold.run(lane.toldRound, conversation.id, recipient)
  }
  for (const { lastSeq, lastAt, groupEpoch, id } of writes.conversations)
    statements.updateConversation.run(lastSeq, lastAt, groupEpoch, id)
  for (const [{ id }, groupInfo] of writes.groupInfos) statements.keepGroupInfo.run(id, groupInfo)
  for (const { lastPosition, pendingCount, pendingBytes, retractionCount, account } of mailboxes) {
    statements.updateMailbox.run(lastPosition, pendingCount, pendingBytes, retractionCount, account)
  }
  for (const { sender, id, conversation, seq, at, isRetracted, isHandshake } of writes.newSentIds) {
    const { insertSentId } = statements
    insertSentId.run(sender, id, conversation, seq, at, isRetracted ? 1 : 0, isHandshake ? 1 : null)
  }
  for (const { sender, id } of writes.retractedSentIds) statements.retractSentId.run(sender, id)
}

function subtractDeleted(
  rows: readonly { kind: number; bytes: number }[],
  counts: readonly (Lane | Mailbox)[],
): void {
  const messages = rows.filter((row) => row.kind === MESSAGE_KINDS.message)
  const bytes = messages.reduce((sum, row) => sum + row.bytes, 0)
  for (const count of counts) {
    count.pendingCount -= messages.length
    count.pendingBytes -= bytes
    count.retractionCount -= rows.length - messages.length
  }
}
