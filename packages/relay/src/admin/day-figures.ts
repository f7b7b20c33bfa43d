// The figures of the last day, one row a minute, for the charts of the admin page.
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { Storage } from '../storage/storage.ts'

const MINUTE_MS = 60_000
/** So many minutes are kept. */
const MINUTES = 1440
const PERCENTILE = 0.95
/** How far the clocks of nodes may differ. */
const CLOCKS_DIFFER_MINUTES = 2

/** What happened in a minute, and what there was at its end. */
export const MinuteFigures = v.object({
  /** When it began, in ISO 8601. */
  at: v.string(),
  connections: v.number(),
  messages: v.number(),
  registrations: v.number(),
  /**
   * Within so many milliseconds 95 of 100 messages were acknowledged, on the node where it took longest; null
   * if there were none.
   */
  ack_ms: v.nullable(v.number()),
  database_bytes: v.number(),
  media_bytes: v.number(),
  /** Lines of the log of level error. */
  errors: v.number(),
  /** Errors that clients got. */
  refusals: v.number(),
})
/** See {@link MinuteFigures}. */
export type MinuteFigures = v.InferOutput<typeof MinuteFigures>

interface Row extends Omit<MinuteFigures, 'at' | 'ack_ms'> {
  readonly minute: number
  readonly ack_us: number | null
}

interface Parts {
  readonly storage: Storage
  readonly clock: Clock
  readonly metrics: RelayMetrics
  readonly connections: () => number
  readonly mediaBytes: () => Promise<number>
}

/** What was counted since the process started. */
interface Counts {
  readonly messages: number
  readonly registrations: number
  readonly errors: number
  readonly refusals: number
  readonly acks: readonly number[]
}

export class DayFigures {
  readonly #parts: Parts
  #written: Counts
  /** The connections of this node that the row of a minute has. */
  #connections = { minute: 0, written: 0 }

  constructor(parts: Parts) {
    this.#parts = parts
    this.#written = countsOf(parts.metrics)
  }

  /**
   * Adds what was counted since the last time to the row of this minute, which all nodes share, and removes
   * rows that are not of the last day. If it fails, the next time writes it.
   */
  async write(): Promise<void> {
    const { storage, clock, metrics, connections, mediaBytes } = this.#parts
    const [size, media] = [await storage.size(), await mediaBytes()]
    const [counts, before] = [countsOf(metrics), this.#written]
    const minute = Math.floor(clock.now() / MINUTE_MS)
    const [messages, registrations] = [
      counts.messages - before.messages,
      counts.registrations - before.registrations,
    ]
    const [errors, refusals] = [counts.errors - before.errors, counts.refusals - before.refusals]
    const acks = counts.acks.map((count, index) => count - (before.acks[index] ?? 0))
    const open = connections()
    // Other nodes may have written this row. On SQLite, only a process before this one.
    const isShared = storage.engine.dialect === 'postgres' ? 1 : 0
    const isAgain = isShared === 1 && this.#connections.minute === minute
    const newly = open - (isAgain ? this.#connections.written : 0)
    const ackSeconds = metrics.ackSeconds.quantile(PERCENTILE, acks)
    const ackUs = ackSeconds === undefined ? null : Math.round(ackSeconds * 1_000_000)
    await storage.transaction(async (sql) => {
      await sql`
        INSERT INTO day_figures (minute, connections, messages, registrations, ack_us, database_bytes, media_bytes,
          errors, refusals)
        VALUES (${minute}, ${newly}, ${messages}, ${registrations}, ${ackUs}, ${size.bytes}, ${media},
          ${errors}, ${refusals})
        ON CONFLICT (minute) DO UPDATE SET
          connections = excluded.connections + CASE WHEN ${isShared} = 1 THEN day_figures.connections ELSE 0 END,
          messages = day_figures.messages + excluded.messages,
          registrations = day_figures.registrations + excluded.registrations,
          ack_us = CASE WHEN COALESCE(day_figures.ack_us, 0) > COALESCE(excluded.ack_us, 0)
            THEN day_figures.ack_us ELSE excluded.ack_us END,
          database_bytes = excluded.database_bytes,
          media_bytes = excluded.media_bytes,
          errors = day_figures.errors + excluded.errors,
          refusals = day_figures.refusals + excluded.refusals`
      // If the clock was ahead, some rows are of the future.
      await sql`DELETE FROM day_figures WHERE minute <= ${minute - MINUTES}
        OR minute > ${minute + CLOCKS_DIFFER_MINUTES}`
    })
    this.#written = counts
    this.#connections = { minute, written: open }
  }

  /** The minutes of the last day that have a row, oldest first. */
  async list(): Promise<MinuteFigures[]> {
    const { storage, clock } = this.#parts
    const since = Math.floor(clock.now() / MINUTE_MS) - MINUTES
    const rows = await storage.sql<Row>`SELECT * FROM day_figures WHERE minute > ${since} ORDER BY minute`
    return rows.map(({ minute, ack_us, ...row }) => ({
      ...row,
      at: new Date(minute * MINUTE_MS).toISOString(),
      ack_ms: ack_us === null ? null : ack_us / 1000,
    }))
  }
}

function countsOf({ framesReceived, requests, logLines, errors, ackSeconds }: RelayMetrics): Counts {
  return {
    messages: framesReceived.countOf('msg'),
    registrations: requests.countOf('register', '2xx'),
    errors: logLines.countOf('error'),
    refusals: errors.total(),
    acks: ackSeconds.counts(),
  }
}
