// A store as the first version of the relay left it when it stopped (SQL of `sqlite3 .dump` and `pg_dump`),
// and the people in it.
import { Database } from 'bun:sqlite'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { TestEngine } from '../engines.ts'
import { startPostgres } from '../postgres-server.ts'
import { type KnownKeys, WireAccount } from '../wire.ts'
import ofPostgres from './postgres.json' with { type: 'json' }
import ofSqlite from './sqlite.json' with { type: 'json' }

/** The people in the store. */
export type FirstPerson = keyof typeof ofSqlite.accounts

/** A store of the first version on an engine. */
export interface FirstStore {
  /** Settings that make a relay use it. */
  readonly environment: Record<string, string>
  /** The conversation of Ada and Ben. */
  readonly conversation: string
  /** When that relay stopped, in milliseconds since 1970. */
  readonly madeAt: number
  /** A person on a relay, with the keys and the token of that time. Only Ada has a token. */
  person(name: FirstPerson, relayUrl: string): WireAccount
}

/** Puts the store where a relay can use it. Nothing has opened it since. */
export async function layFirstStore(engine: TestEngine['name']): Promise<FirstStore> {
  const facts = engine === 'SQLite' ? ofSqlite : ofPostgres
  return {
    environment: await (engine === 'SQLite' ? layInFolder() : layInDatabase()),
    conversation: facts.conversation,
    madeAt: facts.made_at,
    person: (name, relayUrl) => {
      const found: KnownKeys & { uuid: string; alias: string; token?: string } = facts.accounts[name]
      const account = new WireAccount(relayUrl, found)
      account.uuid = found.uuid
      account.alias = found.alias
      account.token = found.token ?? ''
      return account
    },
  }
}

async function layInFolder(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-first-'))
  using database = new Database(join(folder, 'sotto.db'))
  database.run('PRAGMA journal_mode = WAL')
  database.run(await sqlOf('sqlite'))
  return { DATA_DIR: folder }
}

async function layInDatabase(): Promise<Record<string, string>> {
  const url = await (await startPostgres()).createDatabase()
  await using sql = new SQL(url, { max: 1 })
  await sql.unsafe(await sqlOf('postgres'))
  return { DATABASE_URL: url }
}

function sqlOf(name: string): Promise<string> {
  return Bun.file(join(import.meta.dir, `${name}.sql`)).text()
}
