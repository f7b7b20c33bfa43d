// The primary and its replica for tests: what the primary has confirmed is on the replica.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { eventually } from './payment-watch.ts'
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts'

setDefaultTimeout(240_000)

let pair: PostgresPair
let database: string

beforeAll(async () => {
  pair = await startPostgresPair()
  database = await pair.createDatabase()
})
afterAll(() => pair.stop())

test('a commit waits for the replica, and is on it when the primary is killed', async () => {
  const sql = new SQL(pair.primary.url(database), { max: 1 })
  await sql`CREATE TABLE kept (id integer)`
  await pair.replica.freeze()
  let isCommitted = false
  const commit = sql`INSERT INTO kept VALUES (1)`.then(() => {
    isCommitted = true
  })
  const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  await eventually(async () => expect(await query(pair.primary.url(database), waits)).toHaveLength(1))
  expect(isCommitted).toBe(false)
  await pair.replica.thaw()
  await commit
  await pair.primary.kill()
  expect(await failureOf(sql`SELECT 1`)).toBeInstanceOf(Error)
  await sql.close()

  await pair.promote()
  const url = pair.primary.url(database)
  expect(await query(url, 'INSERT INTO kept VALUES (2); SELECT id FROM kept ORDER BY id')).toEqual([
    { id: 1 },
    { id: 2 },
  ])
  // The former primary is of no use any more; a new replica takes its place.
  await pair.addReplica()
  await query(url, 'INSERT INTO kept VALUES (3)')
  await eventually(async () =>
    expect(await query(pair.replica.url(database), 'SELECT count(*)::int AS kept FROM kept')).toEqual([
      { kept: 3 },
    ]),
  )
})

test('a killed server starts again on its port with what was committed, and a frozen one goes on', async () => {
  const { primary } = pair
  const url = primary.url(database)
  await primary.kill()
  await primary.start()
  expect(primary.url(database)).toBe(url)
  const sql = new SQL(url, { max: 1 })
  expect([...(await sql`SELECT count(*)::int AS kept FROM kept`)]).toEqual([{ kept: 3 }])
  await primary.freeze()
  const answer = sql`SELECT 7 AS answer`.then((rows) => [...rows])
  await primary.thaw()
  expect(await answer).toEqual([{ answer: 7 }])
  await sql.close()
})

async function query(url: string, text: string): Promise<unknown[]> {
  await using sql = new SQL(url, { max: 1 })
  const results = await sql.unsafe(text)
  return [...(Array.isArray(results.at(-1)) ? results.at(-1) : results)]
}
