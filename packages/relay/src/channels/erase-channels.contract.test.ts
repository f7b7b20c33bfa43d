// Deleting a channel with many posts and subscribers: it is gone at once, and what it left is erased in short
// transactions, whatever happens to the process meanwhile.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ChannelId } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { dyingAfter } from '../../test/dying-store.ts'
import { engines } from '../../test/engines.ts'
import { type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import { recordingLog } from '../../test/payment-watch.ts'
import { systemRandom } from '../operations/random.ts'
import { ROWS_PER_SLICE } from '../operations/slices.ts'
import type { Storage } from '../storage/storage.ts'
import { createChannel, deleteChannel, getChannel, listChannels } from './catalog.ts'
import { channelPurges } from './erase-channels.ts'
import { createPost } from './posts.ts'
import { searchChannels } from './search.ts'
import { subscribe } from './subscriptions.ts'

const MANY = 3 * ROWS_PER_SLICE + 10
/** The end of the posts and the begin of the subscriptions can be in one transaction. */
const MOST_ROWS = 2 * ROWS_PER_SLICE

for (const engine of engines) {
  describe(`a deleted channel on ${engine.name}`, () => {
    let world: MailboxWorld
    let storage: Storage
    let parts: Parameters<typeof createChannel>[3]
    let big: ChannelId
    let other: ChannelId

    beforeEach(async () => {
      world = await openMailboxWorld(engine, { channelSeats: 2, subscriptions: 1 })
      ;({ storage } = world.store)
      parts = { ...world, randomBytes: systemRandom }
      const { alice, bob } = world
      const create = (name: string): Promise<ChannelId> =>
        storage.transaction((sql) =>
          createChannel(sql, alice.id, { name, description: '', isPublic: true }, parts),
        )
      ;[big, other] = [await create('Wombat'), await create('Wombat too')]
      for (const id of [big, other]) await post(id)
      await storage.transaction((sql) => subscribe(sql, { id: big, caller: bob.id }, parts))
      await fill(storage, big)
    })
    afterEach(() => world.store.remove())

    const post = (id: ChannelId): Promise<unknown> =>
      storage.transaction((sql) =>
        createPost(sql, { id, caller: world.alice.id }, { type: 'text', content: 'x' }, parts),
      )
    const deleteBig = () =>
      storage.transaction((sql) => deleteChannel(sql, { id: big, caller: world.alice.id }, parts))
    const purgesOn = (over: Storage) => channelPurges({ storage: over, log: recordingLog().log })

    /** How many rows each channel has left. */
    async function rows(): Promise<{ posts: number; subscriptions: number; purges: number }> {
      const [row] = await storage.sql<{ posts: number; subscriptions: number; purges: number }>`
        SELECT (SELECT COUNT(*) FROM channel_posts) AS posts,
          (SELECT COUNT(*) FROM channel_subscriptions) AS subscriptions,
          (SELECT COUNT(*) FROM channel_purges) AS purges`
      if (!row) throw new Error('no counts')
      return row
    }

    const NOTHING_LEFT = { posts: 1, subscriptions: 0, purges: 0 } // The post of the other channel.

    async function expectGone(): Promise<void> {
      const { alice, bob } = world
      const left = [expect.objectContaining({ channel_id: other })]
      expect(await listChannels(storage.sql, alice.id)).toEqual(left)
      expect(await listChannels(storage.sql, bob.id)).toEqual([])
      expect(await searchChannels(storage.sql, 'wombat', bob.id)).toEqual(left)
      const notFound = { code: 'NOT_FOUND' }
      expect(await failureOf(getChannel(storage.sql, big, bob.id))).toMatchObject(notFound)
      expect(await failureOf(post(big))).toMatchObject(notFound)
      expect(await failureOf(deleteBig())).toMatchObject(notFound)
    }

    test('is gone for everybody, and its seat and subscriptions are free, before anything of it is erased', async () => {
      const before = await rows()
      await deleteBig()
      expect(await rows()).toEqual({ ...before, purges: 1 })
      await expectGone()
      const { alice, bob } = world
      const details = { name: 'Next', description: '', isPublic: true }
      await storage.transaction((sql) => createChannel(sql, alice.id, details, parts))
      await storage.transaction((sql) => subscribe(sql, { id: other, caller: bob.id }, parts))
    })

    test('is erased in transactions of a bounded number of rows', async () => {
      const channel = await deleteBig()
      let last = await rows()
      let most = 0
      let transactions = 0
      const watched: Storage = {
        ...storage,
        transaction: async (work) => {
          const result = await storage.transaction(work)
          const now = await rows()
          most = Math.max(most, last.posts + last.subscriptions - now.posts - now.subscriptions)
          last = now
          transactions += 1
          return result
        },
      }
      await purgesOn(watched).purge(channel)
      await purgesOn(watched).resume() // On a slow machine the purge takes longer than it is waited for.
      expect(last).toEqual(NOTHING_LEFT)
      expect(most).toBeLessThanOrEqual(MOST_ROWS)
      expect(transactions).toBeGreaterThan((2 * MANY) / MOST_ROWS)
    })

    test('is erased to the end if the process dies between any two transactions', async () => {
      await deleteBig()
      let deaths = 0
      for (; (await rows()).purges > 0; deaths++) {
        await purgesOn(dyingAfter(storage, 1)).resume()
        await expectGone()
      }
      expect(deaths).toBeGreaterThan(5)
      expect(await rows()).toEqual(NOTHING_LEFT)
    })

    test('is erased to the end if several purge it at the same time', async () => {
      await deleteBig()
      await Promise.all([1, 2, 3].map(() => purgesOn(storage).resume()))
      expect(await rows()).toEqual(NOTHING_LEFT)
    })
  })
}

/** Adds posts to a channel, and subscribers. */
async function fill(storage: Storage, channel: ChannelId): Promise<void> {
  await storage.transaction(async (sql) => {
    await sql`
      WITH RECURSIVE numbers (number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${MANY})
      INSERT INTO channel_posts (post_id, channel, author_id, type, content, created_at)
      SELECT 'p' || number, id, owner_id, 'text', 'x', 1 FROM numbers, channels WHERE channel_id = ${channel}`
    await sql`
      WITH RECURSIVE numbers (number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${MANY})
      INSERT INTO channel_subscriptions (account_id, channel, created_at)
      SELECT 1000000 + number, id, 1 FROM numbers, channels WHERE channel_id = ${channel}`
  })
}
