// A copy from SQLite to PostgreSQL: every table, every value, after a process that died between any two
// transactions; and what is refused.
import { Database } from 'bun:sqlite'
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { rounds } from '../../../protocol/test/rounds.ts'
import { startPostgres } from '../../test/postgres-server.ts'
import { randomOf } from '../../test/seeded-random.ts'
import { findCopyMark } from '../storage/copy-mark.ts'
import { openPostgres, openPostgresBeside } from '../storage/postgres.ts'
import { openSqlite } from '../storage/sqlite.ts'
import type { Storage } from '../storage/storage.ts'
import { type Copied, copyStore, takeBack } from './copy-store.ts'
import { textQuery } from './tables.ts'

setDefaultTimeout(240_000)

/** What decides when a copy dies. */
const SEED = 17

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

interface Sides {
  readonly dataDir: string
  readonly source: Storage
  readonly target: Storage
  readonly url: string
}

/** A full source and an empty target. */
async function sides(rows?: number): Promise<Sides> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sotto-copy-'))
  endings.push(() => rm(dataDir, { recursive: true }))
  await (await openSqlite(dataDir)).close()
  fill(join(dataDir, 'sotto.db'), rows)
  const source = await openSqlite(dataDir)
  endings.push(() => source.close())
  return { dataDir, source, ...(await emptyTarget()) }
}

async function emptyTarget(): Promise<{ target: Storage; url: string }> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const target = openPostgresBeside(url, { connections: 2 })
  endings.push(() => server.stop())
  endings.push(() => target.close())
  return { target, url }
}

let copies = 0
function copy(
  { dataDir, source, target }: Pick<Sides, 'dataDir' | 'source' | 'target'>,
  tell = (_line: string): void => undefined,
): Promise<Copied | undefined> {
  copies += 1
  const media = { folder: join(dataDir, 'media'), bucket: undefined }
  return copyStore({
    ...{ dataDir, source, target, media, needsAllMedia: true, tell },
    newId: `copy ${copies}`,
    sliceRows: 4,
  })
}

const AWKWARD = [
  '',
  "'",
  '"\\',
  '\n\t\r',
  'é\u0301',
  '\u{1f600}',
  '\u2028',
  '\ufeff',
  '\\x00',
  'NULL',
  'Z',
  'a',
  'ä',
]

/** Writes rows into every table, whatever its columns are. */
function fill(file: string, rows = 30): void {
  using database = new Database(file)
  const random = randomOf(7)
  let last = 0
  const unique = (): number => {
    last += 1 + random(1000)
    return last
  }
  database.run('PRAGMA foreign_keys = OFF') // The accounts come first, but the order of the others is any.
  const names = tablesOf(database)
  for (const name of ['accounts', ...names.filter((each) => each !== 'accounts')]) {
    // Triggers write the one, migrations the other.
    if (['media_total', 'schema_migrations'].includes(name)) continue
    const columns = database
      .query<{ name: string; type: string; notnull: number; pk: number }, []>(
        `SELECT name, type, "notnull", pk FROM pragma_table_info('${name}')`,
      )
      .all()
    const owners = new Set(
      database
        .query<{ column: string }, []>(`SELECT "from" AS "column" FROM pragma_foreign_key_list('${name}')`)
        .all()
        .map(({ column }) => column),
    )
    for (let row = 1; row <= rows; row++) {
      const values = columns.map((column) => {
        if (column.pk > 0 && /^INTEGER$/i.test(column.type)) return row * 3
        if (owners.has(column.name)) return 3 * (1 + random(rows))
        if (column.notnull === 0 && column.pk === 0 && random(3) === 0) return null
        if (/int/i.test(column.type)) return unique()
        if (/blob/i.test(column.type)) return Uint8Array.from({ length: random(40) }, () => random(256))
        return `${AWKWARD[random(AWKWARD.length)]}${unique()}`
      })
      const places = columns.map(() => '?').join(', ')
      database.run(`INSERT OR IGNORE INTO ${name} VALUES (${places})`, values)
    }
    expect([name, database.query(`SELECT 1 FROM ${name} LIMIT 1`).get() !== null]).toEqual([name, true])
  }
  // More digits than a number of JavaScript has.
  database.run(
    'UPDATE day_figures SET messages = 9007199254740993 WHERE minute = (SELECT MIN(minute) FROM day_figures)',
  )
  // The newest notices have arrived, and are gone.
  database.run('DELETE FROM notices WHERE id > 30')
}

