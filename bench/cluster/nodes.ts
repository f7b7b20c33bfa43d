// Starts nodes that share a PostgreSQL, and measures the CPU time of each process.
import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { type NatsServer, startNats } from '../../packages/relay/test/nats-server.ts'
import { startOwnPostgres } from '../../packages/relay/test/postgres-server.ts'
import { type RelayProcess, startRelay } from '../../packages/relay/test/relay-process.ts'
import { treeCpuMs } from '../measure.ts'
import { BENCH_SETTINGS } from '../server-process.ts'

/** What carries the bus of a cluster. */
export type Carrier = 'PostgreSQL' | 'NATS'

/** A PostgreSQL, and what runs on it. It ends all of them when it is disposed of. */
export interface Database extends AsyncDisposable {
  /** The CPU time that all its processes have used, in milliseconds. */
  cpuMs(): number
  /** Starts nodes that share a database of their own. */
  startNodes(count: number, options?: NodeOptions): Promise<MeasuredNode[]>
}

/** How nodes are started. */
export interface NodeOptions {
  /** PostgreSQL if undefined. */
  readonly bus?: Carrier
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>
}

/** A running node. */
export interface MeasuredNode {
  readonly pid: number
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** The CPU time that it has used, with that of its workers, in milliseconds. */
  cpuMs(): number
  stop(): Promise<void>
}

/** Starts a PostgreSQL with its default settings, so each commit waits for the disk. */
export async function startDatabase(): Promise<Database> {
  const server = await startOwnPostgres()
  const postmaster = await postmasterOf(server.url)
  const nodes: MeasuredNode[] = []
  let nats: NatsServer | undefined
  return {
    cpuMs: () => treeCpuMs(postmaster),
    startNodes: async (count, { bus, env } = {}) => {
      const started: MeasuredNode[] = []
      const shared: Record<string, string> = { ...env, DATABASE_URL: await server.createDatabase() }
      if (bus === 'NATS') {
        nats ??= await startNats()
        shared.NATS_URL = nats.url
      }
      // One after the other: the first one makes the schema.
      for (let n = 0; n < count; n++) started.push(await startNode(shared))
      nodes.push(...started)
      return started
    },
    [Symbol.asyncDispose]: async () => {
      for (const node of nodes) await node.stop()
      await nats?.kill()
      await server.stop()
    },
  }
}

/** Starts one node, which is embedded unless `env` names a database. */
export async function startNode(env: Readonly<Record<string, string>> = {}): Promise<MeasuredNode> {
  // A port of its own, because several workers cannot each choose one.
  const { PORT: _, ...settings } = BENCH_SETTINGS
  const relay: RelayProcess = await startRelay({ env: { ...settings, ...env } })
  const { pid, url } = relay
  return { pid, url, cpuMs: () => treeCpuMs(pid), stop: () => relay.stop() }
}

/** The process of a PostgreSQL that has started all its others. */
export async function postmasterOf(url: string): Promise<number> {
  await using sql = new SQL(url, { max: 1 })
  const [row]: { pid: number }[] = await sql`SELECT pg_backend_pid() AS pid`
  return Number(/PPid:\s+(?<pid>\d+)/.exec(readFileSync(`/proc/${row?.pid}/status`, 'utf8'))?.groups?.pid)
}
