// Searches with more matches than a search reads, on both engines: what is always found, and what comes
// first. And the words of an older store.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type ChannelId, defaultLimits } from '@sotto/protocol'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { explaining, type PlanStep } from '../../test/query-plans.ts'
import { systemRandom } from '../operations/random.ts'
import { applySteps } from '../storage/migrate.ts'
import { channelSearch } from '../storage/migrations/channel-search.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { type ChannelDetails, createChannel, editChannel } from './catalog.ts'
import { searchChannels } from './search.ts'
import { subscribe, unsubscribe } from './subscriptions.ts'
import { levelOf } from './word-index.ts'

/** More channels than a search takes as candidates. */
const MANY = 2400
const limits = { ...defaultLimits(), channelSeats: 10_000 }
const parts = { clock: clockAt(1), randomBytes: systemRandom, limits }

for (const engine of engines) {
  describe(`a search on ${engine.name}`, () => {
    let store: TestStore
    let storage: Storage
    let accounts: AccountId[]
    beforeEach(async () => {
      store = await engine.open()
      storage = store.storage
      accounts = await storage.transaction(addAccounts)
    })
    afterEach(() => store.remove())

    const owner = (): AccountId => accounts[0] ?? (0 as AccountId)
    const make = (name: string, description = '', isPublic = true): Promise<ChannelId> =>
      storage.transaction((sql) => createChannel(sql, owner(), { name, description, isPublic }, parts))
    const edit = (id: ChannelId, change: Partial<ChannelDetails>): Promise<void> =>
      storage.transaction((sql) => editChannel(sql, { id, caller: owner() }, change))
    const search = async (query: string): Promise<string[]> =>
      (await searchChannels(storage.sql, query, owner())).map(({ name }) => name)
    const makePopular = async (id: ChannelId): Promise<void> => {
      for (const caller of accounts) await storage.transaction((sql) => subscribe(sql, { id, caller }, parts))
    }

    test('finds every match if one of its words is rare, however common the other words are', async () => {
      await storage.transaction((sql) => addMany(sql, ['common', 'usual', 'ordinary']))
      await make('Okapi', 'Common and usual')
      await make('Usual, common and ordinary okapis')
      expect(await search('ordinary common usual okapi')).toEqual(['Usual, common and ordinary okapis'])
      expect(await search('usual common okapi')).toEqual(['Usual, common and ordinary okapis', 'Okapi'])
      expect(await search('usual common axolotl')).toEqual([])
    })

    test('of more matches than it reads, finds names first, and popular channels before others', async () => {
      await storage.transaction((sql) => addMany(sql, ['common', 'commonly', 'usual']))
      const popular = await make('Popular', 'common and usual')
      const longer = await make('Longer', 'the commonwealth is usual')
      await make('Common ground')
      await make('Commonplace', 'as usual')
      for (const id of [popular, longer]) await makePopular(id)
      expect((await search('common')).slice(0, 3)).toEqual(['Common ground', 'Commonplace', 'Popular'])
      expect((await search('usual common')).slice(0, 2)).toEqual(['Commonplace', 'Popular'])
      expect(await search('commonw')).toEqual(['Longer'])
      const names = await search('common usual')
      expect([names.length, names.slice(0, 3)]).toEqual([50, ['Commonplace', 'Popular', 'One of many']])
    })

    test('finds a popular channel by a beginning that many words share', async () => {
      await storage.transaction((sql) => addMany(sql, ['beginner', 'beginning', 'begins']))
      await makePopular(await make('Last in the alphabet', 'begun'))
      expect((await search('beg'))[0]).toBe('Last in the alphabet')
    })

    test('keeps a channel where it was when one subscriber comes and goes', async () => {
      const id = await make('Coming', 'and going')
      await makePopular(id)
      const [caller] = accounts
      if (caller === undefined) throw new Error('there are no accounts')
      for (const change of [unsubscribe, subscribe, unsubscribe]) {
        await storage.transaction((sql) => change(sql, { id, caller }, parts))
        expect(await levelsOf(storage.sql)).toEqual([levelOf(accounts.length)])
      }
      for (const other of accounts.slice(1)) {
        await storage.transaction((sql) => unsubscribe(sql, { id, caller: other }))
      }
      await edit(id, { description: 'and gone' })
      expect(await levelsOf(storage.sql)).toEqual([0])
    })

    test('finds a channel only while it is public', async () => {
      const id = await make('Secret garden', 'roses', false)
      expect(await search('secret')).toEqual([])
      await edit(id, { isPublic: true })
      expect(await search('secret roses')).toEqual(['Secret garden'])
      await edit(id, { isPublic: false })
      expect(await search('secret roses')).toEqual([])
      expect(await levelsOf(storage.sql)).toEqual([])
    })

    test('finds the channels of an older store', async () => {
      await make('Zebra crossing', 'on the road')
      await make('Aquarium', 'where a zebra swims')
      const popular = await make('Zebrafish')
      await make('Zebra in hiding', '', false)
      await makePopular(popular)
      const before =
        await storage.sql`SELECT in_name, level, word, channel FROM channel_words ORDER BY channel, word`
      await storage.transaction(async (sql) => {
        await toOlderStore(sql)
        await applySteps(sql, channelSearch(storage.engine.dialect))
      })
      expect(
        await storage.sql`SELECT in_name, level, word, channel FROM channel_words ORDER BY channel, word`,
      ).toEqual(before)
      expect(await search('zebra')).toEqual(['Zebra crossing', 'Zebrafish', 'Aquarium'])
    })
  })
}

