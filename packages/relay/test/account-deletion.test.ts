// Deleting an account that left much behind: it is gone at once, and the rest is erased in short
// transactions, whatever happens to the process meanwhile.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { AliasId, check, defaultLimits } from '@sotto/protocol'
import { AccountDeletion } from '../src/accounts/deletion.ts'
import { listChannels } from '../src/channels/catalog.ts'
import { endChannels, eraseChannels } from '../src/channels/channels.ts'
import { searchChannels } from '../src/channels/search.ts'
import { eraseFriendships, tellFriends } from '../src/friends/friends.ts'
import { listBlocks, listFriends } from '../src/friends/lists.ts'
import { eraseMedia } from '../src/media/media.ts'
import { listActiveConversations } from '../src/messages/conversations.ts'
import { eraseMailbox } from '../src/messages/messages.ts'
import { ROWS_PER_SLICE } from '../src/operations/slices.ts'
import { eraseOrders } from '../src/payments/payments.ts'
import { erasePush } from '../src/push/push.ts'
import type { AccountId, Storage } from '../src/storage/storage.ts'
import { dyingAfter } from './dying-store.ts'
import { engines } from './engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from './mailbox-world.ts'
import { eventually, recordingLog } from './payment-watch.ts'

setDefaultTimeout(240_000)

/** Statements for one row, at most. */
const MOST_STATEMENTS_A_ROW = 6

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const isSqlite = engine.name === 'SQLite'
    // More than two slices of each, or than one where each statement is a round trip.
    const many = (isSqlite ? 2 : 1) * ROWS_PER_SLICE + 10
    let world: MailboxWorld
    let storage: Storage
    let gone: AccountId
    let peers: AccountId[]

    beforeEach(async () => {
      world = await openMailboxWorld(engine)
      storage = world.store.storage
      ;({ gone, peers } = await fill(storage, many))
    })
    afterEach(() => world.store.remove())

    const deletionOn = (over: Storage, log = recordingLog().log): AccountDeletion =>
      new AccountDeletion({
        ...world,
        log,
        storage: over,
        endings: [eraseOrders, endChannels, erasePush],
        erasers: [eraseMailbox, eraseFriendships, eraseChannels, eraseMedia],
      })

    test('its friends are told a new alias in turns; no transaction that deletes it is long, and nothing is left', async () => {
      const most = { inOneTransaction: 0, inOneTurn: 0 }
      const told: AccountId[] = []
      // On PostgreSQL the queries wait for the network, and a watch of every turn would keep them waiting.
      const watched = isSqlite ? watchTurns : unwatched
      await watched(most, async (tellOne) => {
        const ring = (account: AccountId): void => {
          told.push(account)
          tellOne()
        }
        await tellFriends(gone, check(AliasId, 'river'), { storage, bus: { ...world.bus, ring } })
      })
      expect(told.toSorted((a, b) => a - b)).toEqual(peers)
      expect(most.inOneTurn).toBeLessThan(many)

      most.inOneTurn = 0
      await watched(most, async (onStatement) => {
        const deletion = deletionOn(counting(storage, most, onStatement))
        await deletion.delete(gone)
        await deletion.resume() // On a slow machine the purge takes longer than a request waits for it.
      })
      const bound = ROWS_PER_SLICE * MOST_STATEMENTS_A_ROW
      expect(most.inOneTransaction).toBeLessThanOrEqual(bound)
      expect(most.inOneTurn).toBeLessThanOrEqual(bound)
      await expectNothingLeft()
    })

    test('it goes on after the process died between any two transactions', async () => {
      const { log, events } = recordingLog()
      await deletionOn(dyingAfter(storage, 1), log).delete(gone)
      expect(events).toEqual([['error', 'purge_failed']])
      // It is gone for everybody, although most of it is still stored.
      const [peer = gone] = peers
      expect(await listFriends(storage.sql, peer, defaultLimits())).toEqual([])
      expect(await listBlocks(storage.sql, peer)).toEqual([])
      expect(await listActiveConversations(storage.sql, peer)).toEqual([])
      expect((await listChannels(storage.sql, peer)).map(({ owner_id }) => owner_id)).toEqual([peer])
      const found = await searchChannels(storage.sql, 'wombat', peer)
      expect(found).toEqual([])
      let transactions = 0
      for (; (await waitingPurges()) > 0; transactions += isSqlite ? 1 : 10)
        await deletionOn(dyingAfter(storage, transactions)).resume()
      expect(transactions).toBeGreaterThan(10)
      await expectNothingLeft()
    })

    // What stops is the same code on both engines.
    if (isSqlite)
      test('it ends at a stop, and the next process goes on at its start', async () => {
        const deletion = deletionOn(storage)
        const deleted = deletion.delete(gone)
        await deletion.stop()
        await deleted
        const next = deletionOn(storage)
        next.start()
        await eventually(expectNothingLeft)
        await next.stop()
      })

    async function waitingPurges(): Promise<number> {
      return (await storage.sql`SELECT account_id FROM account_purges`).length
    }

    async function expectNothingLeft(): Promise<void> {
      expect(await waitingPurges()).toBe(0)
      const left = await storage.sql<{ name: string }>`
        SELECT 'friendship' AS name FROM friendships WHERE requester_id = ${gone} OR recipient_id = ${gone}
        UNION ALL SELECT 'block' FROM blocks WHERE blocker_id = ${gone} OR blocked_id = ${gone}
        UNION ALL SELECT 'open conversation' FROM conversations
          WHERE (low_id = ${gone} OR high_id = ${gone}) AND is_open = 1
        UNION ALL SELECT 'message' FROM messages WHERE recipient_id = ${gone}
        UNION ALL SELECT 'notice' FROM notices WHERE account_id = ${gone}
        UNION ALL SELECT 'blob' FROM media_blobs WHERE account_id = ${gone}
        UNION ALL SELECT 'channel' FROM channels WHERE owner_id = ${gone}
        UNION ALL SELECT 'purge' FROM channel_purges
        UNION ALL SELECT 'word' FROM channel_words
        UNION ALL SELECT 'post' FROM channel_posts WHERE author_id = ${gone}
        UNION ALL SELECT 'subscription' FROM channel_subscriptions
          WHERE account_id = ${gone} OR channel NOT IN (SELECT id FROM channels)`
      expect(left).toEqual([])
      expect(await countsOf(storage)).toEqual([])
      // What belongs to others is still there, and counted right.
      const channels = await storage.sql<{ subscriber_count: number }>`SELECT subscriber_count FROM channels`
      expect(channels.map((row) => row.subscriber_count)).toEqual(Array(many).fill(0))
      const sent = await storage.sql<{ recipient_id: AccountId }>`
        SELECT recipient_id FROM messages ORDER BY recipient_id`
      expect(sent.map((row) => row.recipient_id)).toEqual(peers)
      expect((await storage.sql`SELECT object FROM media_doomed`).length).toBe(many)
      const [row] = await storage.sql<{ nickname: string; ed25519_public_key: string | null }>`
        SELECT nickname, ed25519_public_key FROM accounts WHERE id = ${gone} AND deleted_at IS NOT NULL`
      expect(row).toEqual({ nickname: '', ed25519_public_key: null })
    }
  })
}

