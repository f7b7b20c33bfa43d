// What follows from messages of a lane that are erased before they were delivered: smaller counts, marks that
// may cover everything now, and a stored answer for their sender.
import { type ConversationId, encodeFrame, errorMeanings } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { MESSAGE_KINDS } from './batch-rows.ts'
import { addNotice, type Notice } from './notices.ts'
import { coverMore } from './stored-frames.ts'
import { withoutSeqs } from './unread-seqs.ts'

/** A row of `messages` that was deleted. */
export interface ErasedRow {
  readonly kind: number
  readonly message_id: string
  readonly seq: number
  readonly bytes: number
}

/** Who has to be told of what was erased, once that is committed. */
export interface Erased {
  readonly conversation: number
  readonly sender: AccountId
  readonly notices: readonly Notice[]
  readonly hasNewlyCovering: boolean
  readonly toldRound: number
}

/**
 * Takes deleted rows of a lane out of the counts and the unread messages, and stores an `error` with this
 * code for the sender of each message. To be called in the transaction that deleted them, which has locked
 * the conversation.
 */
export async function settleErased(
  sql: Sql,
  lane: { readonly conversation: number; readonly convId: ConversationId; readonly recipient: AccountId },
  rows: readonly ErasedRow[],
  { error, now }: { readonly error: 'EXPIRED' | 'WITHDRAWN'; readonly now: number },
): Promise<Erased> {
  const { conversation, convId, recipient } = lane
  const messages = rows.filter(({ kind }) => kind === MESSAGE_KINDS.message)
  const bytes = messages.reduce((sum, message) => sum + message.bytes, 0)
  const retractions = rows.length - messages.length
  const [direction] = await sql<{
    sender_id: AccountId
    delivered_seq: number
    read_seq: number
    unread_seqs: string
    told_round: number
  }>`
    UPDATE lanes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes},
      retraction_count = retraction_count - ${retractions}
    WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}
    RETURNING sender_id, delivered_seq, read_seq, unread_seqs, told_round`
  await sql`
    UPDATE mailboxes SET pending_count = pending_count - ${messages.length}, pending_bytes = pending_bytes - ${bytes},
      retraction_count = retraction_count - ${retractions}
    WHERE account_id = ${recipient}`
  if (!direction) throw new Error('a conversation without its lane')
  const before = {
    deliveredSeq: direction.delivered_seq,
    readSeq: direction.read_seq,
    unreadSeqs: direction.unread_seqs,
  }
  const erased = messages.map(({ seq }) => seq)
  const marks = { ...before, unreadSeqs: withoutSeqs(before.unreadSeqs, erased) }
  if (marks.unreadSeqs !== before.unreadSeqs) {
    await sql`
      UPDATE lanes SET unread_seqs = ${marks.unreadSeqs}
      WHERE conversation_id = ${conversation} AND recipient_id = ${recipient}`
  }
  const { sender_id: sender, told_round: toldRound } = direction
  const notices: Notice[] = []
  for (const { message_id: id, seq } of messages) {
    const what = { error, message: errorMeanings[error], id, conv_id: convId }
    // An id that was taken back can be used again.
    const frame = encodeFrame({ type: 'error', ...what, ...(error === 'WITHDRAWN' ? { seq } : {}) })
    notices.push({ id: await addNotice(sql, sender, frame, { now }), frame })
  }
  return { conversation, sender, notices, hasNewlyCovering: coverMore(marks, before), toldRound }
}

/** Tells the sender of what was erased. */
export function ringErased(bus: Pick<Bus, 'ring'>, erased: Erased): void {
  const { conversation, sender, notices, hasNewlyCovering, toldRound } = erased
  for (const notice of notices) bus.ring(sender, { kind: 'notice', ...notice })
  if (hasNewlyCovering)
    bus.ring(sender, {
      ...{ kind: 'receipt', conversation, toldRound, lastSeq: 0, marks: [], hasNewlyCovering },
    })
}
