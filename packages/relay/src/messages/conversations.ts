// Conversations. Each pair has one, permanently: it opens when the two become friends and closes when they
// part.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'

/**
 * Opens the conversation of a pair: the existing one, or a new one with the given id if the pair never had
 * one.
 * @param acceptedAt when the friendship was accepted; undefined if it was before and nothing changes
 * @returns its `conv_id`
 */
export async function openConversation(
  sql: Sql,
  a: AccountId,
  b: AccountId,
  freshId: string,
  acceptedAt?: number,
): Promise<ConversationId> {
  const [low, high] = a < b ? [a, b] : [b, a]
  const [row] = await sql<{ id: number; conv_id: ConversationId }>`
    INSERT INTO conversations (conv_id, low_id, high_id, is_open, last_seq, last_at)
    VALUES (${freshId}, ${low}, ${high}, 1, 0, 0)
    ON CONFLICT (low_id, high_id) DO UPDATE SET is_open = 1
    RETURNING id, conv_id`
  if (!row) throw new Error('a conversation was neither found nor created')
  for (const [recipient, sender] of [
    [low, high],
    [high, low],
  ]) {
    await sql`
      INSERT INTO lanes (conversation_id, recipient_id, sender_id, pending_count, pending_bytes, delivered_seq,
        read_seq, told_delivered_seq, told_read_seq)
      VALUES (${row.id}, ${recipient ?? 0}, ${sender ?? 0}, 0, 0, 0, 0, 0, 0)
      ON CONFLICT DO NOTHING`
  }
  if (acceptedAt !== undefined)
    await sql`UPDATE lanes SET unlisted_since = ${acceptedAt} WHERE conversation_id = ${row.id}`
  return row.conv_id
}

/** The conversations in which messages of an account wait, and for whom. */
export async function listWaitingOf(
  sql: Sql,
  sender: AccountId,
): Promise<readonly { readonly recipient: AccountId; readonly conversation: ConversationId }[]> {
  return await sql<{ recipient: AccountId; conversation: ConversationId }>`
    SELECT lanes.recipient_id AS recipient, conv_id AS conversation FROM conversations
    JOIN lanes ON lanes.conversation_id = conversations.id AND lanes.sender_id = ${sender}
      AND lanes.recipient_id = CASE WHEN low_id = ${sender} THEN high_id ELSE low_id END
    WHERE (low_id = ${sender} OR high_id = ${sender}) AND pending_count > 0`
}

/** Closes the conversation of a pair and erases its undelivered messages and receipts. */
export async function closeConversation(sql: Sql, a: AccountId, b: AccountId): Promise<void> {
  const [low, high] = a < b ? [a, b] : [b, a]
  const [row] = await sql<{ id: number }>`
    UPDATE conversations SET is_open = 0 WHERE low_id = ${low} AND high_id = ${high} RETURNING id`
  if (!row) return
  for (const account of [low, high]) await emptyLane(sql, row.id, account)
  await sql`
    UPDATE lanes SET told_delivered_seq = delivered_seq, told_read_seq = read_seq WHERE conversation_id = ${row.id}`
}

/**
 * Locks conversations in the order of their `id`. All transactions use this order, so that none waits in a
 * circle.
 */
export async function lockConversations(sql: Sql, ids: readonly number[]): Promise<void> {
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    await sql`UPDATE conversations SET is_open = is_open WHERE id = ${id}`
  }
}

async function emptyLane(sql: Sql, conversation: number, recipient: AccountId): Promise<void> {
  const [lane] = await sql<{ pending_count: number; pending_bytes: number; retraction_count: number }>`
    SELECT pending_count, pending_bytes, retraction_count FROM lanes
    WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}`
  if (!lane) return
  await sql`
    UPDATE mailboxes SET pending_count = pending_count - ${lane.pending_count},
      pending_bytes = pending_bytes - ${lane.pending_bytes},
      retraction_count = retraction_count - ${lane.retraction_count}
    WHERE account_id = ${recipient}`
  await sql`DELETE FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}`
  await sql`
    UPDATE lanes SET pending_count = 0, pending_bytes = 0, retraction_count = 0
    WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}`
}

/** More messages than any conversation gets between a backup and its restoration. */
const RESTORE_DISTANCE = 1_000_000

/**
 * Moves every conversation's counter ahead. Used after a backup was restored, because clients may have seen
 * numbers that the backup does not contain (protocol, Delivery 9).
 */
export async function moveSequencesAhead(storage: Storage): Promise<void> {
  await storage.transaction((sql) => sql`UPDATE conversations SET last_seq = last_seq + ${RESTORE_DISTANCE}`)
}

/** An account's open conversations, in which it can send messages. */
export async function listActiveConversations(sql: Sql, account: AccountId): Promise<ActiveConversation[]> {
  return await sql<ActiveConversation>`
    SELECT conv_id, alias_id, last_seq FROM conversations
    JOIN accounts ON accounts.id = CASE WHEN low_id = ${account} THEN high_id ELSE low_id END
      AND accounts.deleted_at IS NULL
    WHERE (low_id = ${account} OR high_id = ${account}) AND is_open = 1
    ORDER BY last_at DESC, conv_id`
}

interface ActiveConversation {
  conv_id: ConversationId
  alias_id: AliasId
  last_seq: number
}

/**
 * The peer that an account may write to in this conversation under this alias, and the account's own alias.
 * @returns undefined if the account may not
 */
export async function findPeer(
  sql: Sql,
  account: AccountId,
  addressed: { conv_id: ConversationId; to: AliasId },
): Promise<{ peer: AccountId; from: AliasId } | undefined> {
  const [row] = await sql<{ peer: AccountId; alias_from: AliasId }>`
    SELECT aliases.account_id AS peer, accounts.alias_id AS alias_from FROM conversations
    JOIN aliases ON aliases.alias_id = ${addressed.to}
    JOIN accounts ON accounts.id = ${account}
    WHERE conv_id = ${addressed.conv_id} AND is_open = 1
      AND ((low_id = ${account} AND high_id = aliases.account_id)
        OR (high_id = ${account} AND low_id = aliases.account_id))`
  return row && { peer: row.peer, from: row.alias_from }
}
