// Checks a complete history against the promises of docs/protocol.md, "Friends" and "Delivery". A pure
// function without relay or clock.
import { readBegan, readEnded, readFriendFrame } from './checker-commands.ts'
import { checkEnd } from './checker-end.ts'
import { Facts, type FrameEvent, type Lane, type MessageFact, type Violation } from './facts.ts'
import type { HistoryEvent } from './history.ts'

/** Violations that waiting can still resolve; all others are final. */
const MENDED_BY_TIME: ReadonlySet<string> = new Set([
  'lost',
  'gap',
  'receipt',
  'retraction',
  'unanswered',
  'expiry',
])

/** Faults during which the relay may refuse everything for a while. */
const FAILURES: ReadonlySet<string> = new Set(['full', 'postgres', 'cut', 'failover'])

type Fault = Extract<HistoryEvent, { type: 'nemesis' }>

/** All broken promises of a history; empty if it keeps every promise. */
export function check(events: readonly HistoryEvent[]): Violation[] {
  const facts = new Facts()
  for (const [n, event] of events.entries()) read(facts, event, n)
  checkEnd(facts, events.length)
  return facts.violations
}

/** Whether no frame is still in transit. */
export function isComplete(violations: readonly Violation[]): boolean {
  return !violations.some(({ kind }) => MENDED_BY_TIME.has(kind))
}

function read(facts: Facts, event: HistoryEvent, n: number): void {
  switch (event.type) {
    case 'account':
      facts.addAccount(event.alias, event.client)
      return
    case 'friends':
      facts.befriend(event.conv, event.members, n)
      return
    case 'opening':
      facts.open(event, n)
      return
    case 'sent': {
      const connection = facts.connections.get(event.connection)
      if (connection) readSent(facts, { ...event, on: connection, n })
      return
    }
    case 'received': {
      const connection = facts.connections.get(event.connection)
      if (connection) readReceived(facts, { ...event, on: connection, n })
      return
    }
    case 'began':
      readBegan(facts, event, n)
      return
    case 'ended':
      readEnded(facts, event, n)
      return
    case 'old':
      facts.age(event.before, n)
      return
    case 'nemesis':
      if (FAILURES.has(event.what)) readFailure(facts, event, n)
      return
    case 'settled':
      facts.settledAt = n
      return
    case 'dead':
      facts.report('dead', n, event.reason)
      return
    case 'closed':
      return
    default:
      event satisfies never
  }
}

/** The disk of some nodes is full or their database is down, or that is over. */
function readFailure(facts: Facts, { detail, nodes = [0] }: Fault, n: number): void {
  facts.mayFail = true
  for (const node of nodes) facts.failing.set(node, detail === 'over' ? n : undefined)
}

function readSent(facts: Facts, { client, connection, on, frame, n }: FrameEvent): void {
  const { type, id = '', conv_id: conv = '', seq = 0 } = frame
  if (type === 'sync') {
    on.syncs += 1
    if (frame.receipts === 'by_seq') on.isBySeq = true
    else facts.older.add(client)
  }
  const sides = facts.sides(conv, client)
  if (!sides) return
  const peer = sides.peer.client
  if (id && !on.firstSent.has(id)) on.firstSent.set(id, n)
  if (type === 'msg') {
    const message = facts.find(client, id) ?? facts.add(client, id, conv, peer)
    // The connection may be lost before the refusal arrives.
    if (facts.failing.has(on.node)) message.wasRefused = true
    if (message.sentAt !== undefined) return
    message.sentAt = n
    message.digest = frame.payload
    message.sentOn = connection
    message.marksBefore = on.marks.length
  } else if (type === 'retract') {
    const message = facts.find(client, id) ?? facts.add(client, id, conv, peer)
    message.retractSentAt ??= n
  } else if (type === 'delivered' || type === 'read') {
    const lane = facts.laneTo(conv, client)
    if (!lane) return
    if (seq > lane.sentDelivered) Object.assign(lane, { sentDelivered: seq, sentDeliveredAt: n })
    if (type === 'read' && seq > lane.sentRead) Object.assign(lane, { sentRead: seq, sentReadAt: n })
    on.marks.push({ lane, seq })
  } else if (type === 'typing') {
    const lane = facts.laneTo(conv, peer)
    if (lane) lane.hasTyped = true
  }
}

