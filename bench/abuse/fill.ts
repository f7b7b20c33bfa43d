// Writes to the store of a stopped relay what an attack needs and what would take too long to make through
// it: thousands of friends, paid ids, a hundred thousand channels, the message ids of a day.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Scene, Stranger } from './scene.ts'

/** How many rows of each kind one account of the attacker has in its friend list. */
export interface FriendRows {
  readonly friends: number
  readonly sent?: number
  readonly received?: number
  readonly rejected?: number
}

const UUID = `lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2),
  substr(hex(randomblob(2)), 2), hex(randomblob(6))))`
/** As long as a nickname may be. */
const NICKNAME = 'n'.repeat(64)
const DAY_MS = 86_400_000

/** Gives each account of the attacker friends and requests; all have the same friends. */
export function addFriends(scene: Scene, rows: FriendRows): void {
  const kinds = [
    { status: 'accepted', count: rows.friends, isSent: true },
    { status: 'pending', count: rows.sent ?? 0, isSent: true },
    { status: 'pending', count: rows.received ?? 0, isSent: false },
    { status: 'rejected', count: rows.rejected ?? 0, isSent: false },
  ]
  write(scene, (database) => {
    const peers = kinds.reduce((sum, { count }) => sum + count, 0)
    const first = addPeers(database, peers)
    for (const stranger of scene.strangers) {
      let from = first
      for (const kind of kinds) {
        befriendRange(database, stranger, { ...kind, from, to: from + kind.count })
        from += kind.count
      }
    }
    database.run(`INSERT INTO conversations (conv_id, low_id, high_id, is_open, last_seq, last_at)
      SELECT ${UUID}, low_id, high_id, 1, 0, 0 FROM friendships WHERE status = 'accepted' AND NOT EXISTS (
        SELECT 1 FROM conversations AS known
        WHERE known.low_id = friendships.low_id AND known.high_id = friendships.high_id)`)
    for (const [recipient, sender] of ['low_id, high_id', 'high_id, low_id'].map((ids) => ids.split(', ')))
      database.run(`INSERT OR IGNORE INTO lanes (conversation_id, recipient_id, sender_id, pending_count,
          pending_bytes, delivered_seq, read_seq, told_delivered_seq, told_read_seq)
        SELECT id, ${recipient}, ${sender}, 0, 0, 0, 0, 0, 0 FROM conversations`)
  })
}

/** Lets the first account block as many others as it may, and subscribe to so many channels. */
export function addBlocksAndSubscriptions(scene: Scene, blocks: number, subscriptions: number): void {
  const uuid = scene.strangers[0]?.uuid ?? ''
  write(scene, (database) => {
    const first = addPeers(database, blocks)
    database.run(
      `INSERT INTO blocks (blocker_id, blocked_id, created_at) SELECT own.id, peer.id, 1
       FROM accounts AS own, accounts AS peer WHERE own.uuid = ? AND peer.id >= ?`,
      [uuid, first],
    )
    database.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO channels (channel_id, owner_id, name, description, is_public, created_at, subscriber_count)
       SELECT printf('ch_%022d', i), ?2, ?3, ?4, 0, 1, 1 FROM n`,
      [subscriptions, first, NICKNAME, 'd'.repeat(500)],
    )
    database.run(
      `INSERT INTO channel_subscriptions (account_id, channel, created_at)
       SELECT accounts.id, channels.id, 1 FROM accounts, channels WHERE uuid = ?`,
      [uuid],
    )
  })
}

/** @returns the number of the first one */
function addPeers(database: Database, count: number): number {
  const { first } = database
    .query<{ first: number }, []>('SELECT MAX(id) + 1 AS first FROM accounts')
    .get() ?? { first: 1 }
  database.run(
    `WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${first + count - 1})
     INSERT INTO accounts (id, uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
     SELECT i, ${UUID}, printf('peer_%012d', i), '${NICKNAME}', hex(randomblob(22)), hex(randomblob(22)), 1 FROM n`,
  )
  database.run(
    `INSERT INTO aliases (alias_id, account_id) SELECT alias_id, id FROM accounts WHERE id >= ${first}`,
  )
  database.run(`INSERT INTO mailboxes (account_id, last_position, pending_count, pending_bytes)
    SELECT id, 0, 0, 0 FROM accounts WHERE id >= ${first}`)
  return first
}

function befriendRange(
  database: Database,
  { uuid }: Stranger,
  { from, to, status, isSent }: { from: number; to: number; status: string; isSent: boolean },
): void {
  const [requester, recipient] = isSent ? ['own.id', 'peer.id'] : ['peer.id', 'own.id']
  database.run(
    `INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
     SELECT own.id, peer.id, ${requester}, ${recipient}, ?, 1, ${Date.now()}
     FROM accounts AS own, accounts AS peer WHERE own.uuid = ? AND peer.id >= ? AND peer.id < ? ORDER BY peer.id`,
    [status, uuid, from, to],
  )
}

/** Adds paid orders of ids for the first account. @param orders their ids */
export function addPaidOrders(scene: Scene, orders: readonly string[]): void {
  write(scene, (database) => {
    for (const [index, order] of orders.entries())
      database.run(
        `INSERT INTO orders (order_id, kind, ref_id, title, holds, buyer_id, price, provider, deposit_index, pay_to,
           asset, amount, page_token, status, created_at, expires_at, confirmed_at)
         SELECT ?1, 'vanity', ?2, ?2, 'alias:' || ?2, id, 1, 'manual', 0, '', '', '', ?1, 'confirmed', 1, 2, 2
         FROM accounts WHERE uuid = ?3`,
        [order, `bound_${index}`, scene.strangers[0]?.uuid ?? ''],
      )
  })
}

/** Adds public channels of the first account with these words in every description. */
export function addChannels(scene: Scene, count: number, words: readonly string[]): void {
  write(scene, (database) => {
    database.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO channels (channel_id, owner_id, name, description, is_public, created_at, subscriber_count)
       SELECT printf('ch_%022d', i), accounts.id, 'One of many', ?2, 1, 1, 0 FROM n, accounts WHERE uuid = ?3`,
      [count, words.join(' '), scene.strangers[0]?.uuid ?? ''],
    )
    for (const word of [...words, 'one', 'of', 'many'])
      database.run(
        'INSERT INTO channel_words (in_name, level, word, channel) SELECT ?1, 0, ?2, id FROM channels ORDER BY id',
        [words.includes(word) ? 0 : 1, word],
      )
  })
}

/** Lets the first account have used so many new message ids today. */
export function useUpSentIds(scene: Scene, used: number): void {
  write(scene, (database) => {
    database.run(
      `INSERT INTO sent_id_counts (account_id, day, used) SELECT id, ?1, ?2 FROM accounts WHERE uuid = ?3`,
      [Math.floor(Date.now() / DAY_MS), used, scene.strangers[0]?.uuid ?? ''],
    )
  })
}

function write({ folder }: Scene, work: (database: Database) => void): void {
  const database = new Database(join(folder, 'sotto.db'))
  database.transaction(() => work(database))()
  database.close()
}
