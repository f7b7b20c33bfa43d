// The two engines, each with a fresh and empty store at every opening: what runs on one is tested on the other.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '../src/storage/postgres.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import type { Storage } from '../src/storage/storage.ts'
import { startPostgres } from './postgres-server.ts'

/** A store made for one test. */
export interface TestStore {
  readonly storage: Storage
  /** Opens the same data again, as a second node or a later process would. */
  reopen(): Promise<Storage>
  /** Closes it and removes its data. */
  remove(): Promise<void>
}

/** One engine. */
export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** Settings that make a relay process use it. */
  environment(): Promise<Record<string, string>>
  open(): Promise<TestStore>
}

const sqlite: TestEngine = {
  name: 'SQLite',
  environment: async () => ({}),
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sotto-store-'))
    const storage = await openSqlite(folder)
    return {
      storage,
      reopen: () => openSqlite(folder),
      remove: async () => {
        await storage.close().catch(() => undefined) // A test may have closed it already.
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
}

const postgres: TestEngine = {
  name: 'PostgreSQL',
  environment: async () => ({ DATABASE_URL: await (await startPostgres()).createDatabase() }),
  open: async () => {
    const url = await (await startPostgres()).createDatabase()
    const open = (): Promise<Storage> => openPostgres(url, { connections: 4 })
    const storage = await open()
    return { storage, reopen: open, remove: () => storage.close().catch(() => undefined) }
  },
}

/** Both engines, for `describe` to go through. */
export const engines: readonly TestEngine[] = [sqlite, postgres]
