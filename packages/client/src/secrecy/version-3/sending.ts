// Own messages: encrypted when they are about to leave, counted until the peer has acknowledged them, and
// sent again after a join if it has not.
import { encodeBinding, hashOfMessage } from '@sotto/crypto/version-3'
import { encrypt } from '@sotto/mls'
import { type Chain, type Course, maySend, presentOf, type Sent, theirsOf } from './course.ts'
import type { SendEvent } from './events.ts'
import { commit } from './joining.ts'
import { encodeLetter, type Letter } from './letter.ts'
import {
  ACKNOWLEDGE_AFTER_MS,
  ACKNOWLEDGE_EVERY,
  EPOCH_AGE_MS,
  MESSAGES_IN_EPOCH,
  RESENDS,
  RESENDS_COUNT_MS,
} from './limits.ts'
import { isSame } from './sides.ts'
import type { Turn } from './turn.ts'

/** How many bytes of a hash are kept of a message. */
const MARK_BYTES = 8
/** The number of a message whose place is open again. */
const UNCOUNTED = 0

/** Encrypts a message of the outbox, or lets it wait. */
export async function send(turn: Turn, event: SendEvent): Promise<void> {
  const { course } = turn
  if (course.sent.some(({ id }) => id === event.id)) {
    turn.outcome = 'repeat'
    return
  }
  if (event.resends !== undefined && !toResend(course).some((sent) => rootOf(sent) === event.resends)) {
    turn.keep.push({ keep: 'needless', id: event.id })
    return
  }
  turn.connect({ wantsToSend: true })
  if (!maySend(course) || (await commitIfDue(turn))) {
    turn.outcome = 'later'
    return
  }
  const deleted = course.sent.filter((sent) => event.deletes !== undefined && rootOf(sent) === event.deletes)
  await encryptLetter(turn, event.id, {
    kind: 'content',
    deletes: deleted.filter(({ era }) => era === course.era).map(({ number }) => number),
    body: event.body,
    ...(event.resends === undefined ? {} : { resends: event.resends }),
    isHidden: event.isHidden === true,
  })
}

/** Acknowledges what was received, if no message of the user has done it by now. */
export async function acknowledgeIfDue(turn: Turn): Promise<void> {
  const { course, now } = turn
  if (!maySend(course) || !isToAcknowledge(course.owed, now)) return
  if (await commitIfDue(turn)) return
  const body = new Uint8Array()
  await encryptLetter(turn, turn.around.newId(), {
    kind: 'acknowledgement',
    deletes: [],
    body,
    isHidden: true,
  })
}

/** Whether a message or handshake of this device waits for the present group to be checked. */
export function hasToSend({ course, now }: Turn): boolean {
  const { connection, owesCommit, owed } = course
  return connection.wantsToSend || owesCommit || isToAcknowledge(owed, now) || toResend(course).length > 0
}

function isToAcknowledge(owed: Course['owed'], now: number): boolean {
  return owed !== undefined && (owed.count >= ACKNOWLEDGE_EVERY || now - owed.since >= ACKNOWLEDGE_AFTER_MS)
}

/** Commits if the epoch is too old, or has too many own messages, for another one. */
async function commitIfDue(turn: Turn): Promise<boolean> {
  const { course, now } = turn
  const present = presentOf(course)
  if (!present) return false
  const isDue = now - present.since >= EPOCH_AGE_MS || course.sentInEpoch >= MESSAGES_IN_EPOCH
  if (isDue || course.owesCommit) await commit(turn, present)
  return isDue || course.owesCommit
}

/** Asks for the messages that have to be sent again, at a limited rate. */
export function askAgain(turn: Turn): void {
  const { course, now } = turn
  if (!maySend(course)) return
  const isOver = Math.abs(now - course.resends.since) >= RESENDS_COUNT_MS
  const resends = isOver ? { since: now, count: 0 } : course.resends
  const asked = new Set(course.connection.askedAgain)
  const ids = toResend(course)
    .map(rootOf)
    .filter((id) => !asked.has(id))
    .slice(0, RESENDS - resends.count)
  if (ids.length === 0) return
  turn.change({ resends: { ...resends, count: resends.count + ids.length } })
  turn.connect({ askedAgain: [...asked, ...ids] })
  turn.asks.push({ ask: 'again', ids })
}

/**
 * The messages that the relay took before the last join, that the peer never acknowledged, and that are not
 * being sent again already.
 */
function toResend({ sent, era }: Course): readonly Sent[] {
  const present = new Set(sent.filter((each) => each.era === era).map(rootOf))
  return sent.filter(
    (each) => each.isAccepted && !each.isHidden && each.era < era && !present.has(rootOf(each)),
  )
}

/** The id that the message has in the history. */
function rootOf({ id, resends }: Sent): string {
  return resends ?? id
}

