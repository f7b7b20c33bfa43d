// Polls a processor for payments whose notifications may have been lost: a processor stops repeating a
// notification after some tries.
import { setTimeout as sleep } from 'node:timers/promises'
import type { OrderId } from '@sotto/protocol'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { TurnOver } from '../../operations/turns.ts'
import type { Sql } from '../../storage/storage.ts'
import type { Ledger } from '../provider.ts'
import { AnswerTooLarge, Unreachable } from './bounded-request.ts'
import { InvalidReport, type Processor, type Report, UnusableAnswer } from './webhook-processor.ts'

/** How often the processor is polled. */
export interface PollingPace {
  /** The pause between two rounds. */
  readonly roundMs: number
  /** The pause between two requests. */
  readonly betweenMs: number
  /** The pause before the same invoice or payment is requested again while it is new. */
  readonly againMs: number
}

export const pollingPace: PollingPace = { roundMs: 15_000, betweenMs: 1000, againMs: 60_000 }

/** Longer than any processor waits for money: NOWPayments waits a week, BTCPay Server a day. */
const POLLED_FOR_MS = 8 * 86_400_000
/**
 * A reference is polled again after this fraction of its age: often while it is new, about forty times in
 * all.
 */
const AGE_FRACTION = 1 / 4

interface Reference {
  /** `nowpayments/5333977169` */
  readonly reference: string
  readonly since: number
}

/**
 * Stores a reference to poll, in the same transaction as what it belongs to. Stores nothing if the order is
 * not known.
 */
export async function keepReference(
  sql: Sql,
  { reference, orderId, now }: { reference: string; orderId: OrderId; now: number },
): Promise<void> {
  await sql`
    INSERT INTO processor_references (reference, since)
    SELECT ${reference}, CAST(${now} AS BIGINT) WHERE EXISTS (SELECT 1 FROM orders WHERE order_id = ${orderId})
    ON CONFLICT (reference) DO NOTHING`
}

/** Polls in rounds until it is stopped. */
export class Polling {
  readonly #parts: PollingParts
  readonly #stopping: AbortSignal
  readonly #running: Promise<void>
  /** When each reference was last polled, or first seen. */
  #polledAt = new Map<string, number>()
  #isFirstRound = true
  #isReachable = true
  #completeUntil = 0

  constructor(parts: PollingParts, stopping: AbortSignal) {
    this.#parts = parts
    this.#stopping = stopping
    this.#running = this.#run()
  }

  /** When the last round began in which every due reference was answered, in milliseconds since 1970. */
  get completeUntil(): number {
    return this.#completeUntil
  }

  /** Whether the processor answered the last request. */
  get isReachable(): boolean {
    return this.#isReachable
  }

  /** Resolves once it has stopped. */
  get stopped(): Promise<void> {
    return this.#running
  }

  async #run(): Promise<void> {
    const { pace, log, processor } = this.#parts
    while (!this.#stopping.aborted) {
      try {
        await this.#round()
      } catch (error) {
        if (!(error instanceof TurnOver))
          log.error('payments_round_failed', { error, reason: processor.name })
      }
      await this.#pause(pace.roundMs)
    }
  }

  async #round(): Promise<void> {
    const { ledger, clock, pace } = this.#parts
    const startedAt = clock.now()
    const oldest = startedAt - POLLED_FOR_MS
    const references = await ledger.transaction(async (_entries, sql) => {
      await sql`DELETE FROM processor_references WHERE since < ${oldest}`
      return await sql<Reference>`SELECT reference, since FROM processor_references ORDER BY since DESC`
    })
    let isComplete = true
    for (const reference of this.#due(references, startedAt)) {
      if (this.#stopping.aborted) return
      const isAnswered = await this.#ask(reference)
      if (isAnswered) this.#polledAt.set(reference, startedAt)
      isComplete &&= isAnswered
      await this.#pause(pace.betweenMs)
    }
    if (this.#stopping.aborted || !isComplete) return
    this.#isFirstRound = false
    this.#completeUntil = startedAt
    if (!this.#isReachable)
      this.#parts.log.info('payments_reachable_again', { reason: this.#parts.processor.name })
    this.#isReachable = true
  }

  // In the first round all references are due, because much may have happened while the relay was away.
  #due(references: readonly Reference[], now: number): string[] {
    const { processor, pace } = this.#parts
    const ours = references.filter(({ reference }) => reference.startsWith(`${processor.name}/`))
    this.#polledAt = new Map(
      ours.map(({ reference, since }) => {
        const never = this.#isFirstRound ? Number.NEGATIVE_INFINITY : since
        return [reference, this.#polledAt.get(reference) ?? never]
      }),
    )
    const isDue = ({ reference, since }: Reference): boolean =>
      now - (this.#polledAt.get(reference) ?? since) >= Math.max(pace.againMs, (now - since) * AGE_FRACTION)
    return ours.filter(isDue).map(({ reference }) => reference)
  }

  /**
   * @returns whether the processor answered. An invalid answer counts too: a repeated request would get the
   *   same
   */
  async #ask(reference: string): Promise<boolean> {
    const { processor, record, log } = this.#parts
    try {
      await record(await processor.lookUp(reference.slice(processor.name.length + 1)))
      return true
    } catch (error) {
      if (this.#stopping.aborted) return false
      if (
        error instanceof InvalidReport ||
        error instanceof UnusableAnswer ||
        error instanceof AnswerTooLarge
      ) {
        log.warn('payments_answer_refused', { reason: `${reference}: ${error.message}` })
        return true
      }
      if (!(error instanceof Unreachable)) throw error
      if (this.#isReachable)
        log.warn('payments_unreachable', { reason: `${processor.name}: ${error.message}` })
      this.#isReachable = false
      return false
    }
  }

  #pause(ms: number): Promise<void> {
    // stop() ends the pause early.
    return sleep(ms, undefined, { signal: this.#stopping }).catch(() => undefined)
  }
}

interface PollingParts {
  readonly ledger: Ledger
  readonly processor: Processor
  readonly clock: Clock
  readonly log: Log
  readonly pace: PollingPace
  /** Records a report in the ledger. */
  readonly record: (report: Report) => Promise<unknown>
}
