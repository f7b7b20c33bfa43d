// Erases the mailbox of a deleted account.
import { inSlices, moreAfter, ROWS_PER_SLICE, type Sliced } from '../operations/slices.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { MESSAGE_KINDS } from './batch-rows.ts'
import { lockConversations } from './conversations.ts'

/**
 * Closes a deleted account's conversations, and erases their group infos, its undelivered messages and its
 * notices. The messages and marks that it sent still arrive (protocol, Delivery 6).
 */
export async function eraseMailbox(account: AccountId, sliced: Sliced): Promise<void> {
  // Each order is one that an index has. No conversation is opened any more, so none is missed.
  await inSlices(sliced, 0, async (sql, after) => {
    const rows = await sql<{ id: number; high_id: number }>`
      SELECT id, high_id FROM conversations WHERE low_id = ${account} AND high_id > ${after}
      ORDER BY high_id LIMIT ${ROWS_PER_SLICE}`
    await close(sql, rows)
    return moreAfter(rows) && rows.at(-1)?.high_id
  })
  await inSlices(sliced, 0, async (sql, after) => {
    const rows = await sql<{ id: number }>`
      SELECT id FROM conversations WHERE high_id = ${account} AND id > ${after} ORDER BY id LIMIT ${ROWS_PER_SLICE}`
    await close(sql, rows)
    return moreAfter(rows) && rows.at(-1)?.id
  })
  // No message comes into a closed conversation, so from here on there are only fewer.
  await inSlices(sliced, 'more', (sql) => eraseOldest(sql, account))
  await inSlices(sliced, 'more', async (sql) =>
    moreAfter(
      await sql<{ id: number }>`
        DELETE FROM notices WHERE id IN (
          SELECT id FROM notices WHERE account_id = ${account} ORDER BY id LIMIT ${ROWS_PER_SLICE}) RETURNING id`,
    ),
  )
}

async function close(sql: Sql, conversations: readonly { id: number }[]): Promise<void> {
  for (const { id } of conversations.toSorted((a, b) => a.id - b.id)) {
    await sql`UPDATE conversations SET is_open = 0 WHERE id = ${id}`
    await sql`DELETE FROM group_infos WHERE conversation_id = ${id}`
  }
}

async function eraseOldest(sql: Sql, account: AccountId): Promise<'more' | undefined> {
  const oldest = await sql<{ conversation_id: number; position: number }>`
    SELECT conversation_id, position FROM messages WHERE recipient_id = ${account}
    ORDER BY position LIMIT ${ROWS_PER_SLICE}`
  await lockConversations(
    sql,
    oldest.map((row) => row.conversation_id),
  )
  const erased = await sql<{ conversation_id: number; kind: number; bytes: number }>`
    DELETE FROM messages WHERE recipient_id = ${account} AND position <= ${oldest.at(-1)?.position ?? 0}
    RETURNING conversation_id, kind, octet_length(payload) AS bytes`
  for (const conversation of new Set(erased.map((row) => row.conversation_id))) {
    const rows = erased.filter((row) => row.conversation_id === conversation)
    const messages = rows.filter(({ kind }) => kind === MESSAGE_KINDS.message)
    const bytes = messages.reduce((sum, message) => sum + message.bytes, 0)
    const retractions = rows.length - messages.length
    await sql`
      UPDATE lanes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes},
        retraction_count = retraction_count - ${retractions}
      WHERE conversation_id = ${conversation} AND recipient_id = ${account}`
    await sql`
      UPDATE mailboxes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes},
        retraction_count = retraction_count - ${retractions}
      WHERE account_id = ${account}`
  }
  return moreAfter(oldest)
}
