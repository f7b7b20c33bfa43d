// What the relay keeps of the groups that conversations are for their clients: how many handshakes each had,
// and the group info that the author of the last one uploaded. It is sealed; the relay reads none of it.
import { type ConversationId, ProtocolError } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'

/**
 * The epoch of an account's open conversation, and its group info, if it had a handshake.
 * @throws ProtocolError `NOT_FOUND` if the account has no such conversation, or may not write in it
 */
export async function findGroup(
  sql: Sql,
  account: AccountId,
  convId: ConversationId,
): Promise<{ epoch: number; group_info?: string }> {
  const [row] = await sql<{ group_epoch: number; group_info: string | null }>`
    SELECT group_epoch, group_info FROM conversations
    LEFT JOIN group_infos ON group_infos.conversation_id = conversations.id
    WHERE conv_id = ${convId} AND (low_id = ${account} OR high_id = ${account}) AND is_open = 1`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return { epoch: row.group_epoch, ...(row.group_info !== null && { group_info: row.group_info }) }
}
