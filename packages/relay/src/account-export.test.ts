// `sotto export` says what the relay holds of an account: each table of the store is in it, or is left out
// here with the reason.
import { afterAll, expect, test } from 'bun:test'
import { engines, type TestStore } from '../test/engines.ts'
import { exportCommands } from './account-export.ts'
import type { Sql } from './storage/storage.ts'

/** The tables that are not exported, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  // Nothing of it is of an account.
  schema_migrations: 'the version of the store',
  relay_state: 'what the relay remembers of itself',
  relay_keys: 'secrets of the relay',
  pow_challenges: 'of somebody who has no account yet',
  used_challenges: 'names no account',
  leases: 'which node does what',
  acme_challenges: 'of certificates',
  certificates: 'the relay’s',
  nodes: 'of the relay’s processes',
  dead_tokens: 'ids of tokens, without accounts',
  processor_references: 'of the payment processor',
  chain_blocks: 'of a chain',
  chains: 'of a chain',
  reserves: 'hashes of networks, without accounts',
  day_figures: 'counts of all accounts together',
  media_total: 'the bytes of all accounts together',
  channel_words: 'an index of the channels, which are exported',
  search_places: 'an index of the channels, which are exported',
  // Somebody could act with it.
  tickets: 'hashes of secrets that open a connection, which live for a minute',
  // Sealed, or the parts and the work of what is exported.
  messages: 'sealed; mailboxes counts them',
  media_parts: 'parts of media that are exported',
  media_writes: 'parts of media that are exported, while they are written',
  media_doomed: 'blobs that are being removed',
  push_wakes: 'what waits to be pushed, which is in the mailbox',
  push_queue: 'what waits to be pushed, which is in the mailbox',
  sent_id_counts: 'how many of the ids that are counted are of today',
  account_purges: 'accounts that are deleted',
  channel_purges: 'channels that are deleted',
  // `sotto orders show` prints it.
  payments: 'financial records, by order',
  payouts: 'financial records, by order',
  order_events: 'financial records, by order',
  order_destinations: 'financial records, by order',
  // Whose it is.
  deeds: 'the record of what operators did, with their names',
}

let store: TestStore | undefined
afterAll(async () => {
  await store?.remove()
})

test('each table of the store is exported, or is left out for a reason', async () => {
  const [engine] = engines
  if (engine?.name !== 'SQLite') throw new Error('the names of the tables are read from SQLite')
  store = await engine.open()
  const { storage } = store
  await storage.transaction(async (sql) => {
    await sql`
      INSERT INTO accounts (uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
      VALUES ('u', 'owner', 'Owner', 'e', 'x', 1)`
    await sql`INSERT INTO aliases (alias_id, account_id) SELECT 'owner', id FROM accounts`
  })
  const read = new Set<string>()
  const sql: Sql = (strings, ...values) => {
    for (const [, table = ''] of strings.join('?').matchAll(/\b(?:FROM|JOIN) (\w+)/g)) read.add(table)
    return storage.sql(strings, ...values)
  }
  const commands = exportCommands({ storage: { ...storage, sql }, clock: { now: () => 2 } })
  await commands['export.account']({ alias_id: 'owner' })
  await commands['export.posts']({ alias_id: 'owner', after: 0 })

  const tables = await storage.sql<{ name: string }>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
  const names = tables.map(({ name }) => name).toSorted()
  expect(names.length).toBeGreaterThan(40)
  expect([...read, ...Object.keys(LEFT_OUT)].toSorted()).toEqual(names)
})
