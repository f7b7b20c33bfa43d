// What is done to the PostgreSQL of several nodes, and what it is asked.
import { SQL } from 'bun'
import type { PostgresServer } from '../../packages/relay/test/postgres-server.ts'

/** Ends the connections by which nodes notify each other, or some of them. @returns their number */
export async function endNotifications({ url }: PostgresServer, choose: () => boolean): Promise<number> {
  await using sql = new SQL(url, { max: 1 })
  const found: { pid: number }[] = await sql`
    SELECT pid FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (query ILIKE 'LISTEN %' OR query LIKE '%pg_notify(%')`
  const chosen = found.filter(choose)
  for (const { pid } of chosen) await sql`SELECT pg_terminate_backend(${pid}::int)`
  return chosen.length
}

/** Waits until every transaction that is under way now has ended. */
export async function untilTransactionsEnd({ url }: PostgresServer): Promise<void> {
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
