// Which connection of an account is the newest, over all nodes that share a store. Each connection takes an
// epoch: a number of its account that grows by one, given out by the lock of a row. So no clock decides, and
// a node that slept finds out that its connections were replaced.
import type { Bus } from '../cluster/bus.ts'
import { type AccountId, list, query, type Sql, type Storage } from '../storage/storage.ts'
import type { ConnectionOwner } from './connection.ts'

/** The newest connection of an account. */
export interface Newest {
  readonly account: AccountId
  readonly epoch: number
  /** The id of the token that opened it. */
  readonly jti: string
}

/** A connection that has begun. */
export interface Begun {
  readonly epoch: number
  /** The token of the connection that it replaces, if that was opened with another one. */
  readonly replaced: ReplacedToken | undefined
}

/** A token whose client was replaced by another one of the account. */
export interface ReplacedToken {
  readonly jti: string
  /** In ms since 1970. */
  readonly tokenExpiresAt: number
}

interface BegunRow {
  epoch: number
  older_jti: string
  older_token_ends_at: number
  older_node: string
}

/** How many connections begin and end in one transaction. */
const TOGETHER = 256

/** Something that waits for the next transaction. */
interface Change {
  readonly account: AccountId
  /** Called in the transaction, in the order of accounts. @returns what to do after the commit */
  readonly write: (sql: Sql) => Promise<() => void>
  readonly fail: (error: unknown) => void
}

/** What a connection's frames are refused with, because a newer connection of its account has begun. */
export class ReplacedError extends Error {}

export class Epochs {
  readonly #storage: Storage
  readonly #bus: Bus
  #waiting: Change[] = []
  #running: Promise<void> | undefined

  constructor(parts: { storage: Storage; bus: Bus }) {
    this.#storage = parts.storage
    this.#bus = parts.bus
  }

  /**
   * Makes a connection the newest of its account.
   * @returns undefined if the account is deleted
   */
  begin(owner: ConnectionOwner): Promise<Begun | undefined> {
    const { account, jti, tokenExpiresAt } = owner
    return new Promise((resolve, reject) => {
      const write = async (sql: Sql): Promise<() => void> => {
        const [row] = await sql<BegunRow>`
          INSERT INTO connections
            (account_id, epoch, jti, token_ends_at, node, older_jti, older_token_ends_at, older_node)
          SELECT id, 1, ${jti}, ${tokenExpiresAt}, ${this.#bus.node}, '', 0, '' FROM accounts
          WHERE id = ${account} AND deleted_at IS NULL
          ON CONFLICT (account_id) DO UPDATE SET epoch = connections.epoch + 1,
            older_jti = connections.jti, older_token_ends_at = connections.token_ends_at, older_node = connections.node,
            jti = excluded.jti, token_ends_at = excluded.token_ends_at, node = excluded.node
          RETURNING epoch, older_jti, older_token_ends_at, older_node`
        return () => resolve(row && begunOf(row, jti))
      }
      this.#add({ account, write, fail: reject })
    })
  }

  /** Records that the connections of a node that stops are closed, as far as they are the newest. */
  async endAll(accounts: readonly AccountId[]): Promise<void> {
    for (let i = 0; i < accounts.length; i += TOGETHER) {
      const some = list(accounts.slice(i, i + TOGETHER))
      await this.#storage.transaction((sql) =>
        sql(
          ...query`UPDATE connections SET node = '' WHERE account_id IN ${some} AND node = ${this.#bus.node}`,
        ),
      )
    }
  }

  /** Records that a connection is closed. If that fails, it is forgotten with its node. */
  end(account: AccountId, epoch: number): void {
    const write = async (sql: Sql): Promise<() => void> => {
      await sql`UPDATE connections SET node = '' WHERE account_id = ${account} AND epoch = ${epoch}`
      return () => {}
    }
    this.#add({ account, write, fail: () => {} })
  }

  /** The newest connections of some accounts, at least one. */
  async newestOf(accounts: readonly AccountId[]): Promise<Newest[]> {
    return await this.#storage.sql<Newest>(
      ...query`SELECT account_id AS account, epoch, jti FROM connections WHERE account_id IN ${list(accounts)}`,
    )
  }

  /** Whether an account is connected at another node that works. */
  async isConnectedElsewhere(account: AccountId): Promise<boolean> {
    const [row] = await this.#storage.sql<{ node: string }>`
      SELECT node FROM connections WHERE account_id = ${account}`
    return row !== undefined && row.node !== this.#bus.node && this.#bus.hears(row.node)
  }

  /** Resolves once everything that waits is written. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
    await new Promise((resolve) => setImmediate(resolve)) // The callers go on first.
  }

  #add(change: Change): void {
    this.#waiting.push(change)
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // Connections that open in the same tick of the event loop share the first transaction.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      // Rows are locked in the order of accounts. Changes of the same account keep their order.
      const group = this.#waiting.splice(0, TOGETHER).sort((a, b) => a.account - b.account)
      try {
        const done = await this.#storage.transaction((sql) =>
          Promise.all(group.map(({ write }) => write(sql))),
        )
        for (const tell of done) tell()
      } catch (error) {
        for (const { fail } of group) fail(error)
      }
    }
    this.#running = undefined
  }
}

// A connection that its client closed is not replaced: its client may come back with the same token.
function begunOf({ epoch, older_jti, older_token_ends_at, older_node }: BegunRow, jti: string): Begun {
  const isReplaced = older_node !== '' && older_jti !== jti
  return {
    epoch,
    replaced: isReplaced ? { jti: older_jti, tokenExpiresAt: older_token_ends_at } : undefined,
  }
}

/** Erases the record of an account's connections. */
export async function eraseConnections(account: AccountId, { storage }: { storage: Storage }): Promise<void> {
  await storage.transaction((sql) => sql`DELETE FROM connections WHERE account_id = ${account}`)
}
