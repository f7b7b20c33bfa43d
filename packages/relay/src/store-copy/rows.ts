// Reads the rows of a table from either store, in the order of its key and in the same form.
import type { Database } from 'bun:sqlite'
import type { Sql } from '../storage/storage.ts'
import { CopyError } from './copy-error.ts'
import { type Column, quoted, type Table, textQuery } from './tables.ts'

/**
 * The values of a row by the names of its columns. Integers are in decimal, so that none loses a digit, and
 * bytes in hexadecimal as PostgreSQL writes them.
 */
export type Row = Readonly<Record<string, string | null>>

/** How many rows of the target are read at a time. */
const FETCHED = 1000

/** How many rows a table of the source has. */
export function countRows(source: Database, { name }: Table): number {
  using statement = source.prepare<{ count: number }, []>(`SELECT COUNT(*) AS count FROM ${quoted(name)}`)
  return statement.get()?.count ?? 0
}

/**
 * The rows of a table of the source.
 * @param after the key of the last row that is not wanted any more
 * @throws CopyError if a row has what PostgreSQL cannot hold
 */
export function* sourceRows(source: Database, table: Table, after?: readonly string[]): Generator<Row> {
  const columns = table.columns.map((column) => `${sourceValue(column)} AS ${quoted(column.name)}`)
  const key = table.key.map(({ name }) => `kept.${quoted(name)}`).join(', ')
  const bounds = table.key.map(({ kind }) => (kind === 'integer' ? 'CAST(? AS INTEGER)' : '?')).join(', ')
  const condition = after ? `WHERE (${key}) > (${bounds})` : ''
  using statement = source.prepare<Row, string[]>(
    `SELECT ${columns.join(', ')} FROM ${quoted(table.name)} AS kept ${condition} ORDER BY ${key}`,
  )
  for (const row of statement.iterate(...(after ?? []))) {
    checkText(table, row)
    yield row
  }
}

/** The rows of a table of the target, in the transaction of `sql`. */
export async function* targetRows(sql: Sql, table: Table): AsyncGenerator<readonly Row[]> {
  const cursor = quoted(`copied_${table.name}`)
  const columns = table.columns.map((column) => `${targetValue(column)} AS ${quoted(column.name)}`)
  // By code points, as SQLite orders text.
  const key = table.key.map(
    ({ name, kind }) => `kept.${quoted(name)}${kind === 'text' ? ' COLLATE "C"' : ''}`,
  )
  await sql(
    ...textQuery(
      `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${columns.join(', ')} FROM ${quoted(table.name)} AS kept ORDER BY ${key.join(', ')}`,
    ),
  )
  for (;;) {
    const rows = await sql<Row>(...textQuery(`FETCH ${FETCHED} FROM ${cursor}`))
    if (rows.length === 0) break
    yield rows
  }
  await sql(...textQuery(`CLOSE ${cursor}`))
}

/** The key of a row. */
export function keyOf(table: Table, row: Row): string[] {
  return table.key.map(({ name }) => row[name] ?? '')
}

function sourceValue({ name, kind }: Column): string {
  const column = `kept.${quoted(name)}`
  if (kind === 'integer') return `CAST(${column} AS TEXT)`
  return kind === 'text' ? column : `CASE WHEN ${column} IS NOT NULL THEN '\\x' || lower(hex(${column})) END`
}

function targetValue({ name, kind }: Column): string {
  return kind === 'text' ? `kept.${quoted(name)}` : `kept.${quoted(name)}::text`
}

function checkText(table: Table, row: Row): void {
  for (const { name } of table.columns) {
    const value: unknown = row[name]
    const isKept = value === null || (typeof value === 'string' && !value.includes('\0'))
    if (!isKept)
      throw new CopyError(
        `${table.name}.${name} has bytes that are no text, or the character U+0000, in the row with the key ${JSON.stringify(keyOf(table, row))}; PostgreSQL cannot hold that`,
      )
  }
}
