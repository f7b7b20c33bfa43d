// Checks the database. It opens the store as it is, and does not bring it up to date.
import { SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { findCopyMark, obstacleOf } from '../storage/copy-mark.ts'
import { isUpToDate } from '../storage/migrate.ts'
import { openPostgresBeside } from '../storage/postgres.ts'
import { checkCommitsAreSynced } from '../storage/postgres-settings.ts'
import { DATABASE_FILE } from '../storage/sqlite.ts'
import { hasLog, openSqliteToRead } from '../storage/sqlite-reading.ts'
import type { ReadStorage } from '../storage/storage.ts'
import { type Finding, findingsOf, reasonOf } from './finding.ts'
import type { Patient } from './patient.ts'

/** A larger file takes too long to read. */
const MOST_READ_BYTES = 1024 * 1024 * 1024
const MIB = 1024 * 1024
const RESTORE = 'restore a backup (sotto restore)'
const ACCESS = 'run this as the user of the relay; the folder and its files must be that user’s'

/** The store, or why there is none. */
export interface Store {
  /** Undefined if it cannot be used: it is absent, broken, or of another version. */
  readonly storage: ReadStorage | undefined
  readonly finding: Finding
}

/** Opens the store to read it, and checks it. */
export async function openStore(config: Config): Promise<Store> {
  const hadLog = hasLog(config.dataDir)
  const store = await lookAt(config)
  // What a relay writes while it starts looks like damage to who takes the file for one that nobody changes.
  const mayBeStarting = store.finding.state === 'failed' && !hadLog && hasLog(config.dataDir)
  return mayBeStarting ? await lookAt(config) : store
}

async function lookAt(config: Config): Promise<Store> {
  const { failed } = findingsOf('database')
  let opened: ReadStorage | undefined
  try {
    if (config.databaseUrl === undefined) {
      const file = join(config.dataDir, DATABASE_FILE)
      if (!existsSync(file)) return { storage: undefined, finding: absent() }
      opened = openSqliteToRead(config.dataDir)
      return await examined(opened, await findSqliteDamage(opened))
    }
    opened = openPostgresBeside(config.databaseUrl, { connections: 2 })
    await checkCommitsAreSynced(opened.sql)
    return await examined(opened, undefined)
  } catch (error) {
    await opened?.close()
    const reason = reasonOf(error)
    const finding =
      config.databaseUrl === undefined
        ? failed(`${config.dataDir}: the store cannot be used: ${reason}`, isDamage(error) ? RESTORE : ACCESS)
        : failed(`DATABASE_URL: PostgreSQL cannot be used: ${reason}`, 'start it, or correct DATABASE_URL')
    return { storage: undefined, finding }
  }
}

export async function checkDatabase({ opening }: Patient): Promise<readonly Finding[]> {
  return [opening]
}

function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code ?? '')
}

function absent(): Finding {
  return findingsOf('database').ok('there is no store yet; the first start makes one')
}

async function examined(storage: ReadStorage, damage: string | undefined): Promise<Store> {
  const { ok, warning, failed } = findingsOf('database')
  const { engine } = storage
  if (damage !== undefined) {
    await storage.close()
    return {
      storage: undefined,
      finding: failed(`it is damaged: ${damage}`, RESTORE),
    }
  }
  const obstacle = obstacleOf(await findCopyMark(storage))
  if (obstacle) {
    await storage.close()
    return { storage: undefined, finding: failed(obstacle.reason, obstacle.advice) }
  }
  const unsafe = engine.dialect === 'postgres' ? await engine.findUnsafeSetting() : undefined
  if (unsafe)
    return { storage: await usable(storage), finding: warning(unsafe.reason, 'set full_page_writes = on') }
  const name = engine.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'
  const found = await usable(storage)
  if (!found)
    return {
      storage: undefined,
      finding: warning(
        `${name} has no tables, or those of another version`,
        'start this version of the relay, which brings them up to date if they are older',
      ),
    }
  const { bytes } = await storage.size()
  return { storage: found, finding: ok(`${name}, ${Math.round(bytes / MIB)} MiB, up to date`) }
}

/** The store, if it has the tables of this version; else it is closed. */
async function usable(storage: ReadStorage): Promise<ReadStorage | undefined> {
  if ((await hasTables(storage)) && (await isUpToDate(storage))) return storage
  await storage.close()
  return undefined
}

async function hasTables({ engine, sql }: ReadStorage): Promise<boolean> {
  const rows =
    engine.dialect === 'sqlite'
      ? await sql`SELECT name FROM sqlite_master WHERE name = 'schema_migrations'`
      : await sql`SELECT 1 WHERE to_regclass('schema_migrations') IS NOT NULL`
  return rows.length > 0
}

async function findSqliteDamage(storage: ReadStorage): Promise<string | undefined> {
  if ((await storage.size()).bytes > MOST_READ_BYTES) return undefined
  const [row] = await storage.sql<{ quick_check: string }>`PRAGMA quick_check(1)`
  return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'it does not answer')
}
