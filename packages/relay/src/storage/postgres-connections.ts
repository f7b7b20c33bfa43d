// The connections to PostgreSQL, and whether it answers. While it does not, work is refused at once, and the
// connections are opened again when it does: they may lead to another server then
// (docs/decisions/0055-the-database-away.md).
import { SQL } from 'bun'
import { DatabaseLost, DatabaseUnavailable } from './database-errors.ts'
import type { DatabaseFollower } from './storage.ts'

/** What every session asks of the server. */
const SESSION = {
  application_name: 'sotto',
  // It overrides what the server, the database, the role or the URL says.
  synchronous_commit: 'on',
  statement_timeout: 30_000,
  // Longer than a session may hold a lock without a word, so that those who wait behind a node that stands
  // still get the lock, and no refusal.
  lock_timeout: 20_000,
  idle_in_transaction_session_timeout: 10_000,
  // The server notices within half a minute that a node's machine has vanished.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 20_000,
  client_connection_check_interval: 5000,
}
/** How long a new connection may take, in seconds. */
const CONNECT_SECONDS = 5
const LOOK_EVERY_MS = 1000
/** While it does not answer, it is asked as often. */
const ASK_EVERY_MS = 500
const ANSWERS_WITHIN_MS = 3000
/** Work of which nothing was heard in so many looks makes the relay ask the database whether it is there. */
const LOOKS_UNTIL_ASKED = 3
/**
 * Its connection is dead, although the database answers others: the server ends each statement earlier,
 * except a commit. Looks are counted and not milliseconds, because this process may have stood still
 * meanwhile.
 */
const LOOKS_UNTIL_DEAD = 40
/** How much work may wait or run for each connection; more is refused. */
const MOST_FOR_EACH = 200

/** Work on the database. */
interface Running {
  /** In how many looks nothing was heard of it. */
  looks: number
}

/** Opens one pool of connections. */
function openPool(url: string, max: number): SQL {
  return new SQL({
    url,
    adapter: 'postgres',
    max,
    // 64-bit integers arrive as BigInt, not as text, so that they can be distinguished from digits in a text
    // column.
    bigint: true,
    connection: SESSION,
    // Bun tries for as long to connect to a server that accepts connections and ends them.
    connectionTimeout: CONNECT_SECONDS,
  })
}

export class PostgresConnections {
  readonly #url: string
  readonly #max: number
  readonly #running = new Set<Running>()
  #pool: SQL
  /** For the commits of messages, so that nothing else can keep them waiting for a connection. */
  #forMessages: SQL
  /** Asks the database whether it is there; opened when it is first needed. */
  #asking: SQL | undefined
  #asked: Promise<void> | undefined
  #reason: string | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #isClosed = false
  follower: DatabaseFollower | undefined

  constructor(url: string, options: { readonly connections: number }) {
    this.#url = url
    this.#max = options.connections
    this.#pool = this.#openPool()
    this.#forMessages = this.#openForMessages()
  }

  /** From now on, work of which nothing is heard makes the relay ask whether the database is there. */
  watch(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
  }

