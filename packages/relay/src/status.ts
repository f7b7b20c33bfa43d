// The operator's command that shows the relay's figures: `sotto status`.
import * as v from 'valibot'
import { type CertificatePair, validityOf } from './certificates/certificates.ts'
import { NodeLine, readNodes } from './cluster/node-list.ts'
import { type OperatorCommand, operatorCommand } from './listener/operator-command.ts'
import { bytesOfMedia } from './media/media.ts'
import { countOpenReports } from './moderation/moderation.ts'
import type { Clock } from './operations/clock.ts'
import { isExpiryStopped } from './operations/clock-trust.ts'
import type { SpaceState } from './operations/disk-space.ts'
import { readDisk } from './operations/disks.ts'
import type { Storage } from './storage/storage.ts'
import { version } from './version.ts'

const Disk = v.nullable(v.object({ total_bytes: v.number(), free_bytes: v.number() }))

/** The figures of a relay and its store. Bytes are bytes, times are ISO 8601. */
export const Status = v.object({
  /** The version of the program that answered. */
  version: v.string(),
  /** What only a running relay knows; null if none runs. */
  relay: v.nullable(
    v.object({
      uptime_seconds: v.number(),
      /** WebSockets of accounts at this node. */
      connections: v.number(),
      /** The name of this node among `nodes`; empty with an embedded store. */
      node: v.string(),
      memory_bytes: v.number(),
      /** What it still takes: `ok`, or less because a disk is nearly full. */
      storage: v.picklist(['ok', 'short', 'full']),
      /** Why payments wait, such as `evm:1 few`; `lost` while a payment is missing that had counted. */
      payment_troubles: v.array(v.string()),
      /** When its certificate ends; null if it speaks no TLS. */
      certificate_ends_at: v.nullable(v.string()),
    }),
  ),
  /** The nodes that share the store; none with an embedded one. */
  nodes: v.array(NodeLine),
  /** WebSockets of accounts at all nodes that are not silent. */
  connections: v.number(),
  accounts: v.number(),
  /** Messages and retractions that have not arrived yet, and how many accounts they wait for. */
  messages: v.object({ waiting: v.number(), bytes: v.number(), accounts: v.number() }),
  /** Pushes that are still to be sent. */
  pushes_waiting: v.number(),
  database: v.object({
    engine: v.picklist(['SQLite', 'PostgreSQL']),
    bytes: v.number(),
    /** How many of them new rows use before the file grows. */
    reusable_bytes: v.number(),
    /** Null if the relay cannot see the database's disk. */
    disk: Disk,
  }),
  media: v.object({ blobs: v.number(), bytes: v.number(), disk: Disk }),
  orders_pending: v.number(),
  /** Reports by people that are not done. */
  reports_open: v.number(),
  /** Whether the clock jumped, so that nothing expires until the operator says that it is right. */
  is_expiry_stopped: v.boolean(),
})
/** See {@link Status}. */
export type Status = v.InferOutput<typeof Status>

/** The schema of each command's answer. */
export const statusAnswers = { status: Status } as const

/** What only a running relay knows. */
export interface RunningRelay {
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Its name on the bus. */
  readonly node: string
  connections(): number
  storageState(): SpaceState
  certificate(): CertificatePair | undefined
  paymentTroubles(): Promise<readonly string[]>
}

/** Where a relay keeps its data. */
export interface Folders {
  /** Undefined if the relay cannot see the database's disk. */
  readonly database: string | undefined
  readonly media: string
}

