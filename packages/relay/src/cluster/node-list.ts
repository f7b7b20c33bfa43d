// The list of the nodes that share a PostgreSQL: each one writes every few seconds that it works, so that an
// operator sees all of them from any of them.
import { hostname } from 'node:os'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import { part, query, type ReadStorage, type Storage } from '../storage/storage.ts'
import type { Bus } from './bus.ts'

const EVERY_MS = 5000
/** A node that has written nothing for this long is dead, stands still, or cannot reach the database. */
const SILENT_MS = 15_000
const FORGOTTEN_AFTER_MS = 86_400_000

/** By the clock of PostgreSQL, at this moment and not at the transaction's begin. */
const NOW = part`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`

/** What a node tells of itself. */
export interface NodeReport {
  readonly connections: number
  /** How many accounts registered at it in the last ten minutes. */
  readonly registrations: number
}

interface Parts {
  readonly storage: Storage
  readonly bus: Pick<Bus, 'node' | 'state'>
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  /** The migrations that this node knows. */
  readonly schema: number
  /** A short hash of each setting that all nodes share, by its name. */
  readonly settings: Readonly<Record<string, string>>
  readonly port: number
  /** The number of this process if several serve the port. */
  readonly worker?: number | undefined
  readonly report: () => NodeReport
  /** Takes how many accounts registered at the other nodes in the last ten minutes. */
  readonly onRegistrationsElsewhere: (count: number) => void
}

