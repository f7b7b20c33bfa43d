// Fills a relay's store with accounts, friends and stored messages, as after years of use. It writes to the
// relay's tables directly while the relay is stopped, because sending all messages would take an hour. The
// accounts of the load are spread evenly among the others, so that their rows are not next to each other.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { WireAccount } from '@sotto/relay/testing/wire'

/** The contents to fill a store with. */
export interface Filling {
  /** Accounts in all, each with one friend. An even number. */
  readonly accounts: number
  /** Messages in all, the same number in each conversation, all in one direction. */
  readonly messages: number
  readonly payloadBytes: number
  /** The sending times are spread evenly between these two, in milliseconds. */
  readonly sentBetween: readonly [number, number]
  /**
   * Pairs of the load: friends without stored messages. They keep their keys; `fillStore` sets their uuid and
   * alias.
   */
  readonly pairs: readonly (readonly [WireAccount, WireAccount])[]
}

/** @returns the `conv_id` of each of the pairs */
export function fillStore(folder: string, filling: Filling): string[] {
  const database = new Database(join(folder, 'sotto.db'))
  // Without a journal and syncs this is faster. If filling fails, the store has to be filled again from the
  // start.
  for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -1000000'])
    database.run(`PRAGMA ${pragma}`)
  database.run('BEGIN')
  writeAccounts(database, filling)
  const convs = placePairs(database, filling)
  writeMessages(database, filling)
  database.run('COMMIT')
  database.run('PRAGMA journal_mode = WAL')
  database.close()
  return convs
}

const UUID = `lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2),
  substr(hex(randomblob(2)), 2), hex(randomblob(6))))`

// Accounts 1 and 2 are friends, then 3 and 4, and so on. The id of a pair's conversation is half the id of
// its second account.
function writeAccounts(database: Database, { accounts, sentBetween: [since] }: Filling): void {
  const count = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)`
  database.run(
    `${count} INSERT INTO accounts (id, uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
     SELECT i, ${UUID}, printf('u1%09d', i), 'filled', hex(randomblob(22)), hex(randomblob(22)), ${since} FROM n`,
    [accounts],
  )
  database.run('INSERT INTO aliases (alias_id, account_id) SELECT alias_id, id FROM accounts ORDER BY id')
  database.run(`INSERT INTO mailboxes (account_id, last_position, pending_count, pending_bytes)
    SELECT id, 0, 0, 0 FROM accounts ORDER BY id`)
  database.run(
    `${count} INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
     SELECT i * 2 - 1, i * 2, i * 2 - 1, i * 2, 'accepted', ${since}, ${since} FROM n`,
    [accounts / 2],
  )
  database.run(
    `${count} INSERT INTO conversations (id, conv_id, low_id, high_id, is_open, last_seq, last_at)
     SELECT i, ${UUID}, i * 2 - 1, i * 2, 1, 0, 0 FROM n`,
    [accounts / 2],
  )
  database.run(`INSERT INTO lanes (conversation_id, recipient_id, sender_id, pending_count, pending_bytes, delivered_seq,
      read_seq, told_delivered_seq, told_read_seq)
    SELECT id, low_id, high_id, 0, 0, 0, 0, 0, 0 FROM conversations UNION ALL
    SELECT id, high_id, low_id, 0, 0, 0, 0, 0, 0 FROM conversations ORDER BY 1, 2`)
}

function placePairs(database: Database, { accounts, pairs }: Filling): string[] {
  const step = Math.floor(accounts / 2 / (pairs.length + 1))
  const place = database.prepare<{ uuid: string; alias_id: string }, [string, string, number]>(
    `UPDATE accounts SET ed25519_public_key = ?, x25519_public_key = ?, nickname = 'load' WHERE id = ?
     RETURNING uuid, alias_id`,
  )
  const conversation = database.prepare<{ conv_id: string }, [number]>(
    'SELECT conv_id FROM conversations WHERE id = ?',
  )
  const convs = pairs.map((pair, index) => {
    const id = (index + 1) * step
    for (const [side, account] of pair.entries()) {
      const row = place.get(account.ed25519, account.x25519, id * 2 - 1 + side)
      account.uuid = row?.uuid ?? ''
      account.alias = row?.alias_id ?? ''
    }
    return conversation.get(id)?.conv_id ?? ''
  })
  place.finalize()
  conversation.finalize()
  return convs
}

function writeMessages(database: Database, filling: Filling): void {
  const { messages, accounts, payloadBytes, sentBetween } = filling
  const each = Math.floor(messages / (accounts / 2 - filling.pairs.length))
  if (each === 0) return
  const payload = Buffer.alloc(Math.floor((payloadBytes * 3) / 4), 7).toString('base64')
  const [from, to] = sentBetween
  const seqs = `WITH RECURSIVE s (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < ${each})`
  const others = `conversations JOIN accounts AS low ON low.id = low_id AND low.nickname = 'filled'`
  // All messages of a conversation have the same time. The times rise with the conversation's id, so that
  // conversations expire one after the other.
  const at = `${from} + conversations.id * ${to - from} / ${accounts / 2}`
  database.run(
    `${seqs} INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at)
     SELECT conversations.id, high_id, seq, seq, 0, ${UUID}, 1, ?, ${at} FROM ${others} CROSS JOIN s ORDER BY 1, 2, 3`,
    [payload],
  )
  database.run(
    `INSERT INTO sent_ids (sender_id, message_id, conversation_id, seq, at, is_retracted)
     SELECT low_id, message_id, conversation_id, seq, at, 0 FROM messages JOIN conversations
     ON conversations.id = conversation_id ORDER BY 1, 2`,
  )
  const bytes = each * payload.length
  database.run(`UPDATE conversations SET last_seq = ${each}, last_at = ${to} WHERE low_id IN
    (SELECT id FROM accounts WHERE nickname = 'filled')`)
  const inFilled = `IN (SELECT high_id FROM conversations WHERE last_seq > 0)`
  database.run(
    `UPDATE lanes SET pending_count = ${each}, pending_bytes = ${bytes} WHERE recipient_id ${inFilled}`,
  )
  database.run(
    `UPDATE mailboxes SET last_position = ${each}, pending_count = ${each}, pending_bytes = ${bytes}
     WHERE account_id ${inFilled}`,
  )
}
