// Reads an account's stored frames, and records what arrived without a `delivered`. The same on both engines.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { ReceiptMark } from '../cluster/bus.ts'
import { AtOnce } from '../operations/at-once.ts'
import { Together } from '../operations/together.ts'
import { type AccountId, list, part, query, type Sql, type Storage } from '../storage/storage.ts'
import { kindOf } from './batch-rows.ts'
import { lockConversations } from './conversations.ts'
import { type Due, readDue } from './due.ts'
import { type Notice, readNotices } from './notices.ts'
import { encodeRow, receiptMarks } from './stored-frames.ts'

/** A stored message or retraction, encoded as a frame. */
export interface WaitingFrame {
  readonly position: number
  readonly seq: number
  readonly convId: ConversationId
  /**
   * When the friendship was accepted, if no friend list has named the conversation to the recipient since and
   * the recipient has confirmed nothing in it; else 0.
   */
  readonly unlistedSince: number
  readonly isRetraction: boolean
  /**
   * The sender, if it is suspended: the message is withheld until the suspension ends. Never set for
   * retractions, which go because they only take back.
   */
  readonly withheldFrom: AccountId | undefined
  /** The `seq` of the first stored message of the conversation that has `crypto_v` 3, if there is one. */
  readonly firstOfVersion3: number | undefined
  readonly frame: string
}

/** The marks of a conversation that may not have reached the sender of the messages. */
export interface WaitingReceipts {
  readonly conversation: number
  readonly toldRound: number
  /** The conversation's last `seq` when they were read. */
  readonly lastSeq: number
  readonly marks: readonly ReceiptMark[]
}

/** The marks of a conversation that have arrived. They count only if they were not reset since. */
export interface ArrivedReceipts {
  readonly toldRound: number
  readonly deliveredSeq: number
  readonly readSeq: number
}

/** What has arrived at an account besides messages. Clients send no `delivered` for these. */
export interface Arrived {
  /** All retractions up to this position of the mailbox have arrived. */
  readonly retractionPosition: number
  /** The notices that have arrived. They need not arrive in the order of their ids. */
  readonly noticeIds: ReadonlySet<number>
  readonly receipts: ReadonlyMap<number, ArrivedReceipts>
}

/** How many reads are under way at the same time. */
const MOST_READS = 64

interface Row {
  position: number
  kind: number
  message_id: string
  seq: number
  at: number
  crypto_v: number
  payload: string
  conv_id: ConversationId
  alias_to: AliasId
  alias_from: AliasId
  unlisted_since: number
  withheld_from: AccountId | null
  first_of_version_3: number | null
  group_epoch: number | null
  is_handshake: number | null
}

const SELECT_ROWS = part`
  SELECT messages.position, messages.kind, messages.message_id, messages.seq, messages.at, messages.crypto_v,
    messages.payload, messages.group_epoch, messages.is_handshake, conversations.conv_id, recipient.alias_id AS alias_to, sender.alias_id AS alias_from,
    CASE WHEN lanes.delivered_seq = 0 THEN lanes.unlisted_since ELSE 0 END AS unlisted_since,
    suspensions.account_id AS withheld_from,
    (SELECT MIN(newer.seq) FROM messages AS newer WHERE newer.conversation_id = messages.conversation_id
      AND newer.recipient_id = messages.recipient_id AND newer.crypto_v = 3) AS first_of_version_3
  FROM conversations
  JOIN messages ON messages.conversation_id = conversations.id
  JOIN lanes ON lanes.conversation_id = messages.conversation_id AND lanes.recipient_id = messages.recipient_id
  JOIN accounts AS recipient ON recipient.id = messages.recipient_id
  JOIN accounts AS sender ON sender.id = lanes.sender_id
  LEFT JOIN suspensions ON suspensions.account_id = lanes.sender_id AND messages.kind = 0`

/**
 * Reads mailboxes. Positions are assigned under the mailbox's lock, so no message appears later below a
 * position that was read already.
 */
