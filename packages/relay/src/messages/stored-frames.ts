// Encodes stored messages, retractions and marks as frames.
import { type AliasId, type ConversationId, encodeFrame, type RelayFrame } from '@sotto/protocol'
import type { MessageRow } from './batch-rows.ts'

/**
 * The `delivered` and `read` frames for a sender, for marks that are ahead of `after`, which the sender has
 * already.
 */
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
  // `read` implies `delivered`, so `delivered` gets a frame only if it is ahead of `read`.
  if (deliveredSeq > after.deliveredSeq && deliveredSeq > readSeq)
    frames.push({ type: 'delivered', conv_id, seq: deliveredSeq, to, from })
  if (readSeq > after.readSeq) frames.push({ type: 'read', conv_id, seq: readSeq, to, from })
  return frames
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
  })
}
