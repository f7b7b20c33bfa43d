// The end of a message's life: what nobody fetched in time is erased, and its sender is told. Expiry trusts the
// clock only while it agrees with the monotonic one.
import { encodeFrame, errorMeanings, type Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { workThrough } from '../operations/work-through.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { addNotice } from './notices.ts'
import { MESSAGE_KINDS } from './page.ts'

const DAY_MS = 86_400_000
/** Lanes, or sent ids, looked at in one transaction. */
const CHUNK = 500
/** How many of each one round looks at before the next goes on there: its cost does not grow with the store. */
const LANES_A_ROUND = 20_000
const IDS_A_ROUND = 50_000
const FIRST_LANE = { conversation_id: 0, recipient_id: 0 }
const FIRST_SENT_ID = { sender_id: 0, message_id: '' }
const MOST_DRIFT_MS = 3_600_000
const STOPPED = 'expiry_stopped'

interface Parts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Log
}

export class Expiry {
  readonly #parts: Parts
  /** When both clocks were last taken to agree. */
  #agreed: { readonly now: number; readonly monotonic: number }
  #wasStopped = false
  #lastLane = FIRST_LANE
  #lastSentId = FIRST_SENT_ID

  constructor(parts: Parts) {
    this.#parts = parts
    this.#agreed = { now: parts.clock.now(), monotonic: parts.clock.monotonic() }
  }

  /**
   * One round over what may have expired, from where the last one stopped. Does nothing once the clock has jumped,
   * until {@link resumeExpiry}.
   */
  async sweep(signal: AbortSignal = new AbortController().signal): Promise<void> {
    const { storage, clock, limits, log } = this.#parts
    if (await this.isStopped()) {
      this.#wasStopped = true
      return
    }
    // The operator said go on: whatever the clock shows now is right.
    if (this.#wasStopped) this.#agreed = { now: clock.now(), monotonic: clock.monotonic() }
    this.#wasStopped = false
    if (this.#hasClockJumped()) {
      log.error('expiry_stopped', { reason: 'the clock jumped; run sotto resume-expiry once it is right' })
      await setState(storage, STOPPED, new Date(clock.now()).toISOString())
      this.#wasStopped = true
      return
    }
    const now = clock.now()
    const before = now - limits.messageLifeDays * DAY_MS
    await this.#expireMessages(before, signal)
    await storage.transaction(async (sql) => {
      await sql`DELETE FROM messages WHERE kind = 1 AND at < ${before}`
      await sql`DELETE FROM notices WHERE created_at < ${before}`
    })
    await this.#forgetSentIds(now - limits.sentIdDays * DAY_MS, signal)
  }

  /** True while expiry waits for the operator. */
  async isStopped(): Promise<boolean> {
    return (await getState(this.#parts.storage.sql, STOPPED)) !== undefined
  }

  /** Whether what is over may end now: not once the clock has jumped, until the operator says that it is right. */
  async mayExpire(): Promise<boolean> {
    return !this.#hasClockJumped() && !(await this.isStopped())
  }

  #hasClockJumped(): boolean {
    const { clock } = this.#parts
    const elapsed = clock.monotonic() - this.#agreed.monotonic
    return Math.abs(clock.now() - this.#agreed.now - elapsed) > MOST_DRIFT_MS
  }

  // A lane's messages are in order of time, so its first one tells whether there is anything to do.
  async #expireMessages(before: number, signal: AbortSignal): Promise<void> {
    const { storage, log } = this.#parts
    for (let seen = 0; seen < LANES_A_ROUND && !signal.aborted; seen += CHUNK) {
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
        FROM lanes WHERE pending_count > 0
          AND (conversation_id, recipient_id) > (${after.conversation_id}, ${after.recipient_id})
        ORDER BY conversation_id, recipient_id LIMIT ${CHUNK}`
      const due = lanes.filter(({ oldest }) => oldest !== null && oldest < before)
      const onFailure = (error: unknown): void => log.error('expiry_failed', { error })
      const failed = await workThrough(due, (lane) => this.#expireLane(lane, before), { onFailure })
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
  ): Promise<void> {
    const { storage, bus, clock } = this.#parts
    const { conversation_id: conversation, recipient_id: recipient } = lane
    const told = await storage.transaction(async (sql) => {
      // Takes the conversation's lock, in the order everybody takes locks in.
      const [row] = await sql<{ conv_id: string }>`
        UPDATE conversations SET is_open = is_open WHERE id = ${conversation} RETURNING conv_id`
      const expired = await sql<{ kind: number; message_id: string; bytes: number }>`
        DELETE FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient} AND at < ${before}
        RETURNING kind, message_id, octet_length(payload) AS bytes`
      const messages = expired.filter(({ kind }) => kind === MESSAGE_KINDS.message)
      const bytes = messages.reduce((sum, message) => sum + message.bytes, 0)
      const [direction] = await sql<{ sender_id: AccountId }>`
        UPDATE lanes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes}
        WHERE conversation_id = ${conversation} AND recipient_id = ${recipient} RETURNING sender_id`
      await sql`
        UPDATE mailboxes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes}
        WHERE account_id = ${recipient}`
      if (!row || !direction) throw new Error('a lane without its conversation')
      const notices: { id: number; frame: string }[] = []
      for (const { message_id: id } of messages) {
        const message = errorMeanings.EXPIRED
        const frame = encodeFrame({ type: 'error', error: 'EXPIRED', message, id, conv_id: row.conv_id })
        notices.push({ id: await addNotice(sql, direction.sender_id, frame, clock.now()), frame })
      }
      return { sender: direction.sender_id, notices }
    })
    for (const notice of told.notices) bus.ring(told.sender, { kind: 'notice', ...notice })
  }

  // By key, in small steps: an index by age would cost every message that is sent.
  async #forgetSentIds(before: number, signal: AbortSignal): Promise<void> {
    const { storage } = this.#parts
    for (let seen = 0; seen < IDS_A_ROUND && !signal.aborted; seen += CHUNK) {
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

/** Lets expiry go on after the clock has jumped: the operator says that it is right now. */
export async function resumeExpiry(storage: Storage): Promise<void> {
  await storage.transaction((sql) => sql`DELETE FROM relay_state WHERE name = ${STOPPED}`)
}

async function getState(sql: Sql, name: string): Promise<string | undefined> {
  const [row] = await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = ${name}`
  return row?.value
}

async function setState(storage: Storage, name: string, value: string): Promise<void> {
  await storage.transaction(
    (sql) => sql`
      INSERT INTO relay_state (name, value) VALUES (${name}, ${value})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
}
