// Explains to the operator why a relay does not start.

import { SQL } from 'bun'
import type { Config } from './config.ts'
import { SettingError } from './operations/setting-error.ts'
import { StoreCopied } from './storage/copy-mark.ts'
import { StorageTooNew } from './storage/migrate.ts'
import { StorageUnsafe } from './storage/postgres-settings.ts'
import { StorageInUse } from './storage/sqlite.ts'
import { isDatabaseAway } from './storage/storage.ts'
import { VanityRulesError } from './vanity/vanity.ts'

/** The relay cannot start, and its operator can fix the cause. The message tells how. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The error for the operator: a StartError if a setting or the store is the cause, else the error itself. */
export function explain(error: unknown, config: Config): unknown {
  const reason = reasonOf(error, config)
  return reason === undefined ? error : new StartError(reason)
}

function reasonOf(failure: unknown, config: Config): string | undefined {
  const error = isDatabaseAway(failure) && failure instanceof Error ? failure.cause : failure
  if ([StorageInUse, StorageTooNew, StorageUnsafe, StoreCopied].some((known) => error instanceof known))
    return messageOf(error)
  if (error instanceof SettingError) return error.message
  if (error instanceof VanityRulesError) return `VANITY_RULES: ${error.message}`
  if (config.databaseUrl && error instanceof SQL.PostgresError) {
    return `DATABASE_URL names a PostgreSQL that cannot be used: ${error.message}`
  }
  const { code, syscall } = systemErrorOf(error)
  if (syscall === 'listen' || syscall === 'getaddrinfo') return portReason(code, config)
  const isOfStore = error instanceof Error && (syscall !== undefined || error.name === 'SQLiteError')
  return isOfStore ? `DATA_DIR is "${config.dataDir}", but it cannot be used: ${error.message}` : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function portReason(code: string | undefined, { port, host }: Config): string {
  if (code === 'EADDRINUSE') return `PORT is "${port}", but something else listens there; choose another`
  if (code === 'EACCES') return `PORT is "${port}", but this user may not listen there; choose one above 1023`
  return `HOST is "${host}", but must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`
}

function systemErrorOf(error: unknown): { code: string | undefined; syscall: string | undefined } {
  const text = (key: string): string | undefined => {
    const value: unknown = error instanceof Error && key in error ? Reflect.get(error, key) : undefined
    return typeof value === 'string' ? value : undefined
  }
  return { code: text('code'), syscall: text('syscall') }
}
