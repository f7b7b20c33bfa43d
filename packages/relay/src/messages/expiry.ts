// The end of a message's life: what nobody fetched in time is erased, and its sender is told. Expiry trusts the
// clock only while it agrees with the monotonic one.
import { encodeFrame, errors, type Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { MESSAGE_KINDS } from './page.ts'

const DAY_MS = 86_400_000
/** Lanes, or sent ids, looked at in one transaction. */
const CHUNK = 200
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

  constructor(parts: Parts) {
    this.#parts = parts
    this.#agreed = { now: parts.clock.now(), monotonic: parts.clock.monotonic() }
  }

  /** One pass over all that may have expired. Does nothing once the clock has jumped, until {@link resumeExpiry}. */
  async sweep(): Promise<void> {
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
      return
    }
    const now = clock.now()
    await this.#expireMessages(now - limits.messageLifeDays * DAY_MS)
    await storage.transaction(
      (sql) => sql`DELETE FROM messages WHERE kind = 1 AND at < ${now - limits.messageLifeDays * DAY_MS}`,
    )
    await this.#forgetSentIds(now - limits.sentIdDays * DAY_MS)
  }

  /** True while expiry waits for the operator. */
  async isStopped(): Promise<boolean> {
    return (await getState(this.#parts.storage.sql, STOPPED)) !== undefined
  }

  #hasClockJumped(): boolean {
    const { clock } = this.#parts
    const elapsed = clock.monotonic() - this.#agreed.monotonic
    return Math.abs(clock.now() - this.#agreed.now - elapsed) > MOST_DRIFT_MS
  }

  // A lane's messages are in order of time, so its first one tells whether there is anything to do.
  async #expireMessages(before: number): Promise<void> {
    const { storage } = this.#parts
    let after = { conversation_id: 0, recipient_id: 0 }
    for (;;) {
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
      for (const lane of lanes) {
        if (lane.oldest !== null && lane.oldest < before) await this.#expireLane(lane, before)
      }
      const last = lanes.at(-1)
      if (!last || lanes.length < CHUNK) return
      after = last
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
      const frames = messages.map(({ message_id: id }) =>
        encodeFrame({
          type: 'error',
          error: 'EXPIRED',
          message: errors.EXPIRED.means,
          id,
          conv_id: row.conv_id,
        }),
      )
      for (const frame of frames) {
        await sql`
          INSERT INTO notices (account_id, frame, created_at) VALUES (${direction.sender_id}, ${frame}, ${clock.now()})`
      }
      return { sender: direction.sender_id, frames }
    })
    for (const frame of told.frames) bus.ring(told.sender, { kind: 'frame', frame })
  }

  // By key, in small steps: an index by age would cost every message that is sent.
  async #forgetSentIds(before: number): Promise<void> {
    const { storage } = this.#parts
    let after = { sender_id: 0, message_id: '' }
    for (;;) {
      const ids = await storage.sql<{ sender_id: number; message_id: string; at: number }>`
        SELECT sender_id, message_id, at FROM sent_ids
        WHERE (sender_id, message_id) > (${after.sender_id}, ${after.message_id})
        ORDER BY sender_id, message_id LIMIT ${CHUNK * 10}`
      const old = ids.filter(({ at }) => at < before)
      if (old.length > 0) await storage.transaction((sql) => forget(sql, old))
      const last = ids.at(-1)
      if (!last || ids.length < CHUNK * 10) return
      after = last
      await new Promise((resolve) => setTimeout(resolve, 5)) // Messages go first.
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
