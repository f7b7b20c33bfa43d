// The bytes of an account's posts on every engine: what counts, what is refused, and what makes room again.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type ChannelId, ProtocolError } from '@sotto/protocol'
import { engines } from '../../test/engines.ts'
import { type MailboxWorld, openMailboxWorld, type Person } from '../../test/mailbox-world.ts'
import { systemRandom } from '../operations/random.ts'
import { applySteps } from '../storage/migrate.ts'
import { postBytes } from '../storage/migrations/post-bytes.ts'
import { createChannel, deleteChannel } from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'
import { createPost, deletePost, listPosts } from './posts.ts'

for (const engine of engines) {
  describe(`the bytes of posts on ${engine.name}`, () => {
    let world: MailboxWorld
    let parts: Pick<MailboxWorld, 'clock' | 'limits'> & { randomBytes: typeof systemRandom }
    beforeEach(async () => {
      world = await openMailboxWorld(engine, { channelBytes: 100, channelPosts: 10 })
      parts = { clock: world.clock, limits: world.limits, randomBytes: systemRandom }
    })
    afterEach(() => world.store.remove())

    const newChannel = (owner: Person): Promise<ChannelId> =>
      world.store.storage.transaction((sql) =>
        createChannel(sql, owner.id, { name: 'n', description: '', isPublic: true }, parts),
      )
    const post = async (owner: Person, id: ChannelId, content: string): Promise<string> => {
      const target = { id, caller: owner.id }
      try {
        const made = await world.store.storage.transaction((sql) =>
          createPost(sql, target, { type: 'text', content }, parts),
        )
        return made.post.id
      } catch (error) {
        if (error instanceof ProtocolError) return error.code
        throw error
      }
    }
    const remove = async (owner: Person, id: ChannelId, of: string): Promise<void> => {
      const { storage } = world.store
      const [row] = await storage.sql<{ post_id: Parameters<typeof deletePost>[1]['post'] }>`
        SELECT post_id FROM channel_posts WHERE post_id = ${of}`
      if (!row) throw new Error('no such post')
      await storage.transaction((sql) => deletePost(sql, { id, post: row.post_id, caller: owner.id }))
    }
    /** Channels whose count of bytes differs from their posts. There must be none. */
    const wrongCounts = (): Promise<object[]> =>
      world.store.storage.sql`
        SELECT id FROM channels WHERE post_bytes <> (
          SELECT COALESCE(SUM(octet_length(content)), 0) FROM channel_posts WHERE channel = channels.id)`

    test('count over all channels of their owner; beyond the bound a post is refused and not stored', async () => {
      const { alice, bob } = world
      const [news, more, others] = [await newChannel(alice), await newChannel(alice), await newChannel(bob)]
      expect(await post(alice, news, 'x'.repeat(60))).toStartWith('p_')
      // 20 characters, 40 bytes.
      expect(await post(alice, more, 'é'.repeat(20))).toStartWith('p_')
      for (const channel of [news, more]) expect(await post(alice, channel, 'x')).toBe('STORAGE_FULL')
      expect(await post(bob, others, 'x'.repeat(100))).toStartWith('p_')
      const [row] = await world.store.storage.sql<{ id: ChannelNumber }>`
        SELECT id FROM channels WHERE channel_id = ${news}`
      if (!row) throw new Error('no channel')
      expect(await listPosts(world.store.storage.sql, row.id, { before: undefined, limit: 10 })).toHaveLength(
        1,
      )
      expect(await wrongCounts()).toEqual([])
    })

    test('are free again once a post or a channel is deleted', async () => {
      const { alice } = world
      const [news, more] = [await newChannel(alice), await newChannel(alice)]
      const first = await post(alice, news, 'x'.repeat(50))
      await post(alice, more, 'x'.repeat(50))
      expect(await post(alice, more, 'x')).toBe('STORAGE_FULL')
      await remove(alice, news, first)
      expect(await post(alice, news, 'x'.repeat(50))).toStartWith('p_')
      expect(await post(alice, news, 'x')).toBe('STORAGE_FULL')
      await world.store.storage.transaction((sql) =>
        deleteChannel(sql, { id: more, caller: alice.id }, parts),
      )
      expect(await post(alice, news, 'x'.repeat(50))).toStartWith('p_')
      expect(await wrongCounts()).toEqual([])
    })

    test('of the posts that a new one replaces do not count', async () => {
      const { alice } = world
      const news = await newChannel(alice)
      for (let n = 0; n < 25; n++) expect(await post(alice, news, 'x'.repeat(10))).toStartWith('p_')
      expect(await post(alice, news, 'x'.repeat(11))).toBe('STORAGE_FULL')
      expect(await wrongCounts()).toEqual([])
    })

    test('count once when several posts are made at the same time', async () => {
      const { alice } = world
      const channels = [await newChannel(alice), await newChannel(alice), await newChannel(alice)]
      const results = await Promise.all(channels.map((channel) => post(alice, channel, 'x'.repeat(40))))
      expect(results.filter((result) => result === 'STORAGE_FULL')).toHaveLength(1)
      expect(await wrongCounts()).toEqual([])
    })

    test('that a store held before they were counted are counted by the migration', async () => {
      const { alice } = world
      const [news] = [await newChannel(alice), await newChannel(alice)]
      await post(alice, news, 'é'.repeat(30))
      await post(alice, news, 'x')
      await world.store.storage.transaction(async (sql) => {
        await sql`UPDATE channels SET post_bytes = 0`
        const steps = postBytes(world.store.storage.engine.dialect)
        const updates = steps.filter((step) => typeof step === 'string' && step.startsWith('UPDATE'))
        await applySteps(sql, updates)
      })
      expect(await wrongCounts()).toEqual([])
    })
  })
}
