// What is stored, as the frames that tell of it.
import { type AliasId, type ConversationId, encodeFrame, type RelayFrame } from '@sotto/protocol'
import type { MessageRow } from './page.ts'

/** The frames that tell a sender how far its peer has come, beyond what it heard before. */
export function receiptFrames(mark: {
  conv_id: ConversationId
  to: AliasId
  from: AliasId
  deliveredSeq: number
  readSeq: number
  after: { deliveredSeq: number; readSeq: number }
}): RelayFrame[] {
  const { conv_id, to, from, deliveredSeq, readSeq, after } = mark
  const frames: RelayFrame[] = []
  // `read` implies `delivered`: a delivered mark is worth a frame only where it is ahead.
  if (deliveredSeq > after.deliveredSeq && deliveredSeq > readSeq)
    frames.push({ type: 'delivered', conv_id, seq: deliveredSeq, to, from })
  if (readSeq > after.readSeq) frames.push({ type: 'read', conv_id, seq: readSeq, to, from })
  return frames
}

/** A stored row as the frame its recipient gets. */
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
  })
}