function readReceived(facts: Facts, event: FrameEvent): void {
  const { client, on, frame, n } = event
  switch (frame.type) {
    case 'ack':
      readAck(facts, event)
      return
    case 'retract_ack': {
      const message = facts.find(client, frame.id ?? '')
      if (message?.retractSentAt === undefined)
        facts.report('foreign', n, `${nameOf(event)} of no retraction`)
      else message.retractAckedAt ??= n
      return
    }
    case 'error':
      readError(facts, event)
      return
    case 'msg':
    case 'retract':
    case 'delivered':
    case 'read':
    case 'typing': {
      const sides = facts.sides(frame.conv_id ?? '', client)
      if (!sides || frame.from !== sides.peer.alias || frame.to !== sides.own.alias) {
        facts.report('foreign', n, `${nameOf(event)} is not between this client and a friend of its`)
        return
      }
      if (frame.type === 'msg' || frame.type === 'retract') readDelivery(facts, event, sides.peer.client)
      else readSign(facts, event, sides.peer.client)
      return
    }
    case 'friend_request':
    case 'friend_accepted':
      readFriendFrame(facts, event)
      return
    default:
      if (on.client !== client) facts.report('foreign', n, `${nameOf(event)} on another client's connection`)
  }
}

function readAck(facts: Facts, event: FrameEvent): void {
  const { client, connection, on, frame, n } = event
  const message = facts.find(client, frame.id ?? '')
  if (!message || message.conv !== frame.conv_id) {
    facts.report('foreign', n, `${nameOf(event)} of nothing that was sent`)
    return
  }
  if (message.ackedAt === undefined) Object.assign(message, { ackedAt: n, ackedOn: connection })
  const own = facts.laneTo(message.conv, message.recipient)
  if (own) own.highestAcked = Math.max(own.highestAcked, frame.seq ?? 0)
  // It took a message that was written after the failure: it has noticed the end of the failure.
  if ((message.sentAt ?? 0) > (facts.failing.get(on.node) ?? n)) facts.failing.delete(on.node)
  noteNumber(facts, event, message)
  // A connection's frames are processed in order: everything sent before a stored message is stored too.
  if (message.sentOn !== connection || on.hadError) return
  for (; on.marksKnown < message.marksBefore; on.marksKnown++) {
    const mark = on.marks[on.marksKnown]
    if (mark) mark.lane.confirmed = Math.max(mark.lane.confirmed, mark.seq)
  }
}

function readError(facts: Facts, event: FrameEvent): void {
  const { client, on, frame, n } = event
  const message = facts.find(client, frame.id ?? '')
  if (frame.error === 'NOT_FRIENDS') {
    readNotFriends(facts, event, message)
    return
  }
  if (frame.error === 'EXPIRED') {
    readExpired(facts, event, message)
    return
  }
  const mayCome =
    frame.error === 'MAILBOX_FULL' ||
    frame.error === 'SHUTTING_DOWN' ||
    (facts.mayFail && (frame.error === 'INTERNAL' || frame.error === 'RELAY_FULL'))
  if (!mayCome) facts.report('refused', n, `${nameOf(event)}: ${frame.error}`)
  on.hadError = true
  if (message) message.wasRefused = true
}

/** Allowed only if the friendship may have been ended at some moment since the frame was sent. */
function readNotFriends(facts: Facts, event: FrameEvent, message: MessageFact | undefined): void {
  const { on, frame, n } = event
  const pair = facts.conversations.get(frame.conv_id ?? '')
  const since = on.firstSent.get(frame.id ?? '') ?? on.openedAt
  if (!pair?.friends.canBe(false, since, n))
    facts.report('refused', n, `${nameOf(event)}: NOT_FRIENDS, though they were`)
  if (!message) return
  message.refusedAt ??= n
  message.wasRefused = true
}

