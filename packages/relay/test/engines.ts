// The two storage engines. Each opens a new, empty store, so that every test can run on both.
import { setDefaultTimeout } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '../src/storage/postgres.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import type { Storage } from '../src/storage/storage.ts'
import { startPostgres } from './postgres-server.ts'

// For a file that is run without `npm test`: the first store starts PostgreSQL, which takes more than Bun's
// 5 s on a busy machine.
setDefaultTimeout(240_000)

/** A store for one test. */
export interface TestStore {
  readonly storage: Storage
  /** Opens the same data again, as a second node or a later process would. */
  reopen(): Promise<Storage>
  /** Closes it and removes its data. */
  remove(): Promise<void>
}

/** A storage engine. */
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

// Migrating an empty database takes several times as long as copying a migrated one.
let migrated: Promise<string> | undefined

async function createMigratedDatabase(): Promise<string> {
  const server = await startPostgres()
  migrated ??= server.createDatabase().then(async (url) => {
    await (await openPostgres(url, { connections: 2 })).close()
    return url
  })
  return await server.createDatabase(await migrated)
}

const postgres: TestEngine = {
  name: 'PostgreSQL',
  environment: async () => ({ DATABASE_URL: await createMigratedDatabase() }),
  open: async () => {
    const url = await createMigratedDatabase()
    const open = (): Promise<Storage> => openPostgres(url, { connections: 4 })
    const storage = await open()
    return { storage, reopen: open, remove: () => storage.close().catch(() => undefined) }
  },
}

/** Both engines; a test file calls `describe` for each. */
export const engines: readonly TestEngine[] = [sqlite, postgres]
