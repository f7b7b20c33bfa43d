// Sends queued wake-up pushes to push services: a limited number at a time, and fewer to one host, so that a
// slow service delays only its own.
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { type RandomBytes, randomBelow } from '../operations/random.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import type { Outcome, PushService } from './push-service.ts'
import { finish, listDueHosts, putBack, type QueuedWake, takeDue } from './queue.ts'
import { removeSubscription, type Target } from './subscriptions.ts'
import { recordMessageWake } from './wake-decisions.ts'

const MOST_AT_ONCE = 256
const MOST_TO_ONE_HOST = 32
/** How many pushes for one host are taken from the queue before the next host is served. */
const MOST_IN_BATCH = 8
const CHECK_EVERY_MS = 1000
/** How long all pushes to a subscription may fail before it is deleted. */
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
  readonly metrics: RelayMetrics
}

export class Sender {
  readonly #parts: SenderParts
  readonly #toHost = new Map<string, number>()
  readonly #sends = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: ReturnType<typeof setInterval> | undefined
  #running: Promise<void> | undefined
  /** Hosts that may have pushes due, in the order in which they are served. */
  readonly #hosts = new Set<string>()
  #mustListHosts = false

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Starts sending, including what an earlier process left in the queue. */
  start(): void {
    this.#timer = setInterval(() => this.checkQueue(), CHECK_EVERY_MS)
    this.checkQueue()
  }

  /** Aborts the pushes that are being sent. They go back to the queue, for the next process. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#running
    await Promise.all(this.#sends)
  }

  /** Looks for due pushes and sends them. Called on a timer and when something was queued. */
  checkQueue(): void {
    this.#mustListHosts = true
    this.#run()
  }

  #run(): void {
    if (this.#stopping.signal.aborted) return
    this.#running ??= this.#sendDue()
      .catch((error) => this.#parts.log.error('push_queue_failed', { error }))
      .finally(() => {
        this.#running = undefined
      })
  }

  async #sendDue(): Promise<void> {
    const { storage, clock } = this.#parts
    do {
      if (this.#mustListHosts) {
        this.#mustListHosts = false
        for (const host of await listDueHosts(storage.sql, clock.now())) this.#hosts.add(host)
      }
      const plan = this.#plan()
      if (plan.length === 0) continue // Write nothing to the store when nobody is to be woken.
      const now = clock.now()
      const found = await storage.unsyncedTransaction(async (sql) => {
        const each: (Awaited<ReturnType<typeof takeDue>> & { host: string })[] = []
        for (const { host, most } of plan) each.push({ host, ...(await takeDue(sql, { host, now, most })) })
        return each
      })
      for (const { host, taken, isMore } of found) {
        // A host with more pushes goes to the end of the queue, behind the other hosts.
        this.#hosts.delete(host)
        if (isMore) this.#hosts.add(host)
        for (const wake of taken) this.#begin(wake)
      }
    } while ((this.#mustListHosts || this.#plan().length > 0) && !this.#stopping.signal.aborted)
  }

  /** How many pushes to take for which host: limited by free places and by the batch size. */
  #plan(): { host: string; most: number }[] {
    const plan: { host: string; most: number }[] = []
    let places = MOST_AT_ONCE - this.#sends.size
    for (const host of this.#hosts) {
      const most = Math.min(places, MOST_IN_BATCH, MOST_TO_ONE_HOST - (this.#toHost.get(host) ?? 0))
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
        this.#run() // Another push may wait for the free place.
      })
    this.#sends.add(send)
  }

  async #send(wake: QueuedWake): Promise<void> {
    const { services, storage } = this.#parts
    const outcome = await services[wake.to.kind].send(wake.to, wake.kind, this.#stopping.signal)
    this.#parts.metrics.pushes.count(outcome.kind)
    await storage.unsyncedTransaction((sql) => this.#recordOutcome(sql, wake, outcome))
  }

  async #recordOutcome(sql: Sql, wake: QueuedWake, outcome: Outcome): Promise<void> {
    const now = this.#parts.clock.now()
    switch (outcome.kind) {
      case 'taken':
        await finish(sql, wake, now)
        if (wake.kind === 'message') await recordMessageWake(sql, wake.to.account_id, now)
        if (wake.to.failing_since !== null)
          await sql`UPDATE push_subscriptions SET failing_since = NULL WHERE id = ${wake.to.id}`
        return
      case 'gone':
        return await removeSubscription(sql, wake.to.id)
      case 'refused':
        await finish(sql, wake, now)
        return await this.#recordFailure(sql, wake, outcome)
      case 'later': {
        if (this.#stopping.signal.aborted) return await putBack(sql, wake, now)
        const next = now + Math.max(outcome.afterMs ?? 0, this.#retryMs(wake.attempts))
        if (next < wake.expiresAt) await putBack(sql, wake, next)
        else await finish(sql, wake, now)
        return await this.#recordFailure(sql, wake, outcome)
      }
      default:
        outcome satisfies never
    }
  }

  // A subscription is deleted after a week of failures, not sooner.
  async #recordFailure(
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

  // The delay doubles with each attempt. A random part spreads the retries.
  #retryMs(attempts: number): number {
    const ms = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), MOST_RETRY_MS)
    return ms + randomBelow(this.#parts.randomBytes, Math.ceil(ms / 4))
  }
}