function tablesOf(database: Database): string[] {
  return database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'store_copy%'",
    )
    .all()
    .map(({ name }) => name)
}

/** All rows of all tables, read without the code of the copy. */
async function contents({ sql, engine }: Storage, tables: readonly string[]): Promise<object> {
  const found: Record<string, string[]> = {}
  const integers = engine.dialect === 'sqlite' ? 'CAST(messages AS TEXT)' : 'messages::text'
  for (const table of tables) {
    const rows = await sql<Record<string, unknown>>(...textQuery(`SELECT * FROM ${table}`))
    found[table] = rows.map((row) => JSON.stringify(Object.entries(row).map(plain).toSorted())).toSorted()
  }
  found.digits = (
    await sql<{ text: string }>(...textQuery(`SELECT ${integers} AS text FROM day_figures ORDER BY minute`))
  ).map(({ text }) => text)
  return found
}

function plain([name, value]: [string, unknown]): [string, unknown] {
  return [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]
}

async function expectSame({ dataDir, source, target }: Sides): Promise<void> {
  using database = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  const tables = tablesOf(database)
  expect(await contents(target, tables)).toEqual(await contents(source, tables))
}

test('every row of every table is copied as it is, and new rows get the next numbers', async () => {
  const both = await sides()
  const lines: string[] = []
  const copied = await copy(both, (line) => lines.push(line))
  await expectSame(both)
  expect(copied).toMatchObject({ blobs: 0, put: 0, missing: 0 })
  expect(lines).toContain('accounts: 30 of 30 rows, 100%')
  expect(lines).toContain('accounts: the same on both sides, 30 rows')
  const storage = await openPostgres(both.url, { connections: 2 })
  const [notice] = await storage.sql<{ id: number }>`
    INSERT INTO notices (account_id, frame, created_at) VALUES (1, 'x', 1) RETURNING id`
  await storage.close()
  expect(notice?.id).toBe(91) // Although 31 to 90 are gone.
  expect(await failureOf(openSqlite(both.dataDir))).toMatchObject({ name: 'StorageInUse' })
})

test('a row of a trigger’s table is counted once', async () => {
  const both = await sides()
  await copy(both)
  const [held] = await both.target.sql<{ bytes: number; total: number }>`
    SELECT (SELECT SUM(bytes) FROM media_blobs)::bigint + (SELECT SUM(bytes) FROM media_doomed)::bigint AS bytes,
      (SELECT bytes FROM media_total) AS total`
  expect(held?.total).toBe(held?.bytes)
  await both.target.transaction((sql) => sql`UPDATE media_doomed SET bytes = bytes + 1`)
  const [after] = await both.target.sql<{ total: number }>`SELECT bytes AS total FROM media_total`
  expect(after?.total).toBe((held?.total ?? 0) + 30)
})

test('a copy that died between any two transactions goes on, and never can both sides be used', async () => {
  const both = await sides(6)
  const whole = mortal(both, Number.POSITIVE_INFINITY)
  await copy(whole)
  const steps = whole.done()
  expect(steps).toBeGreaterThan(40) // More than one for each table.
  const random = randomOf(SEED)
  const middle = Array.from({ length: rounds(5, steps) }, () => 5 + random(steps - 9))
  for (const died of [0, 1, 2, 3, ...middle, steps - 3, steps - 2, steps - 1]) {
    const { target, url } = await emptyTarget()
    await withdraw(both.source)
    expect(await failureOf(copy(mortal({ ...both, target }, died)))).toMatchObject({
      message: 'the process died',
    })
    // A target without a mark is still empty.
    if (await findCopyMark(target)) {
      expect(await failureOf(openPostgres(url, { connections: 2 }))).toMatchObject({ name: 'StoreCopied' })
      expect(await isFree(both.source)).toBe(false)
    }
    expect(await copy({ ...both, target })).toBeDefined()
    await expectSame({ ...both, target })
    expect(await copy({ ...both, target })).toBeUndefined()
    await (await openPostgres(url, { connections: 2 })).close()
    await target.close()
  }
})

