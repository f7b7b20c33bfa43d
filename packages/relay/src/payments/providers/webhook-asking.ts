// Asking a processor for what it may have failed to tell: its notifications are given up after some tries.
import { setTimeout as sleep } from 'node:timers/promises'
import type { OrderId } from '@sotto/protocol'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { Sql } from '../../storage/storage.ts'
import type { Ledger } from '../provider.ts'
import { AnswerTooLarge, Unreachable } from './bounded-request.ts'
import { Nonsense, type Processor, type Told, Unusable } from './webhook-processor.ts'

/** How often is asked. */
export interface AskingPace {
  /** Between two looks at what is due. */
  readonly roundMs: number
  /** Between two requests for different things. */
  readonly betweenMs: number
  /** Before the same thing is asked for again, while it is new. */
  readonly againMs: number
}

export const askingPace: AskingPace = { roundMs: 15_000, betweenMs: 1000, againMs: 60_000 }

/** Longer than either processor waits for money: NOWPayments does for a week, BTCPay Server for a day. */
const ASKED_FOR_MS = 8 * 86_400_000
/** Asked for again after this part of its age: often while it is new, about forty times in all. */
const PART_OF_AGE = 1 / 4

interface Reference {
  /** `nowpayments/5333977169` */
  readonly reference: string
  readonly since: number
}

/** Keeps what to ask for, in the transaction that gives it meaning. Of an order that is not known nothing is kept. */
export async function keepReference(
  sql: Sql,
  { reference, orderId, now }: { reference: string; orderId: OrderId; now: number },
): Promise<void> {
  await sql`
    INSERT INTO processor_references (reference, since)
    SELECT ${reference}, CAST(${now} AS BIGINT) WHERE EXISTS (SELECT 1 FROM orders WHERE order_id = ${orderId})
    ON CONFLICT (reference) DO NOTHING`
}

/** Asks in rounds, as long as it runs. */
export class Asking {
  readonly #parts: AskingParts
  readonly #stopping: AbortSignal
  readonly #running: Promise<void>
  /** When each was asked for last, or first seen. */
  #asked = new Map<string, number>()
  #isFirst = true
  #isReachable = true
  #completeUntil = 0

  constructor(parts: AskingParts, stopping: AbortSignal) {
    this.#parts = parts
    this.#stopping = stopping
    this.#running = this.#run()
  }

  /** When the last round began in which everything that was due was answered, in milliseconds since 1970. */
  get completeUntil(): number {
    return this.#completeUntil
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
        log.error('payments_round_failed', { error, reason: processor.name })
      }
      await this.#pause(pace.roundMs)
    }
  }

  async #round(): Promise<void> {
    const { ledger, clock, pace } = this.#parts
    const startedAt = clock.now()
    const forgotten = startedAt - ASKED_FOR_MS
    const references = await ledger.transaction(async (_entries, sql) => {
      await sql`DELETE FROM processor_references WHERE since < ${forgotten}`
      return await sql<Reference>`SELECT reference, since FROM processor_references ORDER BY since DESC`
    })
    let isComplete = true
    for (const reference of this.#due(references, startedAt)) {
      if (this.#stopping.aborted) return
      const isAnswered = await this.#ask(reference)
      if (isAnswered) this.#asked.set(reference, startedAt)
      isComplete &&= isAnswered
      await this.#pause(pace.betweenMs)
    }
    if (this.#stopping.aborted || !isComplete) return
    this.#isFirst = false
    this.#completeUntil = startedAt
    if (!this.#isReachable)
      this.#parts.log.info('payments_reachable_again', { reason: this.#parts.processor.name })
    this.#isReachable = true
  }

  // After a start all of them: much may have happened.
  #due(references: readonly Reference[], now: number): string[] {
    const { processor, pace } = this.#parts
    const ours = references.filter(({ reference }) => reference.startsWith(`${processor.name}/`))
    this.#asked = new Map(
      ours.map(({ reference, since }) => {
        const never = this.#isFirst ? Number.NEGATIVE_INFINITY : since
        return [reference, this.#asked.get(reference) ?? never]
      }),
    )
    const isDue = ({ reference, since }: Reference): boolean =>
      now - (this.#asked.get(reference) ?? since) >= Math.max(pace.againMs, (now - since) * PART_OF_AGE)
    return ours.filter(isDue).map(({ reference }) => reference)
  }

  /** @returns whether it answered, be it nonsense: that would come again */
  async #ask(reference: string): Promise<boolean> {
    const { processor, record, log } = this.#parts
    try {
      await record(await processor.look(reference.slice(processor.name.length + 1)))
      return true
    } catch (error) {
      if (this.#stopping.aborted) return false
      if (error instanceof Nonsense || error instanceof Unusable || error instanceof AnswerTooLarge) {
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
    return sleep(ms, undefined, { signal: this.#stopping }).catch(() => undefined) // Stopping ends it.
  }
}

interface AskingParts {
  readonly ledger: Ledger
  readonly processor: Processor
  readonly clock: Clock
  readonly log: Log
  readonly pace: AskingPace
  /** Writes down what was told. */
  readonly record: (told: Told) => Promise<unknown>
}
