// Expiry: erases messages that were not delivered in time and sends their senders a notice.
import type { ConversationId, Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { Sliced } from '../operations/slices.ts'
import { workThrough } from '../operations/work-through.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { type ErasedRow, ringErased, settleErased } from './erased-messages.ts'

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
    const erased = await storage.transaction(async (sql) => {
      // Locks the conversation first, in the same order as every other transaction.
      const [row] = await sql<{ conv_id: ConversationId }>`
        UPDATE conversations SET is_open = is_open WHERE id = ${conversation} RETURNING conv_id`
      if (!row) throw new Error('a lane without its conversation')
      const rows = await sql<ErasedRow>`
        DELETE FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient} AND at < ${before}
        RETURNING kind, message_id, seq, octet_length(payload) AS bytes`
      const settled = { conversation, convId: row.conv_id, recipient }
      return await settleErased(sql, settled, rows, { error: 'EXPIRED', now: clock.now() })
    })
    ringErased(bus, erased)
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
