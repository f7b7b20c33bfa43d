// One step of a conversation: an event changes the state, and then whatever the new state allows is done.
import {
  type Course,
  type Doubt,
  isAllAnswered,
  isSettled,
  maySend,
  presentOf,
  withoutConnection,
} from './course.ts'
import { dropOld, takeKeys } from './epochs.ts'
import type { Ask, CourseEvent, Handshake, Keep, Notice, Outcome } from './events.ts'
import { acceptPending, beBehind, commit, onGroup, onKeyPackages } from './joining.ts'
import { receive, tellGaps } from './receiving.ts'
import {
  acceptMessage,
  acknowledgeIfDue,
  askAgain,
  dropMessage,
  hasToSend,
  send,
  unsealMessage,
} from './sending.ts'
import { type Surroundings, Turn } from './turn.ts'

/**
 * The result of an event. First the state and `keep` are made durable in one write. Then `handshake` is sent,
 * and `asks` are asked. A frame is confirmed after the write, as `outcome` says. `notices` are told after it.
 */
export interface Step {
  readonly course: Course
  readonly outcome: Outcome
  readonly keep: readonly Keep[]
  readonly handshake: Handshake | undefined
  readonly asks: readonly Ask[]
  readonly notices: readonly Notice[]
  /** Whether the next `send` is encrypted, unless a commit is due before it. */
  readonly maySend: boolean
}

/**
 * Carries out one event. Rejects with `MlsError` or `CryptoError` `UNAVAILABLE` if cryptography could not be
 * loaded: then nothing has happened, and the event comes again.
 */
export async function step(course: Course, event: CourseEvent, around: Surroundings): Promise<Step> {
  const turn = new Turn(course, around.now, around)
  dropOld(turn)
  takeKeys(turn)
  await apply(turn, event)
  await goOn(turn)
  return stepOf(turn)
}

/**
 * Notes what has happened while the contact's keys are unknown or refused, and does nothing beyond that: a
 * message of which the state does not learn that the relay has it would hold up all later ones for good.
 * @returns undefined for an event that has to be given again
 */
export async function stepWithoutKeys(
  course: Course,
  event: CourseEvent,
  now: number,
): Promise<Step | undefined> {
  const noted = withoutKeys(event)
  if (!noted) return undefined
  const turn = new Turn(course, now, undefined)
  await apply(turn, noted)
  return stepOf(turn)
}

/** What is left of an event without the contact's keys. The answer of a request is asked for again. */
function withoutKeys(event: CourseEvent): CourseEvent | undefined {
  switch (event.type) {
    case 'peer_speaks':
    case 'down':
    case 'accepted':
    case 'stale':
    case 'failed':
    case 'unanswered':
      return event
    case 'group':
    case 'key_packages':
      return { type: 'unanswered' }
    default:
      return undefined
  }
}

function stepOf(turn: Turn): Step {
  const { outcome, keep, handshake, asks, notices } = turn
  return { course: turn.course, outcome, keep, handshake, asks, notices, maySend: maySend(turn.course) }
}

async function apply(turn: Turn, event: CourseEvent): Promise<void> {
  switch (event.type) {
    case 'peer_speaks':
      return turn.change({ peerSpeaks: true })
    case 'synced':
      return onSynced(turn, event.incarnation, event.isDoubtful ?? false)
    case 'down':
      return turn.change({ connection: withoutConnection(turn.course.connection) })
    case 'send':
      return send(turn, event)
    case 'accepted':
      return onAccepted(turn, event.id, event.seq)
    case 'stale':
      return onStale(turn, event.id, event.epoch)
    case 'failed':
      return onFailed(turn, event.id)
    case 'frame':
      return receive(turn, event)
    case 'group':
      return onGroup(turn, event)
    case 'key_packages':
      return onKeyPackages(turn, event.packages)
    case 'call':
      return isSettled(turn.course) ? undefined : turn.connect({ wantsToSend: true })
    case 'unanswered':
      return turn.connect({ asked: undefined })
    case 'tick':
      return
    case 'use_this_device':
      return onUseThisDevice(turn)
    case 'allow_rejoins':
      return onAllowRejoins(turn)
    default:
      return event satisfies never
  }
}

