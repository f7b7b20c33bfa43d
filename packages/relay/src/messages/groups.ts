// What the relay keeps of the groups that conversations are for their clients: how many handshakes each had,
// the group info that the author of the last one uploaded, and which message each account sent last. It is
// sealed; the relay reads none of it.
import { type ConversationId, ProtocolError } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'

/**
 * The epoch of an account's open conversation; its group info, if it had a handshake; and the `seq` of the
 * last message of `crypto_v` 3 that the account sent in it, if it sent one.
 * @throws ProtocolError `NOT_FOUND` if the account has no such conversation, or may not write in it
 */
export async function findGroup(
  sql: Sql,
  account: AccountId,
  convId: ConversationId,
): Promise<{ epoch: number; group_info?: string; sent_seq?: number }> {
  const [row] = await sql<{ group_epoch: number; group_info: string | null; version_3_seq: number }>`
    SELECT group_epoch, group_info, version_3_seq FROM conversations
    JOIN lanes ON lanes.conversation_id = conversations.id AND lanes.sender_id = ${account}
      AND lanes.recipient_id = CASE WHEN low_id = ${account} THEN high_id ELSE low_id END
    LEFT JOIN group_infos ON group_infos.conversation_id = conversations.id
    WHERE conv_id = ${convId} AND (low_id = ${account} OR high_id = ${account}) AND is_open = 1`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return {
    epoch: row.group_epoch,
    ...(row.group_info !== null && { group_info: row.group_info }),
    ...(row.version_3_seq > 0 && { sent_seq: row.version_3_seq }),
  }
}
