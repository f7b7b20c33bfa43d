// The PostgreSQL under the nodes: what can be done to it, and what it is asked.
import { SQL } from 'bun'
import { startPostgresPair } from '../../packages/relay/test/postgres-pair.ts'
import { startOwnPostgres } from '../../packages/relay/test/postgres-server.ts'
import { type Line, linesTo } from './lines.ts'
import type { Random } from './random.ts'

export interface Database {
  /** Of its database `postgres`, without a network between. */
  readonly url: string
  /** Adds a way for one node. @returns it, and the URL of the relay's database through it */
  addLine(): Promise<Line>
  /** Ends the server that takes writes, and starts it again. */
  crash(): Promise<void>
  /** The replica takes the primary's place and gets a replica of its own; undefined if there is none. */
  readonly failOver: ((random: Random) => Promise<void>) | undefined
  stop(): Promise<void>
}

/** Starts a server for one node; for several nodes, a primary and a synchronous replica. */
export async function startDatabase(nodes: number): Promise<Database> {
  return nodes === 1 ? await startOne() : await startPair()
}

async function startOne(): Promise<Database> {
  const server = await startOwnPostgres()
  const lines = linesTo(await server.createDatabase())
  return {
    url: server.url,
    addLine: lines.add,
    crash: async () => {
      await server.crash()
      await server.restart()
    },
    failOver: undefined,
    stop: async () => {
      await lines.stop()
      await server.stop()
    },
  }
}

async function startPair(): Promise<Database> {
  const pair = await startPostgresPair()
  const lines = linesTo(pair.primary.url(await pair.createDatabase()))
  return {
    get url() {
      return pair.primary.url('postgres')
    },
    addLine: lines.add,
    crash: async () => {
      await pair.primary.crash()
      await pair.primary.start()
    },
    failOver: async (random) => {
      // A frozen primary still believes that it is one, as behind a network that is cut.
      if (random.chance(0.5)) await pair.primary.kill()
      else await pair.primary.freeze()
      await Bun.sleep(random.between(0, 500))
      await pair.promote()
      lines.leadTo(pair.primary.port)
      await pair.addReplica()
    },
    stop: async () => {
      await lines.stop()
      await pair.stop()
    },
  }
}

/** Ends the connections by which nodes notify each other, or some of them. @returns their number */
export async function endNotifications({ url }: Database, choose: () => boolean): Promise<number> {
  await using sql = new SQL(url, { max: 1 })
  const found: { pid: number }[] = await sql`
    SELECT pid FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (query ILIKE 'LISTEN %' OR query LIKE '%pg_notify(%')`
  const chosen = found.filter(choose)
  for (const { pid } of chosen) await sql`SELECT pg_terminate_backend(${pid}::int)`
  return chosen.length
}

/** Whether the relay's store at this URL still has messages with an `at` before this. */
export async function hasMessagesBefore(url: string, at: number): Promise<boolean> {
  await using sql = new SQL(url, { max: 1 })
  const found = await sql`SELECT 1 FROM messages WHERE at < ${Math.floor(at)} LIMIT 1`
  return found.length > 0
}

/** Waits until every transaction that is under way now has ended. */
export async function untilTransactionsEnd({ url }: Database): Promise<void> {
  await using sql = new SQL(url, { max: 1 })
  const [row]: { now: string }[] = await sql`SELECT clock_timestamp()::text AS now`
  const open = async (): Promise<unknown[]> => [
    ...(await sql`
      SELECT pid FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'
        AND xact_start < ${row?.now ?? ''}::timestamptz`),
  ]
  while ((await open()).length > 0) await Bun.sleep(20)
}
