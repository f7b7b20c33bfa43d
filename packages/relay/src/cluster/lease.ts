// A lease: a row of the store that says which node has the turn to do some work. Its fence, a number that
// grows with each turn, is compared by every transaction of the work. So a node that slept cannot write when
// it wakes up, however late it learns that its turn is over.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { type Turn, TurnOver, type Turns } from '../operations/turns.ts'
import { part, query, type Sql, type SqlPart, type Storage } from '../storage/storage.ts'

/** How long a turn lasts after its last renewal. If its node dies, another one begins after this. */
const LIFE_MS = 6000

/** By the clock of PostgreSQL, at this moment and not at the transaction's begin. */
const NOW = part`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`

interface LeaseParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  readonly lifeMs?: number
}

interface OwnTurn extends Turn {
  readonly fence: number
  readonly over: AbortController
  /** Ends it if it is not renewed in time. */
  timer?: ReturnType<typeof setTimeout>
}

/**
 * The turns of one kind of work, on all nodes that share a PostgreSQL. On SQLite the process has the store to
 * itself, so its turn lasts from `start` to `stop`, and nothing is written.
 */
export class Lease implements Turns {
  readonly #name: string
  readonly #parts: LeaseParts
  readonly #holder: string
  readonly #lifeMs: number
  readonly #works: ((turn: Turn) => Promise<void>)[] = []
  readonly #stopping = new AbortController()
  #turn: OwnTurn | undefined
  /** The work of this turn. */
  #working: Promise<unknown> = Promise.resolve()
  /** The rest of the work of the turn before, for which the next one waits. */
  #ending: Promise<unknown> | undefined
  #looking: Promise<void> | undefined
  #isFailing = false

  /** @param name the kind of work, the same on all nodes */
  constructor(name: string, parts: LeaseParts) {
    this.#name = name
    this.#parts = parts
    this.#holder = randomText(parts.randomBytes, 9)
    this.#lifeMs = parts.lifeMs ?? LIFE_MS
  }

  get current(): Turn | undefined {
    return this.#turn
  }

  inEach(work: (turn: Turn) => Promise<void>): void {
    this.#works.push(work)
  }

  /** Begins a turn now if it is no other node's, and otherwise as soon as it is not. */
  async start(): Promise<void> {
    const { storage } = this.#parts
    if (storage.engine.dialect === 'sqlite') {
      this.#begin(0, storage)
      return
    }
    await this.#look()
    this.#looking = this.#keepLooking()
  }

