// Everything that a relay has stored, read beside it: so that a test sees what a request changed, wherever it
// is, and whose it is.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { SQL } from 'bun'

/** A row of the store, with the name of its table. */
export interface StoredRow {
  readonly table: string
  readonly fields: Readonly<Record<string, unknown>>
  /** The row as text; equal rows have equal texts. */
  readonly text: string
}

/** All rows of a store at one moment, in an order that depends on nothing but the rows. */
export type StoreContents = readonly StoredRow[]

/** A store that a relay is using. */
export interface StoreReader {
  /** The names of every table's columns. */
  readonly columns: ReadonlyMap<string, readonly string[]>
  /** @param now the relay's time; rows that have expired by then do not count, because it may delete them */
  read(now: number): Promise<StoreContents>
  close(): Promise<void>
}

/** Reads the store of a relay on this engine. */
export async function openStore(relay: {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
}): Promise<StoreReader> {
  return relay.databaseUrl === undefined ? openFile(relay.dataDir) : await openDatabase(relay.databaseUrl)
}

/** Tables and columns that a relay writes by itself, at any time. */
const WRITTEN_AT_ANY_TIME = {
  tables: [
    'relay_state',
    'sent_id_counts',
    'push_queue',
    'push_wakes',
    'media_doomed',
    'media_total',
    'day_figures',
    'leases',
    'acme_challenges',
    'certificates',
    'connections',
    'nodes',
  ],
  columns: ['failing_since', 'told_delivered_seq', 'told_read_seq', 'unlisted_since'],
}

function openFile(dataDir: string): StoreReader {
  const database = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  database.run('PRAGMA busy_timeout = 5000')
  const names = database
    .query<{ name: string }, []>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all()
    .map(({ name }) => name)
  const readAll = database.transaction(() =>
    names.flatMap((table) =>
      database
        .query<Record<string, unknown>, []>(`SELECT * FROM ${table}`)
        .all()
        .map((fields) => ({ table, fields })),
    ),
  )
  const columnsOf = (table: string): string[] =>
    database
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name)
  return {
    columns: new Map(names.map((table) => [table, columnsOf(table)])),
    read: async (now) => contentsOf(readAll(), now),
    close: async () => database.close(),
  }
}

async function openDatabase(url: string): Promise<StoreReader> {
  const database = new SQL({ url, adapter: 'postgres', max: 1 })
  const tables: { name: string; columns: string[] }[] = await database`
    SELECT table_name AS name, json_agg(column_name) AS columns
    FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name`
  const parts = tables.map(
    ({ name }) => `SELECT '${name}' AS "table", to_jsonb(t) AS fields FROM ${name} AS t`,
  )
  const query = parts.join(' UNION ALL ')
  return {
    columns: new Map(tables.map(({ name, columns }) => [name, columns])),
    read: async (now) => contentsOf(await database.unsafe(query), now),
    close: () => database.close(),
  }
}

function contentsOf(rows: readonly Pick<StoredRow, 'table' | 'fields'>[], now: number): StoreContents {
  return rows
    .filter(({ table, fields }) => {
      const { expires_at } = fields
      const hasExpired = typeof expires_at === 'number' && expires_at <= now
      return !WRITTEN_AT_ANY_TIME.tables.includes(table) && !hasExpired
    })
    .map(({ table, fields }) => {
      const kept = Object.entries(fields).filter(([name]) => !WRITTEN_AT_ANY_TIME.columns.includes(name))
      return { table, fields, text: `${table} ${JSON.stringify(Object.fromEntries(kept))}` }
    })
    .sort((a, b) => (a.text < b.text ? -1 : 1))
}

/** The rows that are in only one of the two: what was removed, added or changed. */
export function changedRows(before: StoreContents, after: StoreContents): StoredRow[] {
  const isSame = before.length === after.length && before.every(({ text }, i) => text === after[i]?.text)
  if (isSame) return []
  const [had, has] = [textsOf(before), textsOf(after)]
  return [...before.filter(({ text }) => !has.has(text)), ...after.filter(({ text }) => !had.has(text))]
}

function textsOf(contents: StoreContents): Set<string> {
  return new Set(contents.map(({ text }) => text))
}

/** Columns that name an account. */
const OF_ACCOUNTS = [
  ...['account_id', 'owner_id', 'low_id', 'high_id', 'requester_id', 'recipient_id', 'sender_id'],
  ...[
    'blocker_id',
    'blocked_id',
    'buyer_id',
    'seller_id',
    'bound_by',
    'author_id',
    'reporter_id',
    'claimer_id',
  ],
]
/** Columns that name a row of another table, which belongs to somebody. */
const OF_ROWS: Readonly<Record<string, string>> = {
  channel: 'channels',
  conversation_id: 'conversations',
  blob: 'media_blobs',
  order_number: 'orders',
  subscription_id: 'push_subscriptions',
}
/** Tables whose rows belong to no account, or do not tell to which one. */
export const OF_NOBODY = [
  ...[
    'schema_migrations',
    'relay_keys',
    'relay_state',
    'search_places',
    'media_total',
    'day_figures',
    'leases',
    'acme_challenges',
    'certificates',
    'nodes',
    'chain_blocks',
    'chains',
  ],
  ...['pow_challenges', 'used_challenges', 'dead_tokens', 'processor_references', 'reserves', 'deeds'],
]

/** Whether a row belongs to the account with this uuid, alone or with another account. */
export function ownerTest(contents: StoreContents, uuid: string): (row: StoredRow) => boolean {
  const account = contents.find(({ table, fields }) => table === 'accounts' && fields.uuid === uuid)?.fields
    .id
  if (account === undefined) throw new Error('the store has no account with this uuid')
  const isNamed = ({ table, fields }: StoredRow): boolean =>
    (table === 'accounts' && fields.id === account) ||
    OF_ACCOUNTS.some((column) => fields[column] === account)
  const own = new Set(contents.filter(isNamed).map(({ table, fields }) => `${table} ${fields.id}`))
  return (row) =>
    isNamed(row) ||
    Object.entries(OF_ROWS).some(([column, table]) => own.has(`${table} ${row.fields[column]}`))
}

/** Tables that neither name whose their rows are nor are known to belong to nobody. */
export function unclassifiedTables(columns: ReadonlyMap<string, readonly string[]>): string[] {
  return [...columns].flatMap(([table, names]) => {
    const isClassified =
      table === 'accounts' ||
      OF_NOBODY.includes(table) ||
      names.some((name) => OF_ACCOUNTS.includes(name) || Object.hasOwn(OF_ROWS, name))
    return isClassified ? [] : [table]
  })
}
