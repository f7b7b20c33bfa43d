// Messages of the peer: opened with the group of their epoch, checked against what came before, and shown
// once.
import { decodeBinding, hashOfMessage } from '@sotto/crypto/version-3'
import { type OpenedMessage, open } from '@sotto/mls'
import { type Chain, type Gap, type Kept, NO_CHAIN, presentOf, theirsOf } from './course.ts'
import { leaveEpochsBefore } from './epochs.ts'
import type { FrameEvent } from './events.ts'
import { receiveHandshake } from './handshakes.ts'
import { beBehind } from './joining.ts'
import { decodeLetter, type Letter } from './letter.ts'
import { GAPS, MOST_MISSING, UNREADABLE_IN_EPOCH } from './limits.ts'
import { acknowledged } from './sending.ts'
import { checkOf, isSame, ownerOf, unlessRefused } from './sides.ts'
import type { Turn } from './turn.ts'

/** What an opened message says. */
interface Read {
  readonly letter: Letter
  readonly hash: Uint8Array
  readonly previous: Uint8Array | undefined
  readonly seen: Uint8Array | undefined
}

/** Handles a frame of the peer, in the order of `seq`. */
export async function receive(turn: Turn, frame: FrameEvent): Promise<void> {
  if (frame.isKnown || turn.course.controls.includes(frame.seq)) turn.outcome = 'repeat'
  else if (frame.isHandshake) await receiveHandshake(turn, frame)
  else await receiveMessage(turn, frame)
}

async function receiveMessage(turn: Turn, frame: FrameEvent): Promise<void> {
  const { course } = turn
  const present = presentOf(course)
  const kept = course.groups.find(({ epoch }) => epoch === frame.epoch)
  if (kept) return openMessage(turn, frame, kept)
  if (present && frame.epoch < present.epoch) return showUnreadable(turn, frame)
  // The epoch of the pending handshake: its `ack` comes first. Or one that this device has to join.
  if (!course.pending && !course.stop) beBehind(turn, frame.epoch, true)
  turn.leave()
}

async function openMessage(turn: Turn, frame: FrameEvent, kept: Kept): Promise<void> {
  const opened = await unlessRefused(() => open(kept.group, frame.payload, checkOf(turn.around.sides)))
  if (opened?.kind !== 'message') {
    showUnreadable(turn, frame)
    if (kept === presentOf(turn.course)) countUnreadable(turn)
    return
  }
  const { course } = turn
  const { group } = opened
  turn.change({ groups: course.groups.map((each) => (each === kept ? { ...kept, group } : each)) })
  leaveEpochsBefore(turn, kept.epoch)
  const read = await readMessage(turn, frame, opened)
  if (!read) return showUnreadable(turn, frame)
  follow(turn, kept, read)
  if (kept.era === course.era) acknowledged(turn, read.letter.seen, read.seen ?? NO_CHAIN.hash)
  if (read.letter.kind === 'acknowledgement') return turn.noteControl(frame.seq)
  const { body, resends } = read.letter
  turn.keep.push({
    ...{ keep: 'message', id: frame.id, seq: frame.seq, body },
    ...(resends === undefined ? {} : { resends }),
  })
  const { owed } = turn.course
  turn.change({ owed: { since: owed?.since ?? turn.now, count: (owed?.count ?? 0) + 1 } })
}

/**
 * What an opened message says; undefined if it is not the peer's, is bound to another place, or is no letter.
 */
async function readMessage(
  { around }: Turn,
  { id: messageId, payload }: FrameEvent,
  message: OpenedMessage,
): Promise<Read | undefined> {
  const { sides } = around
  if ((await ownerOf(sides, message.sender))?.side !== 'peer') return undefined
  const { conversationId, own: recipient, peer: sender } = sides
  const context = { conversationId, messageId, sender, recipient }
  const place = await unlessRefused(() => decodeBinding(message.authenticatedData, context))
  const letter = decodeLetter(message.plaintext)
  if (!place || !letter) return undefined
  return { letter, hash: await hashOfMessage(payload), previous: place.previous, seen: place.seen }
}

/** Compares a message with the peer's messages before it: what is missing, late, or different. */
function follow(turn: Turn, { era }: Kept, { letter, hash, previous = NO_CHAIN.hash }: Read): void {
  const { course } = turn
  const before = theirsOf(course, era)
  const { number } = letter
  const left = course.gaps.flatMap((gap) => withoutNumbers(gap, era, [number, ...letter.deletes]))
  if (number <= before.number) {
    turn.change({ gaps: left })
    turn.tell({ tell: 'out_of_order' })
    return
  }
  if (number === before.number + 1 && !isSame(previous, before.hash)) turn.tell({ tell: 'history_differs' })
  const first = before.number + 1
  const missing = number > first ? [{ era, first, last: number - 1 }] : []
  const gaps = missing.flatMap((gap) => withoutNumbers(gap, era, letter.deletes))
  const chain: Chain = { number, hash }
  turn.change({
    gaps: [...left, ...gaps],
    theirs: [...course.theirs.filter((each) => each.era !== era), { era, chain }],
  })
  // A deletion that explains a gap may follow in the backlog.
  if (course.connection.isSynced || turn.course.gaps.length > GAPS) tellGaps(turn)
}

/** Tells what is missing for good, once. */
export function tellGaps(turn: Turn): void {
  const { gaps } = turn.course
  const count = gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  if (count === 0) return
  turn.change({ gaps: [] })
  turn.tell({ tell: 'missing', count: Math.min(count, MOST_MISSING) })
}

/** What is left of a gap. */
function withoutNumbers(gap: Gap, era: number, numbers: readonly number[]): readonly Gap[] {
  if (gap.era !== era) return [gap]
  const { last } = gap
  const left: Gap[] = []
  let { first } = gap
  for (const number of numbers.toSorted((a, b) => a - b)) {
    if (number < first || number > last) continue
    if (number > first) left.push({ era, first, last: number - 1 })
    first = number + 1
  }
  return first <= last ? [...left, { era, first, last }] : left
}

function showUnreadable(turn: Turn, { id, seq }: FrameEvent): void {
  turn.keep.push({ keep: 'unreadable', id, seq })
  turn.tell({ tell: 'unreadable', id })
}

/** Several unreadable messages in the present epoch mean that the two sides are not in the same group. */
function countUnreadable(turn: Turn): void {
  const unreadableInEpoch = turn.course.unreadableInEpoch + 1
  turn.change({ unreadableInEpoch })
  if (unreadableInEpoch < UNREADABLE_IN_EPOCH) return
  turn.doubt('unreadable')
}
