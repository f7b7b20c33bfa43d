// The marks that a batch changed, for the senders of the messages that they cover.
import type { AddressedRing } from '../cluster/bus.ts'
import type { BatchRows, LaneChanges } from './batch-rows.ts'
import { coverMore, receiptMarks } from './stored-frames.ts'

/**
 * The rings for the senders. Each mark that advanced makes one frame, no matter how many receipts in the
 * batch moved it.
 */
export function receiptRings(lanes: Iterable<LaneChanges>, rows: BatchRows): AddressedRing[] {
  const rings: AddressedRing[] = []
  for (const { conversation, lane, before } of lanes) {
    const { sender, recipient, deliveredSeq, readSeq, unreadSeqs, toldRound } = lane
    const hasNewlyCovering = coverMore(lane, before)
    const hasAdvanced = deliveredSeq > before.deliveredSeq || readSeq > before.readSeq
    if (!hasAdvanced && !hasNewlyCovering) continue
    const names = { conv_id: conversation.convId, to: rows.aliasOf(sender), from: rows.aliasOf(recipient) }
    rings.push({
      account: sender,
      ring: {
        kind: 'receipt',
        conversation: conversation.id,
        toldRound,
        lastSeq: conversation.lastSeq,
        marks: receiptMarks({ ...names, deliveredSeq, readSeq, unreadSeqs, after: before }),
        hasNewlyCovering,
      },
    })
  }
  return rings
}