export class MailboxReader {
  readonly #storage: Storage
  /** Otherwise the reads of thousands of connections that open would wait for the store at the same time. */
  readonly #reads = new AtOnce(MOST_READS)
  readonly #lastPositions = new Together((accounts: readonly AccountId[]) =>
    this.#readLastPositions(accounts),
  )

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** The last position assigned in an account's mailbox. */
  lastPosition(account: AccountId): Promise<number> {
    return this.#lastPositions.do(account)
  }

  /** The stored frames after a position, also withheld ones, oldest first, at most `most`. */
  async read(account: AccountId, afterPosition: number, most: number): Promise<WaitingFrame[]> {
    const rows = await this.#read<Row>(
      ...query`
        ${SELECT_ROWS}
        WHERE messages.recipient_id = ${account} AND messages.position > ${afterPosition}
        ORDER BY messages.position LIMIT ${most}`,
    )
    return rows.map(waitingFrameOf)
  }

  /**
   * The stored frames of one conversation after a `seq`, up to a position of the mailbox, also withheld ones,
   * oldest first, at most `most`.
   */
  async readConversation(
    account: AccountId,
    range: { convId: ConversationId; afterSeq: number; upToPosition: number },
    most: number,
  ): Promise<WaitingFrame[]> {
    const rows = await this.#read<Row>(
      ...query`
        ${SELECT_ROWS}
        WHERE conversations.conv_id = ${range.convId} AND messages.recipient_id = ${account}
          AND messages.seq > ${range.afterSeq} AND messages.position <= ${range.upToPosition}
        ORDER BY messages.seq LIMIT ${most}`,
    )
    return rows.map(waitingFrameOf)
  }

  /** Which of these accounts are not suspended. */
  async readUnsuspended(accounts: Iterable<AccountId>): Promise<ReadonlySet<AccountId>> {
    const unsuspended = new Set(accounts)
    for (const account of unsuspended) {
      const [row] = await this.#storage.sql`SELECT 1 FROM suspensions WHERE account_id = ${account}`
      if (row) unsuspended.delete(account)
    }
    return unsuspended
  }

  /**
   * The marks whose frames may not have reached this account yet.
   * @param conversation the only one to read, if given
   */
  async readReceipts(account: AccountId, conversation?: number): Promise<WaitingReceipts[]> {
    const [first, last] = [conversation ?? 0, conversation ?? Number.MAX_SAFE_INTEGER]
    const rows = await this.#read<{
      conversation_id: number
      delivered_seq: number
      read_seq: number
      told_delivered_seq: number
      told_read_seq: number
      unread_seqs: string
      told_round: number
      conv_id: ConversationId
      last_seq: number
      alias_to: AliasId
      alias_from: AliasId
    }>`
      SELECT lanes.conversation_id, lanes.delivered_seq, lanes.read_seq, lanes.told_delivered_seq, lanes.told_read_seq,
        lanes.unread_seqs, lanes.told_round, conversations.conv_id, conversations.last_seq, sender.alias_id AS alias_to, recipient.alias_id AS alias_from
      FROM lanes
      JOIN conversations ON conversations.id = lanes.conversation_id
      JOIN accounts AS sender ON sender.id = lanes.sender_id
      JOIN accounts AS recipient ON recipient.id = lanes.recipient_id
      WHERE lanes.sender_id = ${account} AND lanes.conversation_id BETWEEN ${first} AND ${last}
        AND (lanes.told_delivered_seq < lanes.delivered_seq OR lanes.told_read_seq < lanes.read_seq)
      ORDER BY lanes.conversation_id`
    return rows.map((row) => {
      const { conv_id, alias_to: to, alias_from: from, delivered_seq: deliveredSeq, read_seq: readSeq } = row
      const after = { deliveredSeq: row.told_delivered_seq, readSeq: row.told_read_seq }
      const { unread_seqs: unreadSeqs, told_round: toldRound, last_seq: lastSeq } = row
      const marks = receiptMarks({ conv_id, to, from, deliveredSeq, readSeq, unreadSeqs, after })
      return { conversation: row.conversation_id, toldRound, lastSeq, marks }
    })
  }

  /** The notices after an id, oldest first, at most `most`. */
  readNotices(account: AccountId, afterId: number, most: number): Promise<Notice[]> {
    return readNotices(this.#read, account, afterId, most)
  }

  /** What is due for some accounts, at least one. */
  readDue(accounts: readonly AccountId[]): Promise<Due[]> {
    return readDue(this.#storage.sql, accounts)
  }

  readonly #read: Sql = (strings, ...values) => this.#reads.run(() => this.#storage.sql(strings, ...values))

  async #readLastPositions(accounts: readonly AccountId[]): Promise<number[]> {
    const rows = await this.#storage.sql<{ account_id: AccountId; last_position: number }>(
      ...query`SELECT account_id, last_position FROM mailboxes WHERE account_id IN ${list(accounts)}`,
    )
    const lastOf = new Map(rows.map(({ account_id, last_position }) => [account_id, last_position]))
    return accounts.map((account) => lastOf.get(account) ?? 0)
  }

  /**
   * Records what has arrived, so that it is not sent again.
   * @param epoch of the connection by which it arrived: what arrived by an older one than the newest is still
   *   due. Undefined in a relay of one process
   */
  async confirm(account: AccountId, arrived: Arrived, epoch: number | undefined): Promise<void> {
    await this.#storage.transaction(async (sql) => {
      const retracted = await sql<{ conversation_id: number }>`
        SELECT DISTINCT conversation_id FROM messages
        WHERE recipient_id = ${account} AND position <= ${arrived.retractionPosition} AND kind = 1`
      await lockConversations(sql, [
        ...arrived.receipts.keys(),
        ...retracted.map((row) => row.conversation_id),
      ])
      if (epoch !== undefined && epoch !== (await readEpoch(sql, account))) return
      for (const [conversation, { toldRound, deliveredSeq, readSeq }] of arrived.receipts) {
        await sql`
          UPDATE lanes SET
            told_delivered_seq = CASE WHEN told_delivered_seq < ${deliveredSeq} THEN ${deliveredSeq} ELSE told_delivered_seq END,
            told_read_seq = CASE WHEN told_read_seq < ${readSeq} THEN ${readSeq} ELSE told_read_seq END
          WHERE conversation_id = ${conversation} AND sender_id = ${account} AND told_round = ${toldRound}`
      }
      if (retracted.length > 0) await deleteRetractions(sql, account, arrived.retractionPosition)
      for (const id of arrived.noticeIds)
        await sql`DELETE FROM notices WHERE account_id = ${account} AND id = ${id}`
    })
  }
}

