// What a sender takes back: messages of `crypto_v` 3 that were not delivered, handshakes among them. The
// contact may have only an older client now, and everything behind such a message waits for a newer one.
import { type ConversationId, type Limits, ProtocolError } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import { type ErasedRow, ringErased, settleErased } from './erased-messages.ts'
import { mailboxFull } from './room.ts'

/** How many messages one request takes back at most. */
const MOST_AT_ONCE = 500

interface Parts {
  readonly storage: Storage
  readonly bus: Pick<Bus, 'ring'>
  readonly clock: Pick<Clock, 'now'>
  readonly limits: Pick<Limits, 'mailboxMessages'>
}

/**
 * Erases undelivered messages of `crypto_v` 3 that an account sent in a conversation, the oldest first. Their
 * ids, except those of handshakes, can be used again. Their sender gets a stored `WITHDRAWN` for each.
 * @returns what was erased; empty if there was nothing
 * @throws ProtocolError `NOT_FOUND` if the account has no such conversation, or may not write in it;
 *   `MAILBOX_FULL` while too many stored answers wait for the account
 */
export async function withdrawMessages(
  { storage, bus, clock, limits }: Parts,
  sender: AccountId,
  convId: ConversationId,
): Promise<{ messages: { id: string; seq: number }[] }> {
  const { recipient, rows, erased } = await storage.transaction(async (sql) => {
    // Locks the conversation first, in the same order as every other transaction.
    const [row] = await sql<{ id: number; recipient: AccountId }>`
      UPDATE conversations SET is_open = is_open
      WHERE conv_id = ${convId} AND (low_id = ${sender} OR high_id = ${sender}) AND is_open = 1
      RETURNING id, CASE WHEN low_id = ${sender} THEN high_id ELSE low_id END AS recipient`
    if (!row) throw new ProtocolError('NOT_FOUND')
    const { id: conversation, recipient } = row
    const [last] = await sql<{ seq: number | null }>`
      SELECT MAX(seq) AS seq FROM (
        SELECT seq FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}
          AND crypto_v = 3 ORDER BY seq LIMIT ${MOST_AT_ONCE}) AS oldest`
    if (!last || last.seq === null) return { recipient, rows: [], erased: undefined }
    const [waiting] = await sql<{ count: number }>`
      SELECT COUNT(*) AS count FROM notices WHERE account_id = ${sender}`
    if ((waiting?.count ?? 0) >= limits.mailboxMessages) throw mailboxFull()
    await sql`
      DELETE FROM sent_ids WHERE sender_id = ${sender} AND message_id IN (
        SELECT message_id FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}
          AND crypto_v = 3 AND is_handshake IS NULL AND seq <= ${last.seq})`
    const rows = await sql<ErasedRow>`
      DELETE FROM messages WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}
        AND crypto_v = 3 AND seq <= ${last.seq}
      RETURNING kind, message_id, seq, octet_length(payload) AS bytes`
    const lane = { conversation, convId, recipient }
    const erased = await settleErased(sql, lane, rows, { error: 'WITHDRAWN', now: clock.now() })
    return { recipient, rows, erased }
  })
  if (erased) {
    ringErased(bus, erased)
    // What waited behind them can go now.
    bus.ring(recipient, { kind: 'released', conversation: convId })
  }
  const sorted = rows.toSorted((a, b) => a.seq - b.seq)
  return { messages: sorted.map(({ message_id: id, seq }) => ({ id, seq })) }
}
