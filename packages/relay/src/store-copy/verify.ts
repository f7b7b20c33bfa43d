// Compares the two stores: each table by the count of its rows, and by a hash of all columns of all rows.
import type { Database } from 'bun:sqlite'
import { createHash, type Hash } from 'node:crypto'
import type { Storage } from '../storage/storage.ts'
import { CopyError } from './copy-error.ts'
import type { Tell } from './copy-tables.ts'
import { checkNumbers } from './numbers.ts'
import { type Row, sourceRows, targetRows } from './rows.ts'
import type { Table } from './tables.ts'

/** What a table holds. */
interface Contents {
  readonly count: number
  /** SHA-256 of all rows in the order of their keys. */
  readonly hash: string
}

/**
 * Reads all of both stores.
 * @returns how many rows each store has
 * @throws CopyError if a table differs
 */
export async function verify(
  source: Database,
  target: Storage,
  { tables, tell }: { tables: readonly Table[]; tell: Tell },
): Promise<number> {
  let rows = 0
  for (const table of tables) {
    const here = contentsOfSource(source, table)
    const there = await contentsOfTarget(target, table)
    if (here.count !== there.count || here.hash !== there.hash)
      throw new CopyError(
        `${table.name} differs: ${here.count} rows with the hash ${here.hash} in SQLite, ${there.count} rows with the hash ${there.hash} in PostgreSQL; something else has changed one of them, so copy into another, empty database`,
      )
    if (here.count > 0)
      tell(`${table.name}: the same on both sides, ${here.count.toLocaleString('en-US')} rows`)
    rows += here.count
  }
  await checkNumbers(source, target.sql)
  return rows
}

function contentsOfSource(source: Database, table: Table): Contents {
  const hash = createHash('sha256')
  let count = 0
  for (const row of sourceRows(source, table)) {
    addTo(hash, table, row)
    count += 1
  }
  return { count, hash: hash.digest('hex') }
}

async function contentsOfTarget(target: Storage, table: Table): Promise<Contents> {
  return await target.transaction(async (sql) => {
    const hash = createHash('sha256')
    let count = 0
    for await (const rows of targetRows(sql, table)) {
      for (const row of rows) addTo(hash, table, row)
      count += rows.length
    }
    return { count, hash: hash.digest('hex') }
  })
}

function addTo(hash: Hash, { columns }: Table, row: Row): void {
  hash.update(`${JSON.stringify(columns.map(({ name }) => row[name]))}\n`)
}
