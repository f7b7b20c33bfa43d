// Who has to be woken: accounts whose messages find no connection, or one that does not confirm them (protocol, Push).
// Nothing here is on a message's way: it listens to the rings that tell connections of new messages.
import type { Limits } from '@sotto/protocol'
import type { Bus, Ring } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import type { ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { enqueue } from './queue.ts'
import { hasSubscription, listSubscribers } from './subscriptions.ts'

const LOOK_EVERY_MS = 250
/** Messages rarely come alone: what comes within this is one wake. */
const SETTLE_MS = 1000
/** Bounds the time one look takes, and that others wait for it. */
const MOST_AT_ONCE = 500
const MOST_IN_TURN = 50
const PAGE = 500

/** Messages that nobody may have seen. */
interface Doubt {
  /** Up to where of the mailbox they were there when it began. */
  readonly position: number
  /** When it began, in monotonic milliseconds. */
  readonly since: number
  /** When to look whether they are still there. */
  readonly dueAt: number
  /** Whether their recipient may be connected to another node, which this one would not know. */
  readonly isFromAfar: boolean
}

/** What deciding about wakes is built from. */
export interface WakesParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Log
  /** Called when something was queued. */
  readonly queued: () => void
}

export class Wakes implements ConnectionFollower {
  readonly #parts: WakesParts
  readonly #connections = new Map<AccountId, Connection>()
  readonly #doubts = new Map<AccountId, Doubt>()
  #subscribers = new Set<AccountId>()
  // Whoever subscribes while the subscribers are read must not be missed.
  #reading: Set<AccountId> | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #round: Promise<void> | undefined
  readonly #calls = new Set<Promise<void>>()

