// The numbers that new rows get. SQLite remembers the highest number that a table ever gave, also of a row
// that was deleted; PostgreSQL goes on after it, so that no number is given twice.
import type { Database } from 'bun:sqlite'
import { query, type Sql } from '../storage/storage.ts'
import { CopyError } from './copy-error.ts'
import { raw } from './tables.ts'

interface LastNumber {
  readonly name: string
  readonly seq: number
}

/** Makes the target go on after the numbers of the source. */
export async function copyNumbers(source: Database, sql: Sql): Promise<void> {
  for (const { name, seq } of lastNumbers(source))
    await sql`SELECT setval(pg_get_serial_sequence(${name}, 'id'), ${seq})`
}

/** @throws CopyError if a table of the target goes on after another number */
export async function checkNumbers(source: Database, sql: Sql): Promise<void> {
  for (const { name, seq } of lastNumbers(source)) {
    const [sequence] = await sql<{ name: string }>`SELECT pg_get_serial_sequence(${name}, 'id') AS name`
    const [last] = await sql<{ last_value: number; is_called: boolean }>(
      ...query`SELECT last_value, is_called FROM ${raw(sequence?.name ?? '')}`,
    )
    if (last?.last_value !== seq || !last.is_called)
      throw new CopyError(`${name} in PostgreSQL does not go on after the number ${seq}; run the copy again`)
  }
}

function lastNumbers(source: Database): LastNumber[] {
  using statement = source.prepare<LastNumber, []>(
    'SELECT name, seq FROM sqlite_sequence WHERE seq > 0 ORDER BY name',
  )
  return statement.all()
}