/** The command, by its name. @param parts.running undefined if no relay runs */
export function statusCommands(parts: {
  storage: Storage
  clock: Clock
  folders: Folders
  running: RunningRelay | undefined
}): Readonly<Record<keyof typeof statusAnswers, OperatorCommand>> {
  const { storage, clock, folders, running } = parts
  const counts = keptByCost(() => countsOf(storage), clock)
  return {
    status: operatorCommand(v.object({}), async (): Promise<Status> => {
      const { bytes, reusableBytes } = await storage.size()
      const { blobs, ...others } = await counts()
      const relay = running ? await relayOf(running, clock) : null
      const nodes = await readNodes(storage)
      return {
        version,
        relay,
        nodes,
        connections: connectionsOf(relay, nodes),
        ...others,
        database: {
          engine: storage.engine.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL',
          ...{ bytes, reusable_bytes: reusableBytes },
          disk: await diskOf(folders.database),
        },
        media: { blobs, bytes: await bytesOfMedia(storage.sql), disk: await diskOf(folders.media) },
        reports_open: await countOpenReports(storage.sql),
        is_expiry_stopped: await isExpiryStopped(storage),
      }
    }),
  }
}

async function relayOf(running: RunningRelay, clock: Clock): Promise<Status['relay']> {
  const certificate = running.certificate()
  return {
    uptime_seconds: Math.floor((clock.monotonic() - running.startedAt) / 1000),
    connections: running.connections(),
    node: running.node,
    memory_bytes: process.memoryUsage.rss(),
    storage: running.storageState(),
    payment_troubles: [...(await running.paymentTroubles())],
    certificate_ends_at: certificate ? new Date(validityOf(certificate).toMs).toISOString() : null,
  }
}

// The figure of this node is newer than its entry.
function connectionsOf(relay: Status['relay'], nodes: readonly NodeLine[]): number {
  const elsewhere = nodes.filter(({ node, state }) => node !== relay?.node && state !== 'silent')
  return elsewhere.reduce((sum, { connections }) => sum + connections, relay?.connections ?? 0)
}

/** A count is kept so many times as long as it took. On SQLite, nothing else runs while it is made. */
const KEPT_TIMES = 10
const KEPT_MS_AT_MOST = 60_000

// Makes it again only when it is older than its cost allows, so that who asks often does not stop the relay.
function keptByCost<T>(make: () => Promise<T>, clock: Clock): () => Promise<T> {
  let kept: { readonly made: T; readonly until: number } | undefined
  return async () => {
    const begun = clock.monotonic()
    if (kept && begun < kept.until) return kept.made
    const made = await make()
    const ended = clock.monotonic()
    kept = { made, until: ended + Math.min((ended - begun) * KEPT_TIMES, KEPT_MS_AT_MOST) }
    return made
  }
}

/** What is counted row by row. */
type Counts = Pick<Status, 'accounts' | 'messages' | 'pushes_waiting' | 'orders_pending'> & { blobs: number }

// The messages are counted in the mailboxes, because there are fewer of them.
async function countsOf({ sql }: Storage): Promise<Counts> {
  const [accounts] = await sql<Count>`SELECT COUNT(*) AS count FROM accounts WHERE deleted_at IS NULL`
  const [waiting] = await sql<Count & { messages: number; bytes: number }>`
    SELECT COUNT(*) AS count, CAST(COALESCE(SUM(pending_count), 0) AS BIGINT) AS messages,
      CAST(COALESCE(SUM(pending_bytes), 0) AS BIGINT) AS bytes
    FROM mailboxes WHERE pending_count > 0`
  const [pushes] = await sql<Count>`SELECT COUNT(*) AS count FROM push_queue`
  const [orders] = await sql<Count>`SELECT COUNT(*) AS count FROM orders WHERE status = 'pending'`
  const [blobs] = await sql<Count>`SELECT COUNT(*) AS count FROM media_blobs WHERE state = 'stored'`
  return {
    blobs: blobs?.count ?? 0,
    accounts: accounts?.count ?? 0,
    messages: {
      ...{ waiting: waiting?.messages ?? 0, bytes: waiting?.bytes ?? 0 },
      accounts: waiting?.count ?? 0,
    },
    pushes_waiting: pushes?.count ?? 0,
    orders_pending: orders?.count ?? 0,
  }
}

interface Count {
  readonly count: number
}

async function diskOf(folder: string | undefined): Promise<v.InferOutput<typeof Disk>> {
  const disk = folder === undefined ? undefined : await readDisk(folder)
  return disk ? { total_bytes: disk.totalBytes, free_bytes: disk.freeBytes } : null
}
