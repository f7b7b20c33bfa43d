// Whether a mailbox has room for another message or retraction (protocol, Delivery 8).
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { Lane, Mailbox } from './batch-rows.ts'

/**
 * When a sender may try again. Nobody knows when the recipient makes room, but a connected one confirms its
 * messages within seconds. Clients wait longer after each refusal.
 */
const RETRY_MS = 3000

/** Whether a message with a payload of this length has room. */
export function hasMessageRoom(lane: Lane, mailbox: Mailbox, bytes: number, limits: Limits): boolean {
  const { mailboxMessages, mailboxBytes, mailboxRetractions, conversationPercent } = limits
  const share = conversationPercent / 100
  // Retractions beyond their share are of undelivered messages, and keep the places of those messages.
  // Otherwise messages that are sent and retracted in turn would fill the store.
  const extra = Math.max(0, mailbox.retractionCount - mailboxRetractions)
  const extraInLane = Math.max(0, lane.retractionCount - mailboxRetractions * share)
  return (
    mailbox.pendingCount + extra < mailboxMessages &&
    mailbox.pendingBytes + bytes <= mailboxBytes &&
    lane.pendingCount + extraInLane < mailboxMessages * share &&
    lane.pendingBytes + bytes <= mailboxBytes * share
  )
}

/**
 * For a retraction that erases no undelivered message. @throws ProtocolError `MAILBOX_FULL` if it has no room
 */
export function checkRetractionRoom(lane: Lane, mailbox: Mailbox, limits: Limits): void {
  const { mailboxRetractions, conversationPercent } = limits
  const share = conversationPercent / 100
  if (mailbox.retractionCount >= mailboxRetractions || lane.retractionCount >= mailboxRetractions * share) {
    throw mailboxFull()
  }
}

/** The refusal of what has no room. */
export function mailboxFull(): ProtocolError {
  return new ProtocolError('MAILBOX_FULL', { retryAfterMs: RETRY_MS })
}
