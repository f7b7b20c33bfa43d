// A real PostgreSQL for tests: one server for each test process, and one for each test that breaks it. They
// use temporary folders and end with the process.
import { createCluster, type PostgresCluster } from './postgres-cluster.ts'

export interface PostgresServer {
  /** The URL of the database `postgres`; tests use databases from `createDatabase`. */
  url: string
  /** Creates a database, empty or a copy of the one at `template`. @returns its URL */
  createDatabase(template?: string): Promise<string>
  /**
   * Ends this use of the server. The server shuts down after the last use. The next use starts it again with
   * the same data.
   */
  stop(): Promise<void>
}

/** A server of one test, which the test may break. */
export interface OwnPostgresServer extends PostgresServer {
  /**
   * Ends the server at once with SIGQUIT, without a shutdown. This is like a power cut, except that the
   * kernel still writes its buffers.
   */
  crash(): Promise<void>
  /** Starts it on the same port. If it is running, it is shut down cleanly first. */
  restart(): Promise<void>
}

/**
 * Starts the server of this process, or shares it if it is running. Each call needs one `stop`.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const cluster = await oneAtATime(async () => {
    shared ??= await createCluster()
    if (users === 0) await shared.start()
    users++
    return shared
  })
  let isStopped = false
  return {
    url: cluster.url('postgres'),
    createDatabase: (template) => cluster.createDatabase(template),
    stop: () =>
      oneAtATime(async () => {
        if (isStopped) return
        isStopped = true
        users--
        if (users === 0) await cluster.shutDown()
      }),
  }
}

/**
 * Starts a server for one test. It recovers from a crash faster, because it has no databases of other tests.
 */
export async function startOwnPostgres(): Promise<OwnPostgresServer> {
  const cluster = await createCluster()
  await cluster.start()
  return {
    url: cluster.url('postgres'),
    createDatabase: cluster.createDatabase,
    stop: cluster.shutDown,
    crash: cluster.crash,
    restart: async () => {
      await cluster.shutDown()
      await cluster.start()
    },
  }
}

let shared: PostgresCluster | undefined
let users = 0
let queue: Promise<unknown> = Promise.resolve()

// Test files may start and stop the server at the same moment, so its state changes one at a time.
function oneAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = queue.then(work)
  queue = result.catch(() => undefined)
  return result
}
