// Decides which accounts to wake: those with messages that no connection received, or that a connection
// received but did not confirm (protocol, Push). It listens to the same rings (notifications on the bus) that
// connections listen to, and never delays a message.
import type { Limits } from '@sotto/protocol'
import type { Bus, Ring } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import type { ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { enqueue } from './queue.ts'
import { hasSubscription, listSubscribers } from './subscriptions.ts'

const CHECK_EVERY_MS = 250
/** Messages often come in groups. All that arrive within this time cause one wake-up push. */
const COLLECT_MS = 1000
/** Limits how long one check takes, and how long other work waits for it. */
const MOST_AT_ONCE = 500
const MOST_IN_BATCH = 50
const SUBSCRIBERS_AT_ONCE = 500

/** Messages that no connected device may have received. */
interface UnconfirmedMessages {
  /** The last position of the mailbox when this entry was made. */
  readonly position: number
  /** When this entry was made, in monotonic milliseconds. */
  readonly since: number
  /** When to check whether the messages are still unconfirmed. */
  readonly dueAt: number
  /** Whether the recipient may be connected to another node, which this node cannot see. */
  readonly mayBeElsewhere: boolean
}

/** The parts that WakeDecisions needs. */
export interface WakeDecisionsParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly log: Log
  /** Called when something was queued. */
  readonly queued: () => void
}

export class WakeDecisions implements ConnectionFollower {
  readonly #parts: WakeDecisionsParts
  readonly #connections = new Map<AccountId, Connection>()
  readonly #unconfirmed = new Map<AccountId, UnconfirmedMessages>()
  #subscribers = new Set<AccountId>()
  // The set that #readSubscribers is filling. Accounts that subscribe meanwhile are added to it too.
  #subscribersRead: Set<AccountId> | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #check: Promise<void> | undefined
  readonly #callWakes = new Set<Promise<void>>()

  constructor(parts: WakeDecisionsParts) {
    this.#parts = parts
    parts.bus.listen((account, ring, isOwn) => {
      if (isOwn) this.#onRing(account, ring) // Each message is decided about once, where it was stored.
    })
  }

