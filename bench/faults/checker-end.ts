// The promises at the end of a history, when all clients are back, have sent everything and confirmed
// everything.
import type { Facts, Lane, MessageFact } from './facts.ts'
import type { NumberFact, Pair } from './pair.ts'

export function checkEnd(facts: Facts, n: number): void {
  const earliest = new Map<MessageFact, number>()
  for (const pair of facts.conversations.values()) {
    checkNumbers(facts, pair, n)
    checkStored(facts, pair, earliest, n)
    checkSendingOrder(facts, pair, n)
  }
  for (const message of facts.messages.values()) {
    // A client with a deleted account expects nothing, and nothing waits for it.
    const isSenderGone = facts.gone.has(message.sender)
    if (!isSenderGone) checkAnswers(facts, message, n)
    if (!facts.gone.has(message.recipient))
      checkArrival(facts, message, earliest.get(message) ?? message.sentAt ?? n, n)
  }
  for (const lane of facts.lanes) checkLane(facts, lane, n)
}

function checkAnswers(facts: Facts, message: MessageFact, n: number): void {
  if (message.refusedAt !== undefined) return
  if (message.sentAt !== undefined && message.ackedAt === undefined)
    facts.report('unanswered', n, `${nameOf(message)}: never acknowledged`)
  if (message.retractSentAt !== undefined && message.retractAckedAt === undefined)
    facts.report('unanswered', n, `${nameOf(message)}: its retraction was never acknowledged`)
}

/** @param storedAfter an event before which the message was certainly not stored */
function checkArrival(facts: Facts, message: MessageFact, storedAfter: number, n: number): void {
  const pair = facts.conversations.get(message.conv)
  const { ackedAt, receivedAt, retractSentAt, retractAckedAt, retractReceivedAt } = message
  const isGone = retractSentAt !== undefined || pair?.mayErase(storedAfter)
  if (ackedAt !== undefined && receivedAt === undefined && !isGone) {
    const name = `${nameOf(message)}: acknowledged at event ${ackedAt}, never delivered`
    const ends = facts.ages.filter((age) => age.n > storedAfter && (message.at ?? 0) < age.before)
    if (ends.length === 0) facts.report('lost', n, name)
    // The notice to its sender also expires, and nobody is told about that.
    else if (ends.length === 1 && message.expiredAt === undefined && !facts.gone.has(message.sender))
      facts.report('expiry', n, `${name}, nor was its sender told that it expired`)
  }
  if (retractAckedAt === undefined || retractReceivedAt !== undefined || retractSentAt === undefined) return
  const isOld = facts.ages.some((age) => age.n > retractSentAt)
  if (!isOld && !pair?.mayErase(retractSentAt))
    facts.report('retraction', n, `${nameOf(message)}: the retraction never arrived`)
}

function checkLane(facts: Facts, lane: Lane, n: number): void {
  if (facts.gone.has(lane.sender)) return
  const pair = facts.conversations.get(lane.conv)
  // The relay may not have read a mark that was sent right before leaving.
  const hasLeft = facts.gone.has(lane.recipient)
  // To an older client, no mark goes that does not cover the sender's last message, and nobody confirms one
  // that was erased, or that went to an account that is gone.
  if (facts.older.has(lane.sender) && (hasLeft || pair?.mayErase(0))) return
  const name = `client ${lane.sender} about client ${lane.recipient} in ${lane.conv}`
  const delivered = hasLeft ? lane.confirmed : lane.sentDelivered
  if (lane.toldDelivered < delivered && !pair?.mayErase(lane.sentDeliveredAt))
    facts.report('receipt', n, `${name}: told of ${lane.toldDelivered}, confirmed was ${delivered}`)
  if (hasLeft) return
  if (lane.toldRead < lane.sentRead && !pair?.mayErase(lane.sentReadAt))
    facts.report('receipt', n, `${name}: told of read ${lane.toldRead}, read was ${lane.sentRead}`)
}

