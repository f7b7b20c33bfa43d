// The tables of the two stores of a copy, as the stores themselves describe them, and SQL for any of them.
import type { Database } from 'bun:sqlite'
import { COPY_TABLES } from '../storage/copy-mark.ts'
import { query, SqlPart } from '../storage/sql-parts.ts'
import type { Sql, SqlValue } from '../storage/storage.ts'
import { CopyError } from './copy-error.ts'

/** What a column holds. */
type Kind = 'integer' | 'text' | 'bytes'

/** A column of a table. */
export interface Column {
  readonly name: string
  readonly kind: Kind
}

/** A table of the store, the same on both engines. */
export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  /** By what rows are ordered: the primary key, or all columns if there is none. */
  readonly key: readonly Column[]
}

/** Tables that each store has for itself: the list of its migrations, and what a copy keeps. */
const OWN_TABLES: readonly string[] = ['schema_migrations', ...COPY_TABLES]

/** A name in SQL. */
export function quoted(name: string): string {
  return `"${name}"`
}

/** A query whose text is made while the program runs, with no value in it. */
export function textQuery(text: string): [TemplateStringsArray, ...SqlValue[]] {
  return query`${raw(text)}`
}

/** Text of a query. */
export function raw(text: string): SqlPart {
  return new SqlPart([text], [])
}

/** The tables of the source. A table comes after those that it refers to. */
export function readTables(source: Database): Table[] {
  const names = namesOf<{ name: string }>(source, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('sqlite_') && !OWN_TABLES.includes(name))
  const ordered = new Set<string>()
  const add = (name: string): void => {
    if (ordered.has(name)) return
    for (const { table } of namesOf<{ table: string }>(
      source,
      `SELECT "table" FROM pragma_foreign_key_list('${name}')`,
    ))
      if (table !== name) add(table)
    ordered.add(name)
  }
  for (const name of names.toSorted()) add(name)
  return Array.from(ordered, (name) => tableOf(source, name))
}

/**
 * Checks that the target has the same tables with the same columns.
 * @throws CopyError if it has others
 */
export async function checkSameTables(tables: readonly Table[], target: Sql): Promise<void> {
  const rows = await target<{ table_name: string; column_name: string; data_type: string }>`
    SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name IN (SELECT relname FROM pg_class
      WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace)`
  const there = rows
    .filter(({ table_name }) => !OWN_TABLES.includes(table_name))
    .map((row) => `${row.table_name}.${row.column_name} ${kindOf(row.data_type)}`)
  const here = tables.flatMap(({ name, columns }) =>
    columns.map((column) => `${name}.${column.name} ${column.kind}`),
  )
  const [other] = Array.from(new Set(here).symmetricDifference(new Set(there)))
  if (other !== undefined)
    throw new CopyError(
      `the two stores differ in ${other}; copy with the version of the relay that last ran on the source, into an empty database`,
    )
}

function tableOf(source: Database, name: string): Table {
  const infos = namesOf<{ name: string; type: string; pk: number }>(
    source,
    `SELECT name, type, pk FROM pragma_table_info('${name}')`,
  )
  const columns = infos.map((info) => ({ name: info.name, kind: kindOf(info.type), pk: info.pk }))
  const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
  return { name, columns, key: key.length > 0 ? key : columns }
}

function kindOf(type: string): Kind {
  if (/int/i.test(type)) return 'integer'
  if (/^text$/i.test(type)) return 'text'
  if (/^(?:blob|bytea)$/i.test(type)) return 'bytes'
  throw new Error(`a copy does not know columns of type ${type}`)
}

function namesOf<Row>(source: Database, text: string): Row[] {
  using statement = source.prepare<Row, []>(text)
  return statement.all()
}
