// Encodes stored messages, retractions and marks as frames.
import { type AliasId, type ConversationId, encodeFrame } from '@sotto/protocol'
import type { ReceiptMark } from '../cluster/bus.ts'
import type { Lane, MessageRow } from './batch-rows.ts'
import { lastUnread } from './unread-seqs.ts'

/** The `delivered` and `read` marks for a sender that are ahead of `after`, which the sender has already. */
export function receiptMarks(mark: {
  conv_id: ConversationId
  to: AliasId
  from: AliasId
  deliveredSeq: number
  readSeq: number
  unreadSeqs: string
  after: { deliveredSeq: number; readSeq: number }
}): ReceiptMark[] {
  const { conv_id, to, from, deliveredSeq, readSeq, after } = mark
  const lastSeq = lastUnread(mark.unreadSeqs)
  const markOf = (type: 'delivered' | 'read', seq: number): ReceiptMark => ({
    frame: encodeFrame({ type, conv_id, seq, to, from }),
    deliveredSeq: seq,
    readSeq: type === 'read' ? seq : 0,
    coversAll: seq >= lastSeq,
  })
  const marks: ReceiptMark[] = []
  // `read` implies `delivered`, so `delivered` gets a frame only if it is ahead of `read`.
  if (deliveredSeq > after.deliveredSeq && deliveredSeq > readSeq)
    marks.push(markOf('delivered', deliveredSeq))
  if (readSeq > after.readSeq) marks.push(markOf('read', readSeq))
  return marks
}

/** The marks of a lane with the messages that they must cover. */
type JudgedMarks = Pick<Lane, 'deliveredSeq' | 'readSeq' | 'unreadSeqs'>

/**
 * Whether a mark that did not advance now covers all of the sender's messages, because the last ones were
 * retracted or expired.
 */
export function coverMore(marks: JudgedMarks, before: JudgedMarks): boolean {
  const lastSeq = lastUnread(marks.unreadSeqs)
  const lastBefore = lastUnread(before.unreadSeqs)
  const coversNewly = (seq: number, seqBefore: number): boolean =>
    seq === seqBefore && seq > 0 && seq >= lastSeq && seq < lastBefore
  return coversNewly(marks.deliveredSeq, before.deliveredSeq) || coversNewly(marks.readSeq, before.readSeq)
}

/** The frame that the recipient of a stored row gets. */
export function encodeRow(
  row: MessageRow,
  names: { conv_id: ConversationId; to: AliasId; from: AliasId },
): string {
  const { conv_id, to, from } = names
  const { id, seq, at } = row
  if (row.kind === 'retraction') return encodeFrame({ type: 'retract', id, to, conv_id, from, seq, at })
  return encodeFrame({
    type: 'msg',
    id,
    to,
    conv_id,
    crypto_v: row.crypto_v,
    payload: row.payload,
    from,
    seq,
    at,
    epoch: row.epoch,
    handshake: row.isHandshake ? true : undefined,
  })
}