  /**
   * Runs work on a connection.
   * @param work calls `heard` whenever the database has answered
   * @throws DatabaseUnavailable if the database does not answer, and DatabaseLost if it may have been done
   */
  async run<T>(
    kind: 'read' | 'transaction' | 'messages',
    work: (sql: SQL, heard: () => void) => Promise<T>,
  ): Promise<T> {
    if (this.#reason !== undefined) throw new DatabaseUnavailable()
    // A batch of messages is one at a time, and has a connection of its own.
    if (kind !== 'messages' && this.#running.size >= MOST_FOR_EACH * this.#max) {
      this.follower?.refused(`more than ${MOST_FOR_EACH * this.#max} queries and transactions wait for it`)
      throw new DatabaseUnavailable()
    }
    const running: Running = { looks: 0 }
    this.#running.add(running)
    try {
      return await work(kind === 'messages' ? this.#forMessages : this.#pool, () => {
        running.looks = 0
      })
    } catch (error) {
      throw this.#judged(error, kind)
    } finally {
      this.#running.delete(running)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    clearTimeout(this.#retry)
    await Promise.all([this.#pool.close(), this.#forMessages.close(), this.#asking?.close()])
  }

  #judged(error: unknown, kind: 'read' | 'transaction' | 'messages'): unknown {
    if (!(error instanceof SQL.PostgresError)) return error
    const { errno = '', code } = error
    if (REFUSING_STATES.has(errno)) {
      this.follower?.refused(error.message)
      return new DatabaseUnavailable(error)
    }
    if (errno === READ_ONLY) {
      // The connections lead to a server that is not the primary any more, even if new ones lead elsewhere.
      this.#reopen()
      void this.#ask()
      return new DatabaseUnavailable(error)
    }
    const isLost = errno === '' ? code.startsWith('ERR_POSTGRES_CONNECTION') : LOST_STATES.test(errno)
    if (!isLost) return error
    void this.#ask()
    return kind === 'read' || NEVER_BEGUN.has(code) ? new DatabaseUnavailable(error) : new DatabaseLost(error)
  }

  #look(): void {
    let longest = 0
    for (const running of this.#running) {
      running.looks += 1
      longest = Math.max(longest, running.looks)
    }
    if (longest >= LOOKS_UNTIL_DEAD) this.#reopen()
    if (longest >= LOOKS_UNTIL_ASKED) void this.#ask()
  }

  #ask(): Promise<void> {
    this.#asked ??= this.#learn().finally(() => {
      this.#asked = undefined
    })
    return this.#asked
  }

  async #learn(): Promise<void> {
    const reason = await this.#whyAway()
    if (this.#isClosed) return
    if (reason !== undefined) {
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => void this.#ask(), ASK_EVERY_MS).unref()
    }
    const before = this.#reason
    this.#reason = reason
    if ((reason === undefined) === (before === undefined)) return
    // What waits for an answer fails, too.
    if (reason === undefined) {
      this.follower?.back()
    } else {
      this.#reopen()
      this.follower?.away(reason)
    }
  }

  // Asks for a commit, because a primary that waits for its replica still answers what only reads. It takes
  // no lock and leaves no row.
  async #whyAway(): Promise<string | undefined> {
    this.#asking ??= openPool(this.#url, 1)
    const asking = this.#asking
    let timer: ReturnType<typeof setTimeout> | undefined
    const silent = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('it does not answer'), ANSWERS_WITHIN_MS)
    })
    const answer = asking<{ mode: string }[]>`
      SELECT current_setting('transaction_read_only') AS mode,
        CASE current_setting('transaction_read_only') WHEN 'off' THEN pg_logical_emit_message(true, 'sotto', '') END`
    const learned = answer.then(
      ([row]) => (row?.mode === 'off' ? undefined : 'it is read-only, perhaps a replica'),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const reason = await Promise.race([learned, silent])
    clearTimeout(timer)
    // The next connection may lead to another server.
    if (reason !== undefined && this.#asking === asking) {
      this.#asking = undefined
      endNow(asking)
    }
    return reason
  }

  #reopen(): void {
    const former = [this.#pool, this.#forMessages]
    this.#pool = this.#openPool()
    this.#forMessages = this.#openForMessages()
    former.forEach(endNow)
  }

  #openPool(): SQL {
    return openPool(this.#url, Math.max(1, this.#max - 1))
  }

  #openForMessages(): SQL {
    return openPool(this.#url, 1)
  }
}

/** The server refuses what was asked, or took too long for it. Nothing was done. */
const REFUSING_STATES = new Set([
  '53300', // too_many_connections
  '55P03', // lock_not_available
  '57014', // query_canceled
])
const READ_ONLY = '25006'
/**
 * The server ends or refuses connections: 08… of the connection, 57P… of an operator, or of the server's end.
 */
const LOST_STATES = /^(?:08|57P|25P03$)/
/** The connection was never made. */
const NEVER_BEGUN = new Set([
  'ERR_POSTGRES_CONNECTION_REFUSED',
  'ERR_POSTGRES_CONNECTION_FAILED',
  'ERR_POSTGRES_CONNECTION_TIMEOUT',
])

/** Ends all connections of a pool. What waits for them fails. */
function endNow(pool: SQL): void {
  pool.close({ timeout: 0 }).catch(() => undefined)
}