  constructor(parts: WakesParts) {
    this.#parts = parts
    parts.bus.listen((account, ring) => this.#hear(account, ring))
  }

  async start(): Promise<void> {
    await this.#read(() => undefined)
    this.#timer = setInterval(() => {
      if (this.#doubts.size === 0) return
      this.#round ??= this.#look()
        .catch((error) => this.#parts.log.error('wakes_failed', { error }))
        .finally(() => {
          this.#round = undefined
        })
    }, LOOK_EVERY_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#round
    await Promise.all(this.#calls)
  }

  opened(connection: Connection): void {
    this.#connections.set(connection.account, connection)
  }

  closed(connection: Connection): void {
    if (this.#connections.get(connection.account) === connection) this.#connections.delete(connection.account)
  }

  /** From here on the account is woken. */
  subscribed(account: AccountId): void {
    this.#subscribers.add(account)
    this.#reading?.add(account)
  }

  /** Wakes an account for a call that found no connection. */
  wakeForCall(account: AccountId): void {
    if (!this.#subscribers.has(account)) return
    const call = this.#wakeForCall(account)
      .catch((error) => this.#parts.log.error('wakes_failed', { error, account }))
      .finally(() => this.#calls.delete(call))
    this.#calls.add(call)
  }

  /**
   * Looks through everybody who is woken for messages that no ring told of: a process that ended between an `ack` and a
   * wake, or another node. Run again and again.
   */
  async sweep(signal: AbortSignal): Promise<void> {
    await this.#read((account) => {
      if (this.#doubts.has(account)) return
      const since = this.#parts.clock.monotonic()
      this.#doubts.set(account, { position: 0, since, dueAt: since, isFromAfar: true })
    }, signal)
  }

  async #read(isWaiting: (account: AccountId) => void, signal?: AbortSignal): Promise<void> {
    const found = new Set<AccountId>()
    this.#reading = found
    let last = 0
    for (let isMore = true; isMore && !signal?.aborted; ) {
      const page = await listSubscribers(this.#parts.storage.sql, last, PAGE)
      for (const { account_id: account, is_waiting } of page) {
        found.add(account)
        if (is_waiting === 1) isWaiting(account)
        last = account
      }
      isMore = page.length === PAGE
      await new Promise((resolve) => setImmediate(resolve)) // Others come first.
    }
    this.#reading = undefined
    if (!signal?.aborted) this.#subscribers = found
  }

  #hear(account: AccountId, ring: Ring): void {
    if (ring.kind !== 'mailbox' || !this.#subscribers.has(account) || this.#doubts.has(account)) return
    const since = this.#parts.clock.monotonic()
    this.#doubts.set(account, {
      position: ring.lastPosition,
      since,
      dueAt: since + this.#patienceMs(account, false),
      isFromAfar: false,
    })
  }

  /** How long messages may be where they are before their recipient is woken. */
  #patienceMs(account: AccountId, isFromAfar: boolean): number {
    const isConnected = isFromAfar || this.#connections.has(account)
    return isConnected ? this.#parts.limits.pushUnconfirmedSeconds * 1000 : SETTLE_MS
  }

  async #look(): Promise<void> {
    const now = this.#parts.clock.monotonic()
    const due: [AccountId, Doubt][] = []
    for (const [account, doubt] of this.#doubts) {
      if (doubt.dueAt <= now) due.push([account, doubt])
      if (due.length === MOST_AT_ONCE) break
    }
    for (let i = 0; i < due.length; i += MOST_IN_TURN) {
      await this.#lookAt(due.slice(i, i + MOST_IN_TURN))
      await new Promise((resolve) => setImmediate(resolve)) // Messages come first.
    }
  }

  async #lookAt(due: readonly [AccountId, Doubt][]): Promise<void> {
    // Rings that come from here on begin doubts of their own.
    for (const [account] of due) this.#doubts.delete(account)
    const toWake: { account: AccountId; position: number }[] = []
    for (const [account, doubt] of due) {
      const judged = await this.#judge(account, doubt)
      if (judged) toWake.push(judged)
    }
    if (toWake.length === 0) return
    await this.#parts.storage.passing(async (sql) => {
      for (const { account, position } of toWake) await this.#wake(sql, account, position)
    })
    this.#parts.queued()
  }

  /** @returns the account where it has to be woken, and for which message of its mailbox */
  async #judge(
    account: AccountId,
    doubt: Doubt,
  ): Promise<{ account: AccountId; position: number } | undefined> {
    const { storage, clock, limits } = this.#parts
    const oldest = await findUnconfirmed(storage.sql, account)
    if (!oldest) return undefined
    const now = clock.monotonic()
    const { isFromAfar } = doubt
    const patienceMs = this.#patienceMs(account, isFromAfar)
    const isSame = oldest.position <= doubt.position
    if (isSame && now - doubt.since >= patienceMs) return { account, position: oldest.position }
    // What was doubted has been confirmed and newer messages have come, or the account has connected meanwhile.
    const ageMs = Math.min(Math.max(clock.now() - oldest.at, 0), limits.pushUnconfirmedSeconds * 1000)
    const since = isSame ? doubt.since : now - ageMs
    this.#doubts.set(account, { position: oldest.position, since, dueAt: since + patienceMs, isFromAfar })
    return undefined
  }

  async #wake(sql: Sql, account: AccountId, position: number): Promise<void> {
    const { clock, limits } = this.#parts
    if (!(await hasSubscription(sql, account))) return
    const now = clock.now()
    const gapMs = limits.pushMessageSeconds * 1000
    const [isFirst] = await sql<{ account_id: AccountId }>`
      INSERT INTO push_wakes (account_id, position, message_at, call_at)
      SELECT account_id, last_position, CAST(${now} AS BIGINT), 0 FROM mailboxes WHERE account_id = ${account}
      ON CONFLICT (account_id) DO UPDATE SET position = excluded.position, message_at = excluded.message_at
        WHERE push_wakes.message_at <= ${now - gapMs} OR push_wakes.message_at > ${now}
      RETURNING account_id`
    if (isFirst) {
      await enqueue(sql, { account, kind: 'message', now, lifeMs: limits.pushMessageLifeSeconds * 1000 })
      return
    }
    const [last] = await sql<{ message_at: number }>`
      SELECT message_at FROM push_wakes WHERE account_id = ${account}`
    const since = clock.monotonic()
    const dueAt = since + Math.max(0, (last?.message_at ?? 0) + gapMs - now)
    this.#doubts.set(account, { position, since, dueAt, isFromAfar: false })
  }

  async #wakeForCall(account: AccountId): Promise<void> {
    const { storage, clock, limits } = this.#parts
    const now = clock.now()
    const isQueued = await storage.passing(async (sql) => {
      if (!(await hasSubscription(sql, account))) return false
      const [isFirst] = await sql<{ account_id: AccountId }>`
        INSERT INTO push_wakes (account_id, position, message_at, call_at)
        VALUES (${account}, 0, 0, ${now})
        ON CONFLICT (account_id) DO UPDATE SET call_at = excluded.call_at
          WHERE push_wakes.call_at <= ${now - limits.pushCallSeconds * 1000} OR push_wakes.call_at > ${now}
        RETURNING account_id`
      if (!isFirst) return false
      await enqueue(sql, { account, kind: 'call', now, lifeMs: limits.pushCallLifeSeconds * 1000 })
      return true
    })
    if (isQueued) this.#parts.queued()
  }
}

/** An account has just been woken for messages: one that was late keeps the next as far away as one in time does. */
export async function noteMessageWake(sql: Sql, account: AccountId, now: number): Promise<void> {
  await sql`UPDATE push_wakes SET message_at = ${now} WHERE account_id = ${account} AND message_at < ${now}`
}

/** The oldest message that an account has neither confirmed nor been woken for. Retractions wake nobody. */
async function findUnconfirmed(
  sql: Sql,
  account: AccountId,
): Promise<{ position: number; at: number } | undefined> {
  const [row] = await sql<{ position: number; at: number }>`
    SELECT position, at FROM messages
    WHERE recipient_id = ${account} AND kind = 0 AND position > COALESCE(
      (SELECT position FROM push_wakes WHERE account_id = ${account}), 0)
    ORDER BY position LIMIT 1`
  return row
}