test('a value that was changed in the target, and a row that is one too many, keep it from being used', async () => {
  const both = await sides()
  const changes = [
    'UPDATE messages SET payload = payload || $$ $$ WHERE seq = (SELECT MIN(seq) FROM messages)',
    'DELETE FROM sent_ids WHERE seq = (SELECT MIN(seq) FROM sent_ids)',
    "INSERT INTO used_challenges (nonce, expires_at) VALUES ('extra', 1)",
    'UPDATE relay_keys SET secret = secret || $$\\x00$$::bytea',
    "SELECT setval(pg_get_serial_sequence('notices', 'id'), 5)",
  ]
  for (const change of changes) {
    const { target, url } = await emptyTarget()
    await withdraw(both.source)
    const isComparing = (line: string): void => {
      if (line.startsWith('All is copied')) throw new Error('stopped')
    }
    expect(await failureOf(copy({ ...both, target }, isComparing))).toMatchObject({ message: 'stopped' })
    await target.transaction((sql) => sql(...textQuery(change)))
    if (change.startsWith('SELECT')) {
      await copy({ ...both, target }) // The next call sets the numbers right.
      continue
    }
    expect(await failureOf(copy({ ...both, target }))).toMatchObject({
      name: 'CopyError',
      message: expect.stringContaining('differs: '),
    })
    expect(await failureOf(openPostgres(url, { connections: 2 }))).toMatchObject({ name: 'StoreCopied' })
  }
})

test('a target that has tables is refused, and so is the half copy of another store', async () => {
  const [first, second] = [await sides(2), await sides(2)]
  const { target: used } = await emptyTarget()
  await used.transaction((sql) => sql`CREATE TABLE notes (id BIGINT)`)
  const refusal = { name: 'CopyError', message: expect.stringContaining('has tables already') }
  expect(await failureOf(copy({ ...first, target: used }))).toMatchObject(refusal)
  expect(await findCopyMark(first.source)).toBeUndefined()
  await failureOf(copy(mortal(first, 12)))
  expect(await failureOf(copy({ ...second, target: first.target }))).toMatchObject(refusal)
  // Another target takes the place of the first, which then can never be finished.
  await copy({ ...first, target: second.target })
  expect(await failureOf(copy(first))).toMatchObject(refusal)
  const third = await emptyTarget()
  expect(await failureOf(copy({ ...first, target: third.target }))).toMatchObject({
    message: expect.stringContaining('was copied into another PostgreSQL already'),
  })
})

test('text that PostgreSQL cannot hold is named', async () => {
  const both = await sides(2)
  await both.source.transaction((sql) => sql`UPDATE accounts SET nickname = ${'a\0b'} WHERE id = 3`)
  expect(await failureOf(copy(both))).toMatchObject({
    name: 'CopyError',
    message: expect.stringContaining(
      'accounts.nickname has bytes that are no text, or the character U+0000, in the row with the key ["3"]',
    ),
  })
})

test('a copy that was given up can never be used again, and its source can', async () => {
  const both = await sides(2)
  const moved: string[] = []
  const move = async (): Promise<void> => void moved.push('ahead')
  expect(await failureOf(takeBack(both.source, both.target, move))).toMatchObject({ name: 'CopyError' })
  await copy(both)
  const other = await emptyTarget()
  expect(await failureOf(takeBack(both.source, other.target, move))).toMatchObject({ name: 'CopyError' })
  expect(await isFree(both.source)).toBe(false)
  expect(await takeBack(both.source, both.target, move)).toBe(true)
  expect(moved).toEqual(['ahead'])
  expect(await isFree(both.source)).toBe(true)
  expect(await failureOf(openPostgres(both.url, { connections: 2 }))).toMatchObject({ name: 'StoreCopied' })
  expect(await failureOf(copy(both))).toMatchObject({ name: 'CopyError' })
  expect(await copy({ ...both, target: other.target })).toBeDefined()
})

/** Both sides, for a process that dies after this many transactions. */
function mortal({ dataDir, source, target }: Pick<Sides, 'dataDir' | 'source' | 'target'>, steps: number) {
  let done = 0
  const step = (): void => {
    if (done === steps) throw new Error('the process died')
    done += 1
  }
  const counted = (storage: Storage): Storage => ({
    ...storage,
    transaction: async (work) => {
      step()
      return await storage.transaction(work)
    },
    unsyncedTransaction: async (work) => {
      step()
      return await storage.unsyncedTransaction(work)
    },
  })
  return { dataDir, source: counted(source), target: counted(target), done: () => done }
}

/** Removes the mark of a source, as if the last copy had never been begun. */
async function withdraw(source: Storage): Promise<void> {
  if (await findCopyMark(source)) await source.transaction((sql) => sql`DROP TABLE store_copy`)
}

async function isFree(source: Storage): Promise<boolean> {
  return (await findCopyMark(source)) === undefined
}