/** The entry of this node. With an embedded store, which has one node, nothing is written. */
export class NodeList {
  readonly #parts: Parts
  readonly #failed: RepeatedWarning
  #timer: ReturnType<typeof setInterval> | undefined
  #writing: Promise<void> | undefined
  #isDraining = false
  #clockAheadMs = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#failed = new RepeatedWarning('node_not_listed', parts)
  }

  /** Adds this node, in the place of one that ended there without removing itself. */
  async start(): Promise<void> {
    const { storage, bus } = this.#parts
    if (storage.engine.dialect === 'sqlite') return
    await storage.unsyncedTransaction(
      (sql) => sql`DELETE FROM nodes WHERE place = ${this.#place} AND node <> ${bus.node}`,
    )
    await this.#write()
    await this.#write() // The first one has measured the clock.
    this.#timer = setInterval(() => void this.#writeNow(), EVERY_MS)
  }

  /** Tells that this node is about to stop. */
  async drain(): Promise<void> {
    if (!this.#timer) return
    this.#isDraining = true
    await this.#writing
    await this.#writeNow()
  }

  /** Removes this node. */
  async stop(): Promise<void> {
    if (!this.#timer) return
    clearInterval(this.#timer)
    await this.#writing
    const { storage, bus } = this.#parts
    await storage
      .unsyncedTransaction((sql) => sql`DELETE FROM nodes WHERE node = ${bus.node}`)
      .catch((error) => this.#failed.happened({ error })) // It is shown as silent for a day.
  }

  async #writeNow(): Promise<void> {
    this.#writing ??= this.#write()
      .catch((error) => this.#failed.happened({ error }))
      .finally(() => {
        this.#writing = undefined
      })
    await this.#writing
  }

  async #write(): Promise<void> {
    const { storage, bus, clock, version, schema, settings, report, onRegistrationsElsewhere } = this.#parts
    const { connections, registrations } = report()
    const isDraining = Number(this.#isDraining)
    const isBusHeard = Number(bus.state.isHeard)
    const [others] = await storage.unsyncedTransaction(async (sql) => {
      const askedAt = clock.now()
      const [own] = await sql<{ seen_at: number }>(
        ...query`
        INSERT INTO nodes (node, place, version, schema_known, settings, started_at, seen_at, clock_ahead_ms,
          connections, registrations, is_draining, is_bus_heard)
        VALUES (${bus.node}, ${this.#place}, ${version}, ${schema}, ${JSON.stringify(settings)}, ${NOW}, ${NOW},
          ${this.#clockAheadMs}, ${connections}, ${registrations}, ${isDraining}, ${isBusHeard})
        ON CONFLICT (node) DO UPDATE SET seen_at = ${NOW}, clock_ahead_ms = excluded.clock_ahead_ms,
          connections = excluded.connections, registrations = excluded.registrations,
          is_draining = excluded.is_draining, is_bus_heard = excluded.is_bus_heard
        RETURNING seen_at`,
      )
      if (own) this.#clockAheadMs = Math.round((askedAt + clock.now()) / 2) - own.seen_at
      return await sql<{ registrations: number }>(
        ...query`
        SELECT CAST(COALESCE(SUM(registrations), 0) AS BIGINT) AS registrations FROM nodes
        WHERE node <> ${bus.node} AND seen_at > ${NOW} - ${SILENT_MS}`,
      )
    })
    onRegistrationsElsewhere(others?.registrations ?? 0)
  }

  get #place(): string {
    const { port, worker } = this.#parts
    const address = `${hostname()}:${port}`
    return worker === undefined ? address : `${address} (worker ${worker})`
  }
}

/** Removes the nodes that have been silent for a day. */
export async function forgetNodes({ engine, unsyncedTransaction }: Storage): Promise<void> {
  if (engine.dialect === 'sqlite') return
  await unsyncedTransaction((sql) =>
    sql(...query`DELETE FROM nodes WHERE seen_at < ${NOW} - ${FORGOTTEN_AFTER_MS}`),
  )
}

/** A node as an operator sees it. Times are ISO 8601, by the clock of PostgreSQL. */
export const NodeLine = v.object({
  /** Its name on the bus, which is new at each start. */
  node: v.string(),
  /** Its machine and port, and the number of the worker. */
  place: v.string(),
  version: v.string(),
  schema: v.number(),
  /** `silent`: it has written nothing for 15 seconds. */
  state: v.picklist(['alive', 'draining', 'silent']),
  started_at: v.string(),
  last_seen_at: v.string(),
  silent_seconds: v.number(),
  /** WebSockets of accounts, when it was last seen. */
  connections: v.number(),
  /** Whether it heard what it told other nodes. */
  bus: v.picklist(['ok', 'silent']),
  clock_ahead_ms: v.number(),
  /** A short hash of each setting that all nodes share. */
  settings: v.record(v.string(), v.string()),
})
/** See {@link NodeLine}. */
export type NodeLine = v.InferOutput<typeof NodeLine>

/** How many nodes there are, by their state. */
export async function countNodes(
  storage: Pick<ReadStorage, 'engine' | 'sql'>,
): Promise<Record<NodeLine['state'], number>> {
  const counts = { alive: 0, draining: 0, silent: 0 }
  for (const { state } of await readNodes(storage)) counts[state] += 1
  return counts
}

interface Row extends Omit<NodeLine, 'state' | 'bus' | 'started_at' | 'last_seen_at' | 'settings'> {
  readonly started_at: number
  readonly seen_at: number
  readonly now: number
  readonly is_draining: number
  readonly is_bus_heard: number
  readonly settings: string
}

const Settings = v.record(v.string(), v.string())

/** All nodes, by their places; none with an embedded store. */
export async function readNodes({ engine, sql }: Pick<ReadStorage, 'engine' | 'sql'>): Promise<NodeLine[]> {
  if (engine.dialect === 'sqlite') return []
  const rows = await sql<Row>(
    ...query`
    SELECT node, place, version, schema_known AS schema, settings, started_at, seen_at, clock_ahead_ms,
      connections, is_draining, is_bus_heard, ${NOW} AS now FROM nodes ORDER BY place, started_at`,
  )
  return rows.map(({ now, seen_at, started_at, is_draining, is_bus_heard, settings, ...same }) => {
    const silentMs = Math.max(0, now - seen_at)
    const working = is_draining === 1 ? 'draining' : 'alive'
    return {
      ...same,
      state: silentMs > SILENT_MS ? 'silent' : working,
      started_at: new Date(started_at).toISOString(),
      last_seen_at: new Date(seen_at).toISOString(),
      silent_seconds: Math.floor(silentMs / 1000),
      bus: is_bus_heard === 1 ? 'ok' : 'silent',
      settings: v.parse(Settings, JSON.parse(settings)),
    }
  })
}
