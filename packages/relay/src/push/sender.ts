// Hands queued wakes to push services: a bounded number at a time, and fewer to one host, so that a slow service holds up
// nobody's wakes but its own.
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { type RandomBytes, randomBelow } from '../operations/random.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import type { Outcome, PushService } from './push-service.ts'
import { finish, listDueHosts, putBack, type QueuedWake, takeDue } from './queue.ts'
import { removeSubscription, type Target } from './subscriptions.ts'
import { noteMessageWake } from './wakes.ts'

const MOST_AT_ONCE = 256
const MOST_TO_ONE_HOST = 32
/** How many for one host are taken out before the next host has its turn. */
const MOST_IN_TURN = 8
const LOOK_EVERY_MS = 1000
/** How long a subscription may refuse everything before it is taken for dead. */
const FAILING_MS = 7 * 86_400_000

const FIRST_RETRY_MS = 5000
const MOST_RETRY_MS = 900_000

/** What the sender is built from. */
export interface SenderParts {
  readonly storage: Storage
  readonly services: Readonly<Record<Target['kind'], PushService>>
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

export class Sender {
  readonly #parts: SenderParts
  readonly #toHost = new Map<string, number>()
  readonly #sends = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: ReturnType<typeof setInterval> | undefined
  #round: Promise<void> | undefined
  /** Hosts that something may be due for, the one whose turn it is first. */
  readonly #hosts = new Set<string>()
  #looksAround = false

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Begins with what an earlier process left. */
  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS)
    this.look()
  }

  /** Cuts off what is under way: it is sent by the next process. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#round
    await Promise.all(this.#sends)
  }

  /** Sends what is due. To be called when something was queued. */
  look(): void {
    this.#looksAround = true
    this.#wake()
  }

  #wake(): void {
    if (this.#stopping.signal.aborted) return
    this.#round ??= this.#sendDue()
      .catch((error) => this.#parts.log.error('push_queue_failed', { error }))
      .finally(() => {
        this.#round = undefined
      })
  }

  async #sendDue(): Promise<void> {
    const { storage, clock } = this.#parts
    do {
      if (this.#looksAround) {
        this.#looksAround = false
        for (const host of await listDueHosts(storage.sql, clock.now())) this.#hosts.add(host)
      }
      const plan = this.#plan()
      if (plan.length === 0) continue // Nothing is written by a relay that has nobody to wake.
      const now = clock.now()
      const found = await storage.passing(async (sql) => {
        const each: (Awaited<ReturnType<typeof takeDue>> & { host: string })[] = []
        for (const { host, most } of plan) each.push({ host, ...(await takeDue(sql, { host, now, most })) })
        return each
      })
      for (const { host, taken, isMore } of found) {
        // Whoever has more goes to the end of the line, behind the other hosts.
        this.#hosts.delete(host)
        if (isMore) this.#hosts.add(host)
        for (const wake of taken) this.#begin(wake)
      }
    } while ((this.#looksAround || this.#plan().length > 0) && !this.#stopping.signal.aborted)
  }

  /** How many wakes to take out for which host: as far as there are places, and a few at a time. */
  #plan(): { host: string; most: number }[] {
    const plan: { host: string; most: number }[] = []
    let places = MOST_AT_ONCE - this.#sends.size
    for (const host of this.#hosts) {
      const most = Math.min(places, MOST_IN_TURN, MOST_TO_ONE_HOST - (this.#toHost.get(host) ?? 0))
      if (most > 0) plan.push({ host, most })
      places -= Math.max(0, most)
      if (places <= 0) break
    }
    return plan
  }

  #begin(wake: QueuedWake): void {
    const { host } = wake.to
    this.#toHost.set(host, (this.#toHost.get(host) ?? 0) + 1)
    const send = this.#send(wake)
      .catch((error) => this.#parts.log.error('push_failed', { error, account: wake.to.account_id }))
      .finally(() => {
        this.#sends.delete(send)
        const left = (this.#toHost.get(host) ?? 1) - 1
        if (left === 0) this.#toHost.delete(host)
        else this.#toHost.set(host, left)
        this.#wake() // Somebody may wait for the place.
      })
    this.#sends.add(send)
  }

  async #send(wake: QueuedWake): Promise<void> {
    const { services, storage } = this.#parts
    const outcome = await services[wake.to.kind].send(wake.to, wake.kind, this.#stopping.signal)
    await storage.passing((sql) => this.#note(sql, wake, outcome))
  }

  async #note(sql: Sql, wake: QueuedWake, outcome: Outcome): Promise<void> {
    const now = this.#parts.clock.now()
    switch (outcome.kind) {
      case 'taken':
        await finish(sql, wake, now)
        if (wake.kind === 'message') await noteMessageWake(sql, wake.to.account_id, now)
        if (wake.to.failing_since !== null)
          await sql`UPDATE push_subscriptions SET failing_since = NULL WHERE id = ${wake.to.id}`
        return
      case 'gone':
        return await removeSubscription(sql, wake.to.id)
      case 'refused':
        await finish(sql, wake, now)
        return await this.#noteFailure(sql, wake, outcome)
      case 'later': {
        if (this.#stopping.signal.aborted) return await putBack(sql, wake, now)
        const next = now + Math.max(outcome.afterMs ?? 0, this.#retryMs(wake.attempts))
        if (next < wake.expiresAt) await putBack(sql, wake, next)
        else await finish(sql, wake, now)
        return await this.#noteFailure(sql, wake, outcome)
      }
      default:
        outcome satisfies never
    }
  }

  // A service that fails for an hour is no reason to forget whom it serves; one that does so for a week is.
  async #noteFailure(
    sql: Sql,
    { to }: QueuedWake,
    outcome: { reason: string; status?: number },
  ): Promise<void> {
    const now = this.#parts.clock.now()
    if (to.failing_since === null) {
      await sql`UPDATE push_subscriptions SET failing_since = ${now} WHERE id = ${to.id} AND failing_since IS NULL`
      const code = outcome.status === undefined ? {} : { code: outcome.status }
      this.#parts.log.warn('push_refused', {
        account: to.account_id,
        reason: outcome.reason,
        url: to.host,
        ...code,
      })
    } else if (now - to.failing_since > FAILING_MS) await removeSubscription(sql, to.id)
  }

  // Twice as long every time, and not for all at the same moment.
  #retryMs(attempts: number): number {
    const ms = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), MOST_RETRY_MS)
    return ms + randomBelow(this.#parts.randomBytes, Math.ceil(ms / 4))
  }
}