function onSynced(turn: Turn, incarnation: string | undefined, isDoubtful: boolean): void {
  const { course } = turn
  const { connection, doubt } = course
  const isRestored =
    incarnation !== undefined && course.incarnation !== undefined && incarnation !== course.incarnation
  turn.change({ incarnation: incarnation ?? course.incarnation })
  turn.connect({
    ...{ isSynced: true, isChecked: connection.isChecked && !isDoubtful },
    asked: connection.asked === 'sync' ? undefined : connection.asked,
  })
  if (isRestored) {
    turn.tell({ tell: 'relay_restored' })
    const isJoined = presentOf(course) !== undefined
    turn.change({ pending: undefined, doubt: isJoined ? { why: 'relay_restored' } : undefined })
  } else if (doubt?.why === 'behind') turn.change({ doubt: { ...doubt, isSure: true } })
  tellGaps(turn)
}

function onAccepted(turn: Turn, id: string, seq: number): void {
  const { pending, ownSeq, connection } = turn.course
  turn.change({ ownSeq: Math.max(ownSeq, seq) })
  if (pending?.id !== id) return acceptMessage(turn, id, seq)
  acceptPending(turn, pending, seq)
  // Frames that waited for this can be read now, or told as lost.
  if (connection.hasLeft) turn.look('sync')
}

function onStale(turn: Turn, id: string, epoch: number): void {
  const { pending, sent } = turn.course
  // The outbox may have sent the bytes of an earlier epoch twice. The present ones are not refused by that.
  if (sent.some((each) => each.id === id && each.epoch === epoch)) return
  if (pending?.id === id) turn.change({ pending: undefined })
  else unsealMessage(turn, id)
  const present = presentOf(turn.course)?.epoch ?? 0
  if (epoch > present) beBehind(turn, epoch, false)
  // The relay went back and did not say so, or lies: without a look at its record the next handshake would be
  // refused like this one, again and again.
  else if (epoch < present || pending?.id === id) turn.connect({ isChecked: false })
}

function onFailed(turn: Turn, id: string): void {
  if (turn.course.pending?.id !== id) return dropMessage(turn, id)
  turn.change({ pending: undefined })
  turn.tell({ tell: 'handshake_failed' })
}

function onUseThisDevice(turn: Turn): void {
  const { stop } = turn.course
  // The user does not wait until the device may look at the relay again.
  turn.connect({ looks: 0 })
  if (stop !== 'displaced' && stop !== 'own_rejoins') return
  turn.change({ stop: undefined, doubt: { why: 'users_word' } })
}

function onAllowRejoins(turn: Turn): void {
  const { stop, rejoins } = turn.course
  turn.connect({ looks: 0 })
  if (stop !== 'peer_rejoins') return
  turn.change({ stop: undefined, rejoins: { ...rejoins, peer: [] } })
  if (turn.course.connection.isSynced) turn.look('sync')
}

/** Does what the state asks for next: answers doubts, sends a handshake, acknowledges, sends again. */
async function goOn(turn: Turn): Promise<void> {
  await decide(turn)
  const { connection, pending } = turn.course
  if (!pending || !connection.isSynced || connection.sentHandshake === pending.id) return
  const { id, leaves: epoch, payload, groupInfo } = pending
  turn.connect({ sentHandshake: id })
  turn.handshake = { id, epoch, payload, groupInfo }
}

async function decide(turn: Turn): Promise<void> {
  const { connection, doubt, stop, pending, peerSpeaks, owesCommit } = turn.course
  if (!connection.isSynced || connection.asked !== undefined || stop || pending) return
  if (doubt) return turn.look(isToWait(doubt) ? 'sync' : 'group')
  const present = presentOf(turn.course)
  if (!present) {
    if (connection.wantsToSend && peerSpeaks) turn.look('group')
    return
  }
  if (!connection.isChecked) {
    if (hasToSend(turn) && isAllAnswered(turn.course)) turn.look('group')
    return
  }
  if (owesCommit) return commit(turn, present)
  await acknowledgeIfDue(turn)
  askAgain(turn)
}

/** Whether the handshakes that this device lacks may still be on their way. */
function isToWait(doubt: Doubt): boolean {
  return doubt.why === 'behind' && !doubt.isSure
}
