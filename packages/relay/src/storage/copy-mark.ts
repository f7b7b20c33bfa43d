// The mark of a store that is one side of a copy from SQLite to PostgreSQL (store-copy/). It keeps relays
// from working on half a copy, and on the source of a copy: two relays with the same keys would split the
// accounts.
import type { ReadStorage, Sql } from './storage.ts'

/** The tables that a copy makes for itself, on either side. No migration makes them. */
export const COPY_TABLES = ['store_copy', 'store_copy_progress'] as const

/** What a store has to do with a copy. */
export interface CopyMark {
  /** The same on both sides. */
  readonly id: string
  readonly side: 'source' | 'target'
  /** A target that is `withdrawn` is never used again. */
  readonly state: 'begun' | 'finished' | 'withdrawn'
}

/** The store is one side of a copy, and no relay may work on it. */
export class StoreCopied extends Error {
  override readonly name = 'StoreCopied'
}

type Reading = Pick<ReadStorage, 'sql'> & { readonly engine: Pick<ReadStorage['engine'], 'dialect'> }

/** The mark of a store; undefined if it is on no side of a copy. */
export async function findCopyMark({ sql, engine }: Reading): Promise<CopyMark | undefined> {
  const tables =
    engine.dialect === 'sqlite'
      ? await sql`SELECT 1 AS found FROM sqlite_master WHERE name = 'store_copy'`
      : await sql`SELECT 1 AS found WHERE to_regclass('store_copy') IS NOT NULL`
  if (tables.length === 0) return undefined
  const [mark] = await sql<{
    id: string
    side: string
    state: string
  }>`SELECT id, side, state FROM store_copy`
  return mark && (mark as CopyMark)
}

/** Replaces the mark of a store. */
export async function writeCopyMark(sql: Sql, { id, side, state }: CopyMark): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS store_copy (id TEXT NOT NULL, side TEXT NOT NULL, state TEXT NOT NULL)`
  await sql`DELETE FROM store_copy`
  await sql`INSERT INTO store_copy (id, side, state) VALUES (${id}, ${side}, ${state})`
}

/** Removes the mark of a source. */
export async function removeCopyMark(sql: Sql): Promise<void> {
  await sql`DROP TABLE store_copy`
}

/** Why no relay may work on the store, and what to do; undefined if one may. */
export function obstacleOf(mark: CopyMark | undefined): { reason: string; advice: string } | undefined {
  if (!mark || (mark.side === 'target' && mark.state === 'finished')) return undefined
  if (mark.side === 'source')
    return mark.state === 'begun'
      ? {
          reason: 'the store in DATA_DIR is being copied into PostgreSQL',
          advice: 'finish that with "sotto copy", or give it up with "sotto copy --take-back"',
        }
      : {
          reason: 'the store in DATA_DIR was copied into PostgreSQL, where its accounts live on',
          advice: 'set DATABASE_URL; "sotto copy --take-back" makes this older store usable again',
        }
  return mark.state === 'begun'
    ? {
        reason: 'the PostgreSQL of DATABASE_URL has a copy that is not finished',
        advice: 'run "sotto copy" until it says that all is copied',
      }
    : {
        reason: 'the PostgreSQL of DATABASE_URL was given up by "sotto copy --take-back"',
        advice: 'use another database',
      }
}

/** @throws StoreCopied if no relay may work on the store */
export async function checkNotCopied(storage: Reading): Promise<void> {
  const obstacle = obstacleOf(await findCopyMark(storage))
  if (obstacle) throw new StoreCopied(`${obstacle.reason}; ${obstacle.advice}`)
}