/**
 * Allowed only for a message that was old enough and still stored: not confirmed, retracted or erased long
 * before.
 */
function readExpired(facts: Facts, event: FrameEvent, message: MessageFact | undefined): void {
  const { n } = event
  if (message?.sentAt === undefined) {
    facts.report('foreign', n, `${nameOf(event)}: EXPIRED, and never sent`)
    return
  }
  const { conv, recipient, sentAt, at = 0, seq = Number.POSITIVE_INFINITY, ackedAt, retractAckedAt } = message
  const lane = facts.laneTo(conv, recipient)
  const pair = facts.conversations.get(conv)
  const mayExpire = facts.ages.some((age) => {
    const isConfirmed = lane !== undefined && seq <= (age.confirmed.get(lane) ?? 0)
    const isRetracted = retractAckedAt !== undefined && retractAckedAt < age.n
    const isErased = ackedAt !== undefined && pair?.hasErased(ackedAt, age.n) === true
    return sentAt < age.n && at < age.before && !isConfirmed && !isRetracted && !isErased
  })
  if (!mayExpire) facts.report('expiry', n, `${nameOf(event)}: EXPIRED, too young or not there any more`)
  message.expiredAt ??= n
}

/** Records a message's number. It must always be the same and belong to no other message. */
function noteNumber(facts: Facts, event: FrameEvent, message: MessageFact): void {
  const { frame, n } = event
  const { seq = 0, at = 0 } = frame
  if (message.seq !== undefined && message.seq !== seq) {
    facts.report('twice', n, `${nameOf(event)} had seq ${message.seq} before`)
    return
  }
  if (message.at !== undefined && message.at !== at)
    facts.report('changed', n, `${nameOf(event)} had another at before`)
  message.seq = seq
  message.at = at
  // A retraction that was sent before its message had the number first.
  claim(facts, event, message, Math.min(message.sentAt ?? n, message.retractSentAt ?? n))
}

function claim(facts: Facts, event: FrameEvent, { sender, id }: MessageFact, sentAt: number): void {
  const { frame, n } = event
  const { seq = 0, at = 0 } = frame
  const owner = `${sender} ${id}`
  const numbers = facts.conversations.get(frame.conv_id ?? '')?.numbers
  const known = numbers?.get(seq)
  if (known && known.owner !== owner)
    facts.report('gap', n, `${nameOf(event)}: seq ${seq} was that of ${known.owner}`)
  else if (!known) numbers?.set(seq, { owner, at, sentAt, seenAt: n })
}

/** A message or a retraction that reaches its recipient. */
function readDelivery(facts: Facts, event: FrameEvent, sender: number): void {
  const { client, on, frame, n } = event
  const { conv_id: conv = '', id = '', seq = 0 } = frame
  const message = facts.find(sender, id)
  const lane = facts.laneTo(conv, client)
  const wasSent = frame.type === 'msg' ? message?.sentAt : message?.retractSentAt
  if (!message || !lane || wasSent === undefined || message.conv !== conv) {
    facts.report('foreign', n, `${nameOf(event)} was never sent here`)
    return
  }
  checkOrder(facts, event, lane)
  const storedBy =
    frame.type === 'msg'
      ? Math.min(message.ackedAt ?? n, message.receivedAt ?? n)
      : Math.min(message.retractAckedAt ?? n, message.retractReceivedAt ?? n)
  if (facts.conversations.get(conv)?.hasErased(storedBy, on.openedAt))
    facts.report('parted', n, `${nameOf(event)} was erased before this connection was opened`)
  if (frame.type === 'retract') {
    claim(facts, event, message, wasSent)
    message.retractReceivedAt ??= n
    return
  }
  if (message.digest !== frame.payload) facts.report('changed', n, `${nameOf(event)} is not what was sent`)
  noteNumber(facts, event, message)
  const goneAt = Math.min(message.retractAckedAt ?? n, message.retractReceivedAt ?? n)
  if (goneAt < on.openedAt) facts.report('twice', n, `${nameOf(event)} had been retracted`)
  if (message.receivedAt !== undefined) return
  message.receivedAt = n
  if (seq < lane.highestNew)
    facts.report('order', n, `${nameOf(event)} was left out before seq ${lane.highestNew}`)
  lane.highestNew = Math.max(lane.highestNew, seq)
}

