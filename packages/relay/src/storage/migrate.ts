// Brings a store's schema up to date: applies the missing migrations in order, in one transaction. There is
// no way back.
import type { MigrationStep } from './migrations/migration.ts'
import { migrations } from './migrations.ts'
import type { Sql, Storage } from './storage.ts'

/** The store was last opened by a newer relay. */
export class StorageTooNew extends Error {
  override readonly name = 'StorageTooNew'
}

/**
 * Applies the migrations that the store does not have yet. Nodes that start at the same time wait for each
 * other.
 */
export async function migrate(storage: Storage): Promise<void> {
  await storage.transaction(async (sql) => {
    if (storage.engine.dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(7305803)`
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY)`
    const version = await versionOf(sql)
    if (version > migrations.length) {
      throw new StorageTooNew(`the store is at schema ${version}, this relay knows ${migrations.length}`)
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue
      await applySteps(sql, migration(storage.engine.dialect))
      await sql`INSERT INTO schema_migrations (version) VALUES (${index + 1})`
    }
  })
}

/** Runs steps of a migration, in the caller's transaction. */
export async function applySteps(sql: Sql, steps: readonly MigrationStep[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'string') await sql(templateOf(step))
    else await step(sql)
  }
}

/** Whether a store's schema is exactly the one that this version of the relay uses. */
export async function isUpToDate(storage: Storage): Promise<boolean> {
  return (await versionOf(storage.sql)) === migrations.length
}

async function versionOf(sql: Sql): Promise<number> {
  const [applied] = await sql<{
    version: number
  }>`SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations`
  return applied?.version ?? 0
}

// Schema statements are constant text of this program, so they can safely be used as a template without
// values.
function templateOf(statement: string): TemplateStringsArray {
  const strings: string[] & { raw?: readonly string[] } = [statement]
  Object.defineProperty(strings, 'raw', { value: [statement] })
  return strings as TemplateStringsArray
}
