// Expiry: erases messages that were not delivered in time and sends their senders a notice.
import { encodeFrame, errorMeanings, type Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { Sliced } from '../operations/slices.ts'
import { workThrough } from '../operations/work-through.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { MESSAGE_KINDS } from './batch-rows.ts'
import { addNotice } from './notices.ts'
import { coverMore } from './stored-frames.ts'
import { withoutSeqs } from './unread-seqs.ts'

const DAY_MS = 86_400_000
/** How many lanes, or sent ids, one query reads. */
const CHUNK = 500
/**
 * How many of each one pass checks. The next pass continues there, so the cost does not grow with the store.
 */
const LANES_PER_PASS = 20_000
const IDS_PER_PASS = 50_000
const FIRST_LANE = { conversation_id: 0, recipient_id: 0 }
const FIRST_SENT_ID = { sender_id: 0, message_id: '' }

interface Parts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Log
}

export class Expiry {
  readonly #parts: Parts
  #lastLane = FIRST_LANE
  #lastSentId = FIRST_SENT_ID

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Checks the next rows for expiry, starting where the previous pass stopped. Needs a clock that can be
   * trusted.
   */
  async sweep(given: Partial<Sliced> = {}): Promise<void> {
    const { clock, limits } = this.#parts
    const { storage = this.#parts.storage, signal = new AbortController().signal } = given
    const work = { storage, signal }
    const now = clock.now()
    const before = now - limits.messageLifeDays * DAY_MS
    await this.#expireMessages(before, work)
    await storage.transaction(
      (sql) => sql`DELETE FROM notices WHERE created_at < ${before} AND kept_for IS NULL`,
    )
    await this.#forgetSentIds(now - limits.sentIdDays * DAY_MS, work)
  }

  // The messages and retractions of a lane are in order of time, so its first one shows whether any has
  // expired.
  async #expireMessages(before: number, work: Sliced): Promise<void> {
    const { log } = this.#parts
    const { storage, signal } = work
    for (let seen = 0; seen < LANES_PER_PASS && !signal.aborted; seen += CHUNK) {
      const after = this.#lastLane
      const lanes = await storage.sql<{
        conversation_id: number
        recipient_id: AccountId
        oldest: number | null
      }>`
        SELECT conversation_id, recipient_id, (
          SELECT at FROM messages WHERE messages.conversation_id = lanes.conversation_id
            AND messages.recipient_id = lanes.recipient_id ORDER BY seq LIMIT 1
        ) AS oldest
        FROM lanes WHERE (pending_count > 0 OR retraction_count > 0)
          AND (conversation_id, recipient_id) > (${after.conversation_id}, ${after.recipient_id})
        ORDER BY conversation_id, recipient_id LIMIT ${CHUNK}`
      const due = lanes.filter(({ oldest }) => oldest !== null && oldest < before)
      const onFailure = (error: unknown): void => log.error('expiry_failed', { error })
      const failed = await workThrough(due, (lane) => this.#expireLane(lane, before, storage), {
        onFailure,
        signal,
      })
      if (failed) {
        this.#lastLane = failed
        return
      }
      this.#lastLane = lanes.length < CHUNK ? FIRST_LANE : (lanes.at(-1) ?? FIRST_LANE)
      if (this.#lastLane === FIRST_LANE) return
    }
  }

  async #expireLane(
    lane: { conversation_id: number; recipient_id: AccountId },
    before: number,
    storage: Storage,
  ): Promise<void> {
    const { bus, clock } = this.#parts
    const { conversation_id: conversation, recipient_id: recipient } = lane
    const expiry = await storage.transaction(async (sql) => {
      // Locks the conversation first, in the same order as every other transaction.
      const [row] = await sql<{ conv_id: string }>`
        UPDATE conversations SET is_open = is_open WHERE id = ${conversation} RETURNING conv_id`
      const expired = await sql<{ kind: number; message_id: string; seq: number; bytes: number }>`
        DELETE FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient} AND at < ${before}
        RETURNING kind, message_id, seq, octet_length(payload) AS bytes`
      const messages = expired.filter(({ kind }) => kind === MESSAGE_KINDS.message)
      const bytes = messages.reduce((sum, message) => sum + message.bytes, 0)
      const retractions = expired.length - messages.length
      const [direction] = await sql<{
        sender_id: AccountId
        delivered_seq: number
        read_seq: number
        unread_seqs: string
        told_round: number
      }>`
        UPDATE lanes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes},
          retraction_count = retraction_count - ${retractions}
        WHERE conversation_id = ${conversation} AND recipient_id = ${recipient} 
        RETURNING sender_id, delivered_seq, read_seq, unread_seqs, told_round`
      await sql`
        UPDATE mailboxes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes},
          retraction_count = retraction_count - ${retractions}
        WHERE account_id = ${recipient}`
      if (!row || !direction) throw new Error('a lane without its conversation')
      const marks = {
        deliveredSeq: direction.delivered_seq,
        readSeq: direction.read_seq,
        unreadSeqs: withoutSeqs(
          direction.unread_seqs,
          messages.map(({ seq }) => seq),
        ),
      }
      if (marks.unreadSeqs !== direction.unread_seqs) {
        await sql`
          UPDATE lanes SET unread_seqs = ${marks.unreadSeqs}
          WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}`
      }
      const notices: { id: number; frame: string }[] = []
      for (const { message_id: id } of messages) {
        const message = errorMeanings.EXPIRED
        const frame = encodeFrame({ type: 'error', error: 'EXPIRED', message, id, conv_id: row.conv_id })
        notices.push({ id: await addNotice(sql, direction.sender_id, frame, { now: clock.now() }), frame })
      }
      const hasNewlyCovering = coverMore(marks, { ...marks, unreadSeqs: direction.unread_seqs })
      const toldRound = direction.told_round
      return { sender: direction.sender_id, notices, hasNewlyCovering, toldRound }
    })
    const { sender, notices, hasNewlyCovering, toldRound } = expiry
    for (const notice of notices) bus.ring(sender, { kind: 'notice', ...notice })
    if (hasNewlyCovering) {
      bus.ring(sender, {
        ...{ kind: 'receipt', conversation, toldRound, lastSeq: 0, marks: [], hasNewlyCovering },
      })
    }
  }

  // Scans by key, in small steps. An index by age would make every sent message more expensive.
  async #forgetSentIds(before: number, { storage, signal }: Sliced): Promise<void> {
    for (let seen = 0; seen < IDS_PER_PASS && !signal.aborted; seen += CHUNK) {
      const after = this.#lastSentId
      const ids = await storage.sql<{ sender_id: number; message_id: string; at: number }>`
        SELECT sender_id, message_id, at FROM sent_ids
        WHERE (sender_id, message_id) > (${after.sender_id}, ${after.message_id})
        ORDER BY sender_id, message_id LIMIT ${CHUNK}`
      const old = ids.filter(({ at }) => at < before)
      if (old.length > 0) await storage.transaction((sql) => forget(sql, old))
      this.#lastSentId = ids.length < CHUNK ? FIRST_SENT_ID : (ids.at(-1) ?? FIRST_SENT_ID)
      if (this.#lastSentId === FIRST_SENT_ID) return
    }
  }
}

async function forget(sql: Sql, ids: readonly { sender_id: number; message_id: string }[]): Promise<void> {
  for (const { sender_id, message_id } of ids) {
    await sql`DELETE FROM sent_ids WHERE sender_id = ${sender_id} AND message_id = ${message_id}`
  }
}