// A number that nobody knows is allowed only if it belongs to a frame whose number nobody can know: its
// answer was lost or names no number (a retraction's), and the frame was erased before it arrived.
function checkNumbers(facts: Facts, pair: Pair, n: number): void {
  const sorted = [...pair.numbers].sort(([a], [b]) => a - b)
  const gaps: string[] = []
  let [next, at, missing] = [1, 0, 0]
  for (const [seq, number] of sorted) {
    if (seq !== next) gaps.push(`${pair.conv}: nothing has seq ${next} to ${seq - 1}`)
    if (number.at < at) facts.report('time', n, `${pair.conv}: at fell with seq ${seq}`)
    missing += seq - next
    next = seq + 1
    at = number.at
  }
  if (missing === 0 || missing <= countUnknowable(facts, pair)) return
  for (const gap of gaps) facts.report('gap', n, gap)
}

function countUnknowable(facts: Facts, pair: Pair): number {
  const isAnybodyGone = pair.members.some(({ client }) => facts.gone.has(client))
  const mayBeGone = (since: number): boolean =>
    isAnybodyGone || pair.mayErase(since) || facts.ages.some((age) => age.n > since)
  let count = 0
  for (const message of facts.messages.values()) {
    if (message.conv !== pair.conv) continue
    const { sentAt, seq, retractSentAt, retractReceivedAt } = message
    if (seq === undefined && sentAt !== undefined && mayBeGone(sentAt)) count += 1
    if (retractReceivedAt === undefined && retractSentAt !== undefined && mayBeGone(retractSentAt)) count += 1
  }
  return count
}

/**
 * Numbers are assigned in order. A frame was stored after all frames with lower numbers were sent, and before
 * any frame with a higher number was seen. Between these events, the two accounts must have been friends.
 */
function checkStored(facts: Facts, pair: Pair, earliest: Map<MessageFact, number>, n: number): void {
  const sorted = [...pair.numbers].sort(([a], [b]) => a - b)
  const latest = new Map<NumberFact, number>()
  let seenAt = n
  for (const [, number] of sorted.toReversed()) {
    seenAt = Math.min(seenAt, number.seenAt)
    latest.set(number, seenAt)
  }
  let sentAt = 0
  for (const [seq, number] of sorted) {
    sentAt = Math.max(sentAt, number.sentAt)
    const message = facts.messages.get(number.owner)
    if (message?.seq === seq) earliest.set(message, sentAt)
    if (!pair.friends.canBe(true, sentAt, latest.get(number) ?? n))
      facts.report(
        'parted',
        n,
        `${pair.conv}: seq ${seq} of ${number.owner} was stored though they had parted`,
      )
  }
}

// Clients repeat unacknowledged messages in order, so messages are stored in the order in which they were
// first sent. The exceptions are messages that were refused for a while, or whose retraction was sent first.
// A client may have missed that a message was refused because the two were not friends.
function checkSendingOrder(facts: Facts, { conv, members, friends }: Pair, n: number): void {
  for (const { client } of members) {
    const own = [...facts.messages.values()]
      .filter((message) => message.sender === client && message.conv === conv)
      .filter(({ wasRefused, seq, sentAt }) => !wasRefused && seq !== undefined && sentAt !== undefined)
      .filter(({ retractSentAt, ackedAt }) => retractSentAt === undefined || (ackedAt ?? 0) < retractSentAt)
      .filter(({ sentAt = 0, ackedAt = n }) => !friends.canBe(false, sentAt, ackedAt))
      .sort((a, b) => (a.sentAt ?? 0) - (b.sentAt ?? 0))
    let last = 0
    for (const { id, seq = 0 } of own) {
      if (seq < last)
        facts.report('order', n, `${conv}: ${id} of client ${client} was sent later than seq ${last}`)
      last = Math.max(last, seq)
    }
  }
}

function nameOf({ sender, recipient, id, conv, seq }: MessageFact): string {
  return `${id} of client ${sender} for client ${recipient} in ${conv}, seq ${seq}`
}
