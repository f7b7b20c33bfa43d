// The marks that a batch changed, for the senders of the messages that they cover.
import type { ChangedReceipts } from '../cluster/bus.ts'
import type { AccountId } from '../storage/storage.ts'
import type { BatchRows, LaneChanges } from './batch-rows.ts'
import { coverMore, receiptMarks } from './stored-frames.ts'

/** What changed of a conversation's marks. `account` sent the messages that they cover. */
export interface ReceiptsFor extends ChangedReceipts {
  readonly account: AccountId
}

/** Each mark that advanced makes one frame, no matter how many receipts in the batch moved it. */
export function changedReceipts(lanes: Iterable<LaneChanges>, rows: BatchRows): ReceiptsFor[] {
  const changed: ReceiptsFor[] = []
  for (const { conversation, lane, before } of lanes) {
    const { sender, recipient, deliveredSeq, readSeq, unreadSeqs, toldRound } = lane
    const hasNewlyCovering = coverMore(lane, before)
    const hasAdvanced = deliveredSeq > before.deliveredSeq || readSeq > before.readSeq
    if (!hasAdvanced && !hasNewlyCovering) continue
    const names = { conv_id: conversation.convId, to: rows.aliasOf(sender), from: rows.aliasOf(recipient) }
    changed.push({
      account: sender,
      conversation: conversation.id,
      toldRound,
      lastSeq: conversation.lastSeq,
      marks: receiptMarks({ ...names, deliveredSeq, readSeq, unreadSeqs, after: before }),
      hasNewlyCovering,
    })
  }
  return changed
}
