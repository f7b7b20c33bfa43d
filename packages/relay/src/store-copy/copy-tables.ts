// Copies the rows of all tables in slices. The transaction of a slice also records how far the copy has come,
// so a copy that is cut off goes on after the last slice that is in the target.
import type { Database } from 'bun:sqlite'
import { query, type Sql, type Storage } from '../storage/storage.ts'
import { countRows, keyOf, type Row, sourceRows } from './rows.ts'
import { quoted, raw, type Table, textQuery } from './tables.ts'

/** A slice has no more rows than this, by default. */
const SLICE_ROWS = 1000
/** A slice ends with the row that makes it longer than this. */
const SLICE_CHARACTERS = 1024 * 1024

/** Tells the person at the terminal how far it is, in a line. */
export type Tell = (line: string) => void

/** How far the copy of a table, or of media, has come. */
export interface Progress {
  /** The key of the last row that is copied; undefined if there is none. */
  readonly after: readonly string[] | undefined
  readonly copied: number
  readonly isDone: boolean
}

/** What a copy of tables needs to know. */
interface TablesToCopy {
  readonly tables: readonly Table[]
  readonly tell: Tell
  readonly sliceRows?: number | undefined
}

/** Copies all tables, as far as they are not copied yet. */
export async function copyTables(source: Database, target: Storage, how: TablesToCopy): Promise<void> {
  for (const table of how.tables) await copyTable(source, target, table, how)
}

/** Reads how far the copy of something has come; undefined if it has not begun. */
export async function readProgress(sql: Sql, name: string): Promise<Progress | undefined> {
  const [row] = await sql<{ after_key: string | null; copied: number; is_done: number }>`
    SELECT after_key, copied, is_done FROM store_copy_progress WHERE name = ${name}`
  if (!row) return undefined
  const after: string[] | undefined = row.after_key === null ? undefined : JSON.parse(row.after_key)
  return { after, copied: row.copied, isDone: row.is_done === 1 }
}

/** Records how far the copy of something has come. */
export async function writeProgress(
  sql: Sql,
  name: string,
  { after, copied, isDone }: Progress,
): Promise<void> {
  const key = after ? JSON.stringify(after) : null
  await sql`
    INSERT INTO store_copy_progress (name, after_key, copied, is_done)
    VALUES (${name}, ${key}, ${copied}, ${isDone ? 1 : 0})
    ON CONFLICT (name) DO UPDATE SET after_key = excluded.after_key, copied = excluded.copied,
      is_done = excluded.is_done`
}

/** Tells how far something is, at each tenth of it. */
export function tellTenths(
  tell: Tell,
  what: string,
  { all, done, unit = '' }: { all: number; done: number; unit?: string },
) {
  let told = Math.floor((done / all) * 10)
  return (now: number): void => {
    const tenth = Math.floor((now / all) * 10)
    if (tenth === told) return
    told = tenth
    tell(`${what}: ${now.toLocaleString('en-US')} of ${all.toLocaleString('en-US')}${unit}, ${tenth * 10}%`)
  }
}

async function copyTable(
  source: Database,
  target: Storage,
  table: Table,
  { tell, sliceRows = SLICE_ROWS }: TablesToCopy,
): Promise<void> {
  const begun = await readProgress(target.sql, table.name)
  if (begun?.isDone) return
  const all = countRows(source, table)
  let copied = begun?.copied ?? 0
  let isFirst = !begun
  const tellCopied = tellTenths(tell, table.name, { all, done: copied, unit: ' rows' })
  for (const { rows, isLast } of slices(sourceRows(source, table, begun?.after), sliceRows)) {
    const last = rows.at(-1)
    const after = last ? keyOf(table, last) : begun?.after
    copied += rows.length
    // A crash of PostgreSQL may undo the last slices, always with what says that they are there.
    await target.unsyncedTransaction(async (sql) => {
      // Migrations have put rows into some tables.
      if (isFirst) await sql(...textQuery(`DELETE FROM ${quoted(table.name)}`))
      await insert(sql, table, rows)
      await writeProgress(sql, table.name, { after, copied, isDone: isLast })
    })
    isFirst = false
    if (all > 0) tellCopied(copied)
  }
}

async function insert(sql: Sql, table: Table, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const name = quoted(table.name)
  const columns = raw(table.columns.map((column) => quoted(column.name)).join(', '))
  // What triggers count is copied like everything else.
  await sql(...textQuery(`ALTER TABLE ${name} DISABLE TRIGGER USER`))
  await sql(
    ...query`INSERT INTO ${raw(name)} (${columns})
      SELECT ${columns} FROM json_populate_recordset(NULL::${raw(name)}, ${JSON.stringify(rows)}::text::json)`,
  )
  await sql(...textQuery(`ALTER TABLE ${name} ENABLE TRIGGER USER`))
}

/** The rows in slices; the last one may be empty. */
function* slices(rows: Iterable<Row>, most: number): Generator<{ rows: Row[]; isLast: boolean }> {
  let slice: Row[] = []
  let characters = 0
  for (const row of rows) {
    if (slice.length === most || characters > SLICE_CHARACTERS) {
      yield { rows: slice, isLast: false }
      slice = []
      characters = 0
    }
    slice.push(row)
    for (const value of Object.values(row)) characters += value?.length ?? 0
  }
  yield { rows: slice, isLast: true }
}