/** Adds an account with so many of everything. Its friends are older and younger accounts. */
async function fill(storage: Storage, many: number): Promise<{ gone: AccountId; peers: AccountId[] }> {
  return await storage.transaction(async (sql) => {
    const addMany = (name: string, count: number): Promise<{ id: AccountId }[]> => sql<{ id: AccountId }>`
      WITH RECURSIVE numbers (number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${count})
      INSERT INTO accounts (uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
      SELECT ${name} || number, ${name} || number, ${name}, ${name} || number, ${name}, 1 FROM numbers RETURNING id`
    const older = await addMany('older', many / 2)
    const [added] = await addMany('gone', 1)
    const younger = await addMany('younger', many / 2)
    if (!added) throw new Error('no account was added')
    const gone = added.id
    const peers = [...older, ...younger].map(({ id }) => id).toSorted((a, b) => a - b)
    const first = peers[0] ?? gone // The accounts of the world come before it, and are not concerned.
    await sql`
      INSERT INTO mailboxes (account_id, last_position, pending_count, pending_bytes)
      SELECT id, 1, CASE WHEN id = ${gone} THEN ${many} ELSE 1 END, CASE WHEN id = ${gone} THEN ${4 * many} ELSE 4 END
      FROM accounts WHERE id >= ${first}`
    await sql`
      INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
      SELECT CASE WHEN id < ${gone} THEN id ELSE ${gone} END, CASE WHEN id < ${gone} THEN ${gone} ELSE id END,
        CASE WHEN id % 2 = 0 THEN id ELSE ${gone} END, CASE WHEN id % 2 = 0 THEN ${gone} ELSE id END, 'accepted', 1, 1
      FROM accounts WHERE id >= ${first} AND id <> ${gone}`
    await sql`
      INSERT INTO blocks (blocker_id, blocked_id, created_at)
      SELECT id, ${gone}, 1 FROM accounts WHERE id >= ${first} AND id <> ${gone}
      UNION ALL SELECT ${gone}, id, 1 FROM accounts WHERE id >= ${first} AND id <> ${gone}`
    await sql`
      INSERT INTO conversations (conv_id, low_id, high_id, is_open, last_seq, last_at)
      SELECT 'conv' || id, low_id, high_id, 1, 2, 1 FROM friendships`
    // One message in each direction.
    await sql`
      INSERT INTO lanes (conversation_id, recipient_id, sender_id, pending_count, pending_bytes,
        delivered_seq, read_seq, told_delivered_seq, told_read_seq)
      SELECT id, low_id, high_id, 1, 4, 0, 0, 0, 0 FROM conversations WHERE conv_id LIKE 'conv%'
      UNION ALL SELECT id, high_id, low_id, 1, 4, 0, 0, 0, 0 FROM conversations WHERE conv_id LIKE 'conv%'`
    await sql`
      INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at)
      SELECT conversation_id, recipient_id, 1, conversation_id, 0, 'm' || sender_id, 1, 'AAAA', 1 FROM lanes
      WHERE pending_count = 1`
    await sql`
      INSERT INTO notices (account_id, frame, created_at)
      SELECT ${gone}, '{}', 1 FROM accounts WHERE id >= ${first} AND id <> ${gone}`
    await sql`
      INSERT INTO media_blobs (media_key, account_id, state, object, handle, bytes, parts, expires_at)
      SELECT 'key' || id, ${gone}, 'stored', 'object' || id, '', 1, 1, 9 FROM accounts
      WHERE id >= ${first} AND id <> ${gone}`
    await sql`
      INSERT INTO channels (channel_id, owner_id, name, description, is_public, created_at, subscriber_count)
      SELECT 'ch_' || id, id, 'n', '', 1, 1, 1 FROM accounts WHERE id >= ${first}`
    await sql`
      INSERT INTO channel_words (in_name, level, word, channel)
      SELECT 1, 0, 'wombat', id FROM channels WHERE owner_id = ${gone}`
    await sql`
      INSERT INTO channel_subscriptions (account_id, channel, created_at)
      SELECT ${gone}, id, 1 FROM channels WHERE owner_id <> ${gone}`
    await sql`
      INSERT INTO channel_subscriptions (account_id, channel, created_at)
      SELECT accounts.id, channels.id, 1 FROM channels, accounts
      WHERE owner_id = ${gone} AND accounts.id >= ${first} AND accounts.id <> ${gone}`
    await sql`
      INSERT INTO channel_posts (post_id, channel, author_id, type, content, created_at)
      SELECT 'p' || account_id, channel, ${gone}, 'text', 'x', 1 FROM channel_subscriptions WHERE account_id <> ${gone}`
    return { gone, peers }
  })
}

/** The same store; each statement of a transaction is counted. */
function counting(storage: Storage, most: { inOneTransaction: number }, onStatement: () => void): Storage {
  return {
    ...storage,
    transaction: (work) =>
      storage.transaction((sql) => {
        let statements = 0
        return work((strings, ...values) => {
          statements += 1
          most.inOneTransaction = Math.max(most.inOneTransaction, statements)
          onStatement()
          return sql(strings, ...values)
        })
      }),
  }
}

/** Counts how often `onEach` is called in one turn of the event loop, at most. */
async function watchTurns(
  most: { inOneTurn: number },
  work: (onEach: () => void) => Promise<void>,
): Promise<void> {
  let inThisTurn = 0
  let isOver = false
  const turn = (): void => {
    inThisTurn = 0
    if (!isOver) setImmediate(turn)
  }
  turn()
  await work(() => {
    inThisTurn += 1
    most.inOneTurn = Math.max(most.inOneTurn, inThisTurn)
  })
  isOver = true
}

function unwatched(_most: object, work: (onEach: () => void) => Promise<void>): Promise<void> {
  return work(() => undefined)
}