function waitingFrameOf({ conv_id, alias_to, alias_from, unlisted_since, ...row }: Row): WaitingFrame {
  const kind = kindOf(row.kind)
  const { position, message_id: id, seq, at, crypto_v, payload } = row
  const epoch = row.group_epoch ?? undefined
  const frame = encodeRow(
    { kind, id, seq, at, position, crypto_v, payload, epoch, isHandshake: row.is_handshake === 1 },
    { conv_id, to: alias_to, from: alias_from },
  )
  return {
    ...{ position, seq, convId: conv_id, unlistedSince: unlisted_since, frame },
    isRetraction: kind === 'retraction',
    withheldFrom: row.withheld_from ?? undefined,
    firstOfVersion3: row.first_of_version_3 ?? undefined,
  }
}

async function readEpoch(sql: Sql, account: AccountId): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number }>`SELECT epoch FROM connections WHERE account_id = ${account}`
  return row?.epoch
}

async function deleteRetractions(sql: Sql, account: AccountId, upToPosition: number): Promise<void> {
  const deleted = await sql<{ conversation_id: number }>`
    DELETE FROM messages WHERE recipient_id = ${account} AND position <= ${upToPosition} AND kind = 1
    RETURNING conversation_id`
  const counts = Map.groupBy(deleted, ({ conversation_id }) => conversation_id)
  for (const [conversation, { length }] of counts) {
    await sql`
      UPDATE lanes SET retraction_count = retraction_count - ${length}
      WHERE conversation_id = ${conversation} AND recipient_id = ${account}`
  }
  await sql`
    UPDATE mailboxes SET retraction_count = retraction_count - ${deleted.length} WHERE account_id = ${account}`
}