async function encryptLetter(
  turn: Turn,
  id: string,
  { isHidden, ...letter }: Pick<Letter, 'kind' | 'deletes' | 'body' | 'resends'> & Pick<Sent, 'isHidden'>,
): Promise<void> {
  const { course, now, around } = turn
  const present = presentOf(course)
  if (!present) throw new Error('a message was to be encrypted without a group')
  const { sides } = around
  const seen = theirsOf(course, course.era)
  const number = course.own.number + 1
  const binding = await encodeBinding({
    ...{ conversationId: sides.conversationId, messageId: id, sender: sides.own, recipient: sides.peer },
    ...{ previous: course.own.hash, seen: seen.hash },
  })
  const plaintext = encodeLetter({ ...letter, number, seen: seen.number })
  const { group, message } = await encrypt(present.group, plaintext, binding)
  const hash = await hashOfMessage(message)
  const repeated = course.sent.find((sent) => letter.resends !== undefined && rootOf(sent) === letter.resends)
  const sent: Sent = {
    ...{ id, resends: letter.resends, number, era: present.era, epoch: present.epoch },
    ...{ mark: hash.slice(0, MARK_BYTES), previous: course.own.hash, isAccepted: false },
    ...{ isHidden, at: repeated?.at ?? now },
  }
  turn.change({
    groups: [...course.groups.slice(0, -1), { ...present, group }],
    own: { number, hash },
    sent: [...course.sent, sent],
    sentInEpoch: course.sentInEpoch + 1,
    owed: undefined,
  })
  if (letter.kind === 'content') turn.connect({ wantsToSend: false })
  turn.keep.push({ keep: 'ciphertext', id, epoch: present.epoch, payload: message, number, isHidden })
}

/** The relay has the message, as `seq`. What it repeats need not be sent again any more. */
export function acceptMessage(turn: Turn, id: string, seq: number): void {
  const { sent, era, joinedAt } = turn.course
  const accepted = sent.find((each) => each.id === id)
  if (!accepted) return
  if (joinedAt !== undefined && accepted.era === era) {
    if (seq < joinedAt) return knownBefore(turn, accepted)
    turn.change({ joinedAt: undefined })
  }
  turn.change({
    sent: sent.flatMap((each) => {
      if (each === accepted) return each.isHidden ? [] : [{ ...each, isAccepted: true, previous: undefined }]
      return rootOf(each) === rootOf(accepted) && each.era < accepted.era ? [] : [each]
    }),
  })
  if (accepted.number !== UNCOUNTED) return
  // The relay took it after it had refused the one before it as too late: it lied. Whether the peer gets it
  // is unknown, so both count anew, and it is sent again.
  turn.tell({ tell: 'history_differs' })
  turn.doubt('forked')
}

/**
 * The relay says that it had the message before this device joined: a state that was lost had sent it. So the
 * peer gets nothing of the present one: its number is free, and it is sent again like others of before.
 */
function knownBefore(turn: Turn, known: Sent): void {
  const { sent, era } = turn.course
  const earlier: Sent = { ...known, era: era - 1, isAccepted: true, previous: undefined }
  turn.change({
    own: chainBefore(turn, known),
    sent: sent.flatMap((each) => (each !== known ? [each] : each.isHidden ? [] : [earlier])),
  })
}

/**
 * The message must be encrypted again, under the same id. The relay will refuse every later one, too: until
 * it does, they wait without a number, because each is counted after the one before it.
 */
export function unsealMessage(turn: Turn, id: string): void {
  const { sent } = turn.course
  turn.keep.push({ keep: 'ciphertext_gone', id })
  const at = sent.findIndex((each) => each.id === id && !each.isAccepted)
  const first = sent[at]
  if (!first) return
  const left = sent.flatMap((each, i) => {
    if (i < at || each.isAccepted) return [each]
    return i === at ? [] : [{ ...each, number: UNCOUNTED, previous: undefined }]
  })
  turn.change({ sent: left, own: chainBefore(turn, first) })
}

/** The message will never be sent, or the relay dropped it, or nothing is left of it to send again. */
export function dropMessage(turn: Turn, id: string): void {
  const { sent } = turn.course
  const last = sent.at(-1)
  const isDropped = (each: Sent): boolean => each.id === id || rootOf(each) === id
  if (last && !last.isAccepted && isDropped(last)) turn.change({ own: chainBefore(turn, last) })
  turn.change({ sent: sent.filter((each) => !isDropped(each)) })
}

/** The own messages before one that the relay has not accepted. */
function chainBefore({ course }: Turn, { era, number, previous }: Sent): Chain {
  return era === course.era && previous ? { number: number - 1, hash: previous } : course.own
}

/**
 * The peer has every message up to a number of the present era. Whoever acknowledges others than this device
 * sent has seen another history; whoever acknowledges more than it knows of proves that its store is old.
 */
export function acknowledged(turn: Turn, seen: number, hash: Uint8Array): void {
  const { course } = turn
  if (seen > course.own.number) {
    turn.tell({ tell: 'store_behind' })
    turn.doubt('store_behind')
    return
  }
  const isSeen = ({ era, number }: Sent): boolean =>
    era === course.era && number <= seen && number !== UNCOUNTED
  const named = course.sent.find((each) => isSeen(each) && each.number === seen)
  if (named && !isSame(named.mark, hash.subarray(0, MARK_BYTES))) turn.tell({ tell: 'history_differs' })
  // What was sent again has the number of its repetition, and is done with it.
  // Without the relay's `ack` its `seq` is unknown here: such a device must not take itself for an old copy.
  const done = new Set(course.sent.filter((each) => each.isAccepted && isSeen(each)).map(rootOf))
  turn.change({ sent: course.sent.filter((each) => !done.has(rootOf(each))) })
}
