// A PostgreSQL primary and a replica without which it confirms no commit, so that nothing is lost when the
// replica takes the primary's place.
import { SQL } from 'bun'
import { createCluster, type PostgresCluster, REPLICA } from './postgres-cluster.ts'

/** Two servers, of which one follows the other. */
export interface PostgresPair {
  /** The server that takes writes. After a promotion it is the former replica. */
  readonly primary: PostgresCluster
  /** The server that follows it. */
  readonly replica: PostgresCluster
  /** Creates an empty database on the primary. @returns its name, which is the same on the replica */
  createDatabase(): Promise<string>
  /**
   * Makes the replica the primary. It waits for no replica until {@link addReplica}. The former primary
   * becomes `replica` and follows nothing: end it before or after, as the test wants.
   */
  promote(): Promise<void>
  /** Ends `replica` and makes another one, a copy of the primary. The primary waits for it from now on. */
  addReplica(): Promise<void>
  stop(): Promise<void>
}

/** Starts a primary and a synchronous replica. */
export async function startPostgresPair(): Promise<PostgresPair> {
  let primary = await createCluster()
  await primary.start()
  let replica = await follow(primary)
  return {
    get primary() {
      return primary
    },
    get replica() {
      return replica
    },
    createDatabase: async () => new URL(await primary.createDatabase()).pathname.slice(1),
    promote: async () => {
      // The copied setting would make the new primary wait for a replica that it does not have.
      await ask(replica, "ALTER SYSTEM SET synchronous_standby_names = ''")
      await ask(replica, 'SELECT pg_reload_conf()')
      await ask(replica, 'SELECT pg_promote()')
      const former = primary
      primary = replica
      replica = former
    },
    addReplica: async () => {
      await replica.kill()
      replica = await follow(primary)
    },
    stop: async () => {
      await Promise.all([primary.kill(), replica.kill()])
    },
  }
}

async function follow(primary: PostgresCluster): Promise<PostgresCluster> {
  const replica = await createCluster(primary)
  await replica.start()
  await ask(primary, `ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (${REPLICA})'`)
  await ask(primary, 'SELECT pg_reload_conf()')
  const streams = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${REPLICA}' AND sync_state = 'quorum'`
  while ((await ask(primary, streams)).length === 0) await Bun.sleep(20)
  return replica
}

async function ask(server: PostgresCluster, text: string): Promise<unknown[]> {
  await using sql = new SQL(server.url('postgres'), { max: 1 })
  return [...(await sql.unsafe(text))]
}