  /** Ends the turn, waits for its work, and lets another node begin at once. */
  async stop(): Promise<void> {
    const { storage, log } = this.#parts
    this.#stopping.abort()
    if (this.#turn) this.#end(this.#turn)
    await this.#looking
    await this.#ending
    if (storage.engine.dialect === 'sqlite') return
    await storage
      .unsyncedTransaction(
        (sql) => sql`UPDATE leases SET ends_at = 0 WHERE name = ${this.#name} AND holder = ${this.#holder}`,
      )
      .catch((error) => log.warn('lease_failed', { reason: this.#name, error })) // It ends by itself.
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#stopping
    for (;;) {
      await pause(this.#lifeMs / 3, undefined, { signal }).catch(() => undefined) // stop() ends it early.
      if (signal.aborted) return
      await this.#look()
    }
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#parts
    const askedAt = clock.monotonic()
    try {
      if (this.#turn) await this.#renew(this.#turn, askedAt)
      else if (!this.#ending) await this.#take(askedAt)
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) log.warn('lease_failed', { reason: this.#name, error })
      this.#isFailing = true
    }
  }

  async #take(askedAt: number): Promise<void> {
    const { storage, log } = this.#parts
    // Most looks end here, and write nothing.
    const taken = await storage.sql<{ fence: number }>(
      ...query`SELECT fence FROM leases WHERE name = ${this.#name} AND NOT (${this.#isFree})`,
    )
    if (taken.length > 0) return
    const [own] = await storage.unsyncedTransaction((sql) =>
      sql<{ fence: number }>(
        ...query`
          INSERT INTO leases (name, holder, fence, ends_at) VALUES (${this.#name}, ${this.#holder}, 1, ${this.#endsAt})
          ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = leases.fence + 1, ends_at = ${this.#endsAt}
          WHERE ${this.#isFree} RETURNING fence`,
      ),
    )
    if (!own || this.#stopping.signal.aborted) return
    log.info('lease_taken', { reason: this.#name })
    this.#endUnlessRenewed(this.#begin(own.fence, this.#fenced(own.fence)), askedAt)
  }

  async #renew(turn: OwnTurn, askedAt: number): Promise<void> {
    const { storage } = this.#parts
    const renewed = await storage.unsyncedTransaction((sql) =>
      sql<{ fence: number }>(
        ...query`
          UPDATE leases SET ends_at = ${this.#endsAt}
          WHERE name = ${this.#name} AND holder = ${this.#holder} AND fence = ${turn.fence} RETURNING fence`,
      ),
    )
    if (renewed.length === 0) this.#lose(turn)
    else this.#endUnlessRenewed(turn, askedAt)
  }

  #begin(fence: number, storage: Storage): OwnTurn {
    const { log } = this.#parts
    const over = new AbortController()
    const turn = { fence, storage, over, signal: over.signal }
    this.#turn = turn
    const works = this.#works.map((work) =>
      work(turn).catch((error) => {
        if (over.signal.aborted) return
        log.error('lease_work_failed', { reason: this.#name, error })
        this.#end(turn) // The next look begins another turn.
      }),
    )
    this.#working = Promise.all(works)
    return turn
  }

  // The node's own clock decides only when it stops by itself. What is written is decided by the fence.
  #endUnlessRenewed(turn: OwnTurn, since: number): void {
    const leftMs = this.#lifeMs - (this.#parts.clock.monotonic() - since)
    clearTimeout(turn.timer)
    if (!turn.over.signal.aborted) turn.timer = setTimeout(() => this.#lose(turn), Math.max(0, leftMs))
  }

  #lose(turn: OwnTurn): void {
    if (turn.over.signal.aborted) return
    this.#parts.log.warn('lease_lost', { reason: this.#name })
    this.#end(turn)
  }

  #end(turn: OwnTurn): void {
    clearTimeout(turn.timer)
    this.#turn = undefined
    turn.over.abort()
    this.#ending = this.#working.finally(() => {
      this.#ending = undefined
    })
  }

  // FOR KEY SHARE holds off the next turn until the transaction ends, and does not hold off renewals. A node
  // that stops in the middle of it would hold it off for ever, so the database ends the transaction.
  #fenced(fence: number): Storage {
    const { storage } = this.#parts
    const check = async (sql: Sql): Promise<void> => {
      const [own] = await sql<{ fence: number }>`
        SELECT fence, set_config('idle_in_transaction_session_timeout', ${String(this.#lifeMs)}, true) FROM leases
        WHERE name = ${this.#name} AND holder = ${this.#holder} AND fence = ${fence} FOR KEY SHARE`
      if (own) return
      if (this.#turn?.fence === fence) this.#lose(this.#turn)
      throw new TurnOver()
    }
    return {
      ...storage,
      transaction: (work) =>
        storage.transaction(async (sql) => {
          await check(sql)
          return await work(sql)
        }),
      unsyncedTransaction: (work) =>
        storage.unsyncedTransaction(async (sql) => {
          await check(sql)
          return await work(sql)
        }),
    }
  }

  get #endsAt(): SqlPart {
    return part`${NOW} + ${this.#lifeMs}`
  }

  // No turn ends later than one that begins now, unless the database's clock was set back.
  get #isFree(): SqlPart {
    return part`(leases.holder = ${this.#holder} OR leases.ends_at <= ${NOW} OR leases.ends_at > ${this.#endsAt})`
  }
}