// What bounds a search on SQLite, where its queries stop the event loop: a sort would read every match.
test('a search on SQLite reads its candidates in the order of the index, and no table as a whole', async () => {
  const sqlite = engines.find(({ name }) => name === 'SQLite')
  if (!sqlite) throw new Error('there is no SQLite')
  const { storage, remove } = await sqlite.open()
  const [viewer] = await storage.transaction(addAccounts)
  if (viewer === undefined) throw new Error('there are no accounts')
  await storage.transaction((sql) => addMany(sql, ['common', 'usual']))
  const plans: PlanStep[][] = []
  expect(await searchChannels(explaining(storage.sql, plans), 'common usual', viewer)).toHaveLength(50)
  const [counting = [], , ranking = []] = plans
  const stepsOf = (steps: readonly PlanStep[]) => steps.map(({ detail }) => detail)
  const candidates = ranking.filter(({ detail }) => detail === 'CO-ROUTINE candidates').map(({ id }) => id)
  expect(candidates).toHaveLength(1)
  const reading = ranking.filter(({ parent }) => candidates.includes(parent))
  for (const steps of [stepsOf(counting), stepsOf(reading)]) {
    expect(steps).toContainEqual(
      expect.stringMatching(/^SEARCH words USING PRIMARY KEY \(in_name=\? AND level=\? AND word>/),
    )
    expect(steps.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
  }
  expect(
    stepsOf(ranking).filter((step) => /^SCAN (words|channel_words|channels|subscriptions)/.test(step)),
  ).toEqual([])
  await remove()
})

test.each([
  [0, 0],
  [3, 0],
  [4, 1],
  [15, 1],
  [16, 2],
  [16_383, 6],
  [16_384, 7],
  [1e9, 7],
])('a channel with %p subscribers is at level %p', (subscribers, level) => {
  expect(levelOf(subscribers)).toBe(level)
})

async function addAccounts(sql: Sql): Promise<AccountId[]> {
  const added: AccountId[] = []
  for (const name of ['owner', 'one', 'two', 'three', 'four']) {
    const rows = await sql<{ id: AccountId }>`
      INSERT INTO accounts (uuid, alias_id, nickname, created_at) VALUES (${name}, ${name}, ${name}, 1)
      RETURNING id`
    for (const { id } of rows) added.push(id)
  }
  return added
}

/** Adds channels without subscribers that have these words in their descriptions. */
async function addMany(sql: Sql, words: readonly string[]): Promise<void> {
  await sql`
    INSERT INTO channels (channel_id, owner_id, name, description, is_public, created_at, subscriber_count)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
    SELECT 'ch_' || n, (SELECT MIN(id) FROM accounts), 'One of many', ${words.join(' ')}, 1, 1, 0 FROM numbers`
  for (const word of words) {
    await sql`
      INSERT INTO channel_words (in_name, level, word, channel) SELECT 0, 0, ${word}, id FROM channels`
  }
}

async function levelsOf(sql: Sql): Promise<number[]> {
  const rows = await sql<{ level: number }>`SELECT DISTINCT level FROM channel_words ORDER BY level`
  return rows.map(({ level }) => level)
}

/** The table of words as it was before it had levels, with the words of channels that are not public. */
async function toOlderStore(sql: Sql): Promise<void> {
  await sql`
    CREATE TABLE older_words (word TEXT NOT NULL, channel BIGINT NOT NULL, weight BIGINT NOT NULL,
      PRIMARY KEY (word, channel))`
  await sql`
    INSERT INTO older_words (word, channel, weight)
    SELECT word, channel, CASE in_name WHEN 1 THEN 10 ELSE 1 END FROM channel_words`
  await sql`
    INSERT INTO older_words (word, channel, weight) SELECT 'zebra', id, 10 FROM channels WHERE is_public = 0`
  await sql`DROP TABLE channel_words`
  await sql`DROP TABLE search_places`
  await sql`ALTER TABLE older_words RENAME TO channel_words`
  await sql`CREATE INDEX channel_words_by_channel ON channel_words (channel)`
}
