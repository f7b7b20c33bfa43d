// A commit on PostgreSQL takes as long in a large store as in a small one: it finds rows by their keys, also
// when PostgreSQL has not counted them yet.
import { expect, test } from 'bun:test'
import { openMailboxWorld } from '../../test/mailbox-world.ts'
import { startPostgres } from '../../test/postgres-server.ts'
import { openPostgres } from '../storage/postgres.ts'
import type { Storage } from '../storage/storage.ts'

const OLD_IDS = 30_000
const IN_ONE_BATCH = 400
// The first executions of a prepared statement are planned separately; a later one may use a plan for all.
const BATCHES = 8

test('a batch reads no large table as a whole', async () => {
  const url = await (await startPostgres()).createDatabase()
  // One connection, which therefore knows all that was read.
  const open = (): Promise<Storage> => openPostgres(url, { connections: 1 })
  const storage = await open()
  const remove = (): Promise<void> => storage.close()
  const store = { storage, reopen: open, remove }
  const world = await openMailboxWorld(
    { name: 'PostgreSQL', environment: async () => ({}), open: async () => store },
    { conversationPercent: 100, mailboxMessages: 100_000, mailboxBytes: 1_000_000 },
  )
  const { sql } = storage
  await sql`ALTER TABLE sent_ids SET (autovacuum_enabled = off)`
  await sql`ALTER TABLE messages SET (autovacuum_enabled = off)`
  await sql`
    INSERT INTO sent_ids (sender_id, message_id, conversation_id, seq, at, is_retracted)
    SELECT 1000 + number % 100, 'old-' || number, 1000 + number % 100, number, 0, 0
    FROM generate_series(1, ${OLD_IDS}::bigint) AS number`
  await sql`
    INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at)
    SELECT 1000 + number % 100, 1000 + number % 100, number, number, 0, 'old-' || number, 1, 'AAAA', 0
    FROM generate_series(1, ${OLD_IDS}::bigint) AS number`
  const readWhole = async (): Promise<object[]> => {
    await sql`SELECT pg_stat_force_next_flush()`
    return await sql`
      SELECT relname AS table, seq_scan AS times FROM pg_stat_user_tables
      WHERE relname IN ('messages', 'sent_ids') ORDER BY relname`
  }
  const before = await readWhole()
  const { run, send, receipt, retract, alice, bob } = world
  for (let batch = 0; batch < BATCHES; batch++) {
    const ids = Array.from({ length: IN_ONE_BATCH }, (_, index) => `new-${batch}-${index}`)
    await Promise.all([
      ...ids.map((id) => run(send(alice, bob, id))),
      run(retract(alice, bob, `new-${batch}-0`)),
      ...(batch === 0 ? [] : [run(receipt(bob, alice, 'delivered', batch * (IN_ONE_BATCH + 1)))]),
    ])
  }
  expect(await readWhole()).toEqual(before)
  await remove()
})