  async start(): Promise<void> {
    await this.#readSubscribers(() => undefined)
    this.#timer = setInterval(() => {
      if (this.#unconfirmed.size === 0) return
      this.#check ??= this.#checkDue()
        .catch((error) => this.#parts.log.error('wakes_failed', { error }))
        .finally(() => {
          this.#check = undefined
        })
    }, CHECK_EVERY_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#check
    await Promise.all(this.#callWakes)
  }

  opened(connection: Connection): void {
    this.#connections.set(connection.account, connection)
  }

  closed(connection: Connection): void {
    if (this.#connections.get(connection.account) === connection) this.#connections.delete(connection.account)
  }

  /** The account has a subscription from now on, so it can be woken. */
  subscribed(account: AccountId): void {
    this.#subscribers.add(account)
    this.#subscribersRead?.add(account)
  }

  /** Wakes an account for a call that found no connection. */
  wakeForCall(account: AccountId): void {
    if (!this.#subscribers.has(account)) return
    const call = this.#wakeForCall(account)
      .catch((error) => this.#parts.log.error('wakes_failed', { error, account }))
      .finally(() => this.#callWakes.delete(call))
    this.#callWakes.add(call)
  }

  /**
   * Checks the mailboxes of all subscribers for messages that no ring announced: a process can end between an
   * `ack` and a wake-up push, and another node can store a message. Runs periodically.
   */
  async sweep(signal: AbortSignal): Promise<void> {
    await this.#readSubscribers((account) => {
      if (this.#unconfirmed.has(account)) return
      const since = this.#parts.clock.monotonic()
      this.#unconfirmed.set(account, { position: 0, since, dueAt: since, mayBeElsewhere: true })
    }, signal)
  }

  async #readSubscribers(onWaiting: (account: AccountId) => void, signal?: AbortSignal): Promise<void> {
    const found = new Set<AccountId>()
    this.#subscribersRead = found
    let last = 0
    for (let isMore = true; isMore && !signal?.aborted; ) {
      const subscribers = await listSubscribers(this.#parts.storage.sql, last, SUBSCRIBERS_AT_ONCE)
      for (const { account_id: account, is_waiting } of subscribers) {
        found.add(account)
        if (is_waiting === 1) onWaiting(account)
        last = account
      }
      isMore = subscribers.length === SUBSCRIBERS_AT_ONCE
      await new Promise((resolve) => setImmediate(resolve)) // Lets other work run first.
    }
    this.#subscribersRead = undefined
    if (!signal?.aborted) this.#subscribers = found
  }

  #onRing(account: AccountId, ring: Ring): void {
    if (ring.kind !== 'mailbox' || !this.#subscribers.has(account) || this.#unconfirmed.has(account)) return
    const since = this.#parts.clock.monotonic()
    const mayBeElsewhere = this.#parts.bus.isShared
    const dueAt = since + this.#waitMs(account, mayBeElsewhere)
    this.#unconfirmed.set(account, { position: ring.lastPosition, since, dueAt, mayBeElsewhere })
  }

  /** How long messages may stay unconfirmed before their recipient is woken. */
  #waitMs(account: AccountId, mayBeElsewhere: boolean): number {
    const isConnected = mayBeElsewhere || this.#connections.has(account)
    return isConnected ? this.#parts.limits.pushUnconfirmedSeconds * 1000 : COLLECT_MS
  }

  async #checkDue(): Promise<void> {
    const now = this.#parts.clock.monotonic()
    const due: [AccountId, UnconfirmedMessages][] = []
    for (const [account, unconfirmed] of this.#unconfirmed) {
      if (unconfirmed.dueAt <= now) due.push([account, unconfirmed])
      if (due.length === MOST_AT_ONCE) break
    }
    for (let i = 0; i < due.length; i += MOST_IN_BATCH) {
      await this.#checkBatch(due.slice(i, i + MOST_IN_BATCH))
      await new Promise((resolve) => setImmediate(resolve)) // Lets waiting messages go first.
    }
  }

  async #checkBatch(due: readonly [AccountId, UnconfirmedMessages][]): Promise<void> {
    // Rings that arrive from now on make new entries.
    for (const [account] of due) this.#unconfirmed.delete(account)
    const toWake: { account: AccountId; position: number }[] = []
    for (const [account, unconfirmed] of due) {
      const wake = await this.#decide(account, unconfirmed)
      if (wake) toWake.push(wake)
    }
    if (toWake.length === 0) return
    await this.#parts.storage.unsyncedTransaction(async (sql) => {
      for (const { account, position } of toWake) await this.#wake(sql, account, position)
    })
    this.#parts.queued()
  }

  /** @returns the account if it must be woken, with the position of the message that it is woken for */
  async #decide(
    account: AccountId,
    unconfirmed: UnconfirmedMessages,
  ): Promise<{ account: AccountId; position: number } | undefined> {
    const { storage, clock, limits } = this.#parts
    const oldest = await findUnconfirmed(storage.sql, account)
    if (!oldest) return undefined
    const now = clock.monotonic()
    const { mayBeElsewhere } = unconfirmed
    const waitMs = this.#waitMs(account, mayBeElsewhere)
    const isSame = oldest.position <= unconfirmed.position
    if (isSame && now - unconfirmed.since >= waitMs) return { account, position: oldest.position }
    // The earlier messages were confirmed and newer ones have come, or the account has connected meanwhile.
    const ageMs = Math.min(Math.max(clock.now() - oldest.at, 0), limits.pushUnconfirmedSeconds * 1000)
    const since = isSame ? unconfirmed.since : now - ageMs
    this.#unconfirmed.set(account, {
      position: oldest.position,
      since,
      dueAt: since + waitMs,
      mayBeElsewhere,
    })
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
    this.#unconfirmed.set(account, { position, since, dueAt, mayBeElsewhere: false })
  }

  async #wakeForCall(account: AccountId): Promise<void> {
    const { storage, clock, limits } = this.#parts
    const now = clock.now()
    const isQueued = await storage.unsyncedTransaction(async (sql) => {
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

/**
 * Records that an account was woken for messages just now, so that a late push delays the next one as much as
 * a punctual push does.
 */
export async function recordMessageWake(sql: Sql, account: AccountId, now: number): Promise<void> {
  await sql`UPDATE push_wakes SET message_at = ${now} WHERE account_id = ${account} AND message_at < ${now}`
}

/**
 * The oldest message that an account has neither confirmed nor been woken for. Retractions never wake an
 * account.
 */
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
