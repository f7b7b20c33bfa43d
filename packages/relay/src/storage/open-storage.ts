// Opens the store: PostgreSQL if a URL is set, else SQLite in the data folder.
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { Storage } from './storage.ts'

/** Where the store is. */
export interface StorageLocation {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly databaseConnections: number
}

/** Opens the store and brings its schema up to date. */
export function openStorage(location: StorageLocation): Promise<Storage> {
  if (location.databaseUrl === undefined) return openSqlite(location.dataDir)
  return openPostgres(location.databaseUrl, { connections: location.databaseConnections })
}