/** On one connection, a conversation arrives in rising seq, except for repeats after a later `sync`. */
function checkOrder(facts: Facts, event: FrameEvent, lane: Lane): void {
  const { on, frame, n } = event
  const { conv_id: conv = '', seq = 0 } = frame
  if (seq <= (on.lastSeq.get(conv) ?? 0)) {
    if (on.restarts < on.syncs - 1) {
      on.restarts += 1
      on.lastSeq.clear()
      on.seen.clear()
    } else if (on.seen.has(`${conv} ${seq}`)) {
      facts.report('twice', n, `${nameOf(event)} came twice on one connection`)
    } else {
      facts.report('order', n, `${nameOf(event)} came after seq ${on.lastSeq.get(conv)}`)
    }
  }
  on.lastSeq.set(conv, Math.max(seq, on.lastSeq.get(conv) ?? 0))
  on.seen.add(`${conv} ${seq}`)
  if (frame.type === 'msg' && seq <= (on.confirmed.get(lane) ?? 0))
    facts.report('twice', n, `${nameOf(event)} had been confirmed before this connection was opened`)
}

/** A mark or a typing notice from the other side. */
function readSign(facts: Facts, event: FrameEvent, peer: number): void {
  const { client, frame, n } = event
  const { conv_id: conv = '', seq = 0, type } = frame
  if (type === 'typing') {
    if (!facts.laneTo(conv, client)?.hasTyped) facts.report('foreign', n, `${nameOf(event)}: nobody typed`)
    return
  }
  const lane = facts.laneTo(conv, peer)
  if (!lane) return
  if (seq > (type === 'read' ? lane.sentRead : lane.sentDelivered))
    facts.report('foreign', n, `${nameOf(event)} is beyond what was confirmed`)
  checkTrueOfAll(facts, event, lane)
  lane.toldDelivered = Math.max(lane.toldDelivered, seq)
  if (type === 'read') lane.toldRead = Math.max(lane.toldRead, seq)
  lane.confirmed = Math.max(lane.confirmed, seq)
}

/**
 * An older client takes a mark for all of its messages in the conversation. So it must cover all that are
 * acknowledged and certainly neither retracted nor expired.
 */
function checkTrueOfAll(facts: Facts, event: FrameEvent, lane: Lane): void {
  const { connection, on, frame, n } = event
  if (on.isBySeq) return
  const numbers = facts.conversations.get(lane.conv)?.numbers
  for (let seq = (frame.seq ?? 0) + 1; seq <= lane.highestAcked; seq++) {
    const message = facts.messages.get(numbers?.get(seq)?.owner ?? '')
    if (message?.sender !== lane.sender || message.seq !== seq || message.ackedAt === undefined) continue
    const wasKnown = message.ackedOn === connection || message.ackedAt < on.openedAt
    const mayHaveExpired = facts.ages.some(({ before }) => (message.at ?? 0) < before)
    if (wasKnown && message.retractSentAt === undefined && !mayHaveExpired)
      facts.report('untrue', n, `${nameOf(event)} does not cover ${message.id}, seq ${seq}`)
  }
}

function nameOf({ client, connection, frame }: FrameEvent): string {
  const parts = [frame.type, frame.id, frame.seq === undefined ? '' : `seq ${frame.seq}`, frame.conv_id]
  return `client ${client}, connection ${connection}: ${parts.filter(Boolean).join(' ')}`
}
