// Brings a store's schema up to date: applies the missing migrations in order, in one transaction. There is
// no way back; but relays that do not know a migration may work on its store (see migrations.ts).
import { checkNotCopied } from './copy-mark.ts'
import type { MigrationStep } from './migrations/migration.ts'
import { migrations, oldestSchema, schema } from './migrations.ts'
import type { Sql, Storage } from './storage.ts'

/** The row in relay_state with the oldest schema whose relays work on the store; if absent, no older one. */
const OLDEST = 'oldest_schema'

/** A newer relay has changed the store so that this one cannot work on it. */
export class StorageTooNew extends Error {
  override readonly name = 'StorageTooNew'
}

/** Who opens a store: a relay or a command that works on it, or `sotto copy`, which may open half a copy. */
export type Purpose = 'work' | 'copy'

/**
 * Applies the migrations that the store does not have yet. Nodes that start at the same time wait for each
 * other.
 * @throws StoreCopied if the store is one side of a copy, and this is not the copy
 */
export async function migrate(storage: Storage, purpose: Purpose = 'work'): Promise<void> {
  await storage.transaction(async (sql) => {
    if (storage.engine.dialect === 'postgres') await lockSchema(sql)
    if (purpose === 'work') await checkNotCopied({ ...storage, sql })
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY)`
    const version = await versionOf(sql)
    if (!(await isUsable(sql, version)))
      throw new StorageTooNew(
        `a newer relay has changed the store: it is at schema ${version}, and this relay knows ${schema}; start the newer one`,
      )
    if (version >= schema) return
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue
      await applySteps(sql, migration(storage.engine.dialect))
      await sql`INSERT INTO schema_migrations (version) VALUES (${index + 1})`
    }
    await sql`DELETE FROM relay_state WHERE name = ${OLDEST}`
    if (oldestSchema < schema)
      await sql`INSERT INTO relay_state (name, value) VALUES (${OLDEST}, ${String(oldestSchema)})`
  })
}

/** Keeps others from changing the schema of a PostgreSQL until the transaction ends. */
export async function lockSchema(sql: Sql): Promise<void> {
  // Changing the schema, copying a store, and waiting for another node that does so, may take long.
  await sql`SET LOCAL statement_timeout = 0`
  await sql`SET LOCAL lock_timeout = 0`
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
  await sql`SELECT pg_advisory_xact_lock(7305803)`
}

/** Runs steps of a migration, in the caller's transaction. */
export async function applySteps(sql: Sql, steps: readonly MigrationStep[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'string') await sql(templateOf(step))
    else await step(sql)
  }
}

/** Whether this version of the relay can work on a store as it is. */
export async function isUpToDate({ sql }: Pick<Storage, 'sql'>): Promise<boolean> {
  const version = await versionOf(sql)
  return version >= schema && (await isUsable(sql, version))
}

async function isUsable(sql: Sql, version: number): Promise<boolean> {
  if (version <= schema) return true
  const [oldest] = await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = ${OLDEST}`
  return Number(oldest?.value ?? version) <= schema
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
