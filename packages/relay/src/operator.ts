// What an operator can tell the store, beside the relay that may be running on it.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError, readConfig } from './config.ts'
import { moveSequencesAhead, resumeExpiry } from './messages/messages.ts'
import { openStorage } from './storage/open-storage.ts'
import { openSqliteBeside, StorageInUse, StorageMissing } from './storage/sqlite.ts'
import type { Storage } from './storage/storage.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Something an operator asked for that cannot be done; the message says why. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** What can be told to a store, by the command's name. Each returns a line for the terminal. */
export const operatorCommands = {
  /** Lets messages expire again after the clock had jumped. */
  'resume-expiry': (environment: Environment): Promise<string> =>
    withStore(openBeside, environment, async (storage) => {
      await resumeExpiry(storage)
      return 'Expiry goes on with the relay’s next round, within a minute.'
    }),
  /** Moves every conversation ahead: once, after a backup was put back. */
  'after-restore': (environment: Environment): Promise<string> =>
    withStore(openAlone, environment, async (storage) => {
      await moveSequencesAhead(storage)
      return 'Every conversation goes on a million further: no client mistakes a new message for one it has seen.'
    }),
} as const

/**
 * Copies the embedded database into a file that must not exist yet, while the relay may go on working.
 * @throws OperatorError where there is none, or the file exists
 */
export function backUp(environment: Environment, file: string): string {
  const config = readConfig(environment)
  if (config.databaseUrl)
    throw new OperatorError('DATABASE_URL is set: back PostgreSQL up with its own pg_dump')
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name another file`)
  const source = join(config.dataDir, 'sotto.db')
  if (!existsSync(source)) throw new OperatorError(`${config.dataDir} holds no store of a relay`)
  const database = new Database(source, { readonly: true })
  const umask = process.umask(0o077) // The copy holds the keys that sign tokens.
  try {
    database.run('PRAGMA busy_timeout = 5000')
    using copy = database.prepare('VACUUM INTO ?')
    copy.run(file)
  } finally {
    process.umask(umask)
    database.close(true)
  }
  return `Backed up to ${file}. To put it back: stop the relay, make it sotto.db in an empty data folder, run sotto after-restore.`
}

async function withStore(
  open: (config: Config) => Promise<Storage>,
  environment: Environment,
  work: (storage: Storage) => Promise<string>,
): Promise<string> {
  const storage = await open(configOf(environment)).catch((error) => {
    throw error instanceof StorageMissing || error instanceof StorageInUse
      ? new OperatorError(error.message)
      : error
  })
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

function configOf(environment: Environment): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    throw error instanceof ConfigError ? new OperatorError(error.message) : error
  }
}

function openBeside(config: Config): Promise<Storage> {
  return config.databaseUrl ? openStorage(config) : openSqliteBeside(config.dataDir)
}

// A relay that is running would go on with the numbers it knows. (With PostgreSQL nobody can tell: the document says so.)
async function openAlone(config: Config): Promise<Storage> {
  if (!config.databaseUrl) await (await openSqliteBeside(config.dataDir)).close() // Makes no empty store by mistake.
  return await openStorage(config)
}
