// Handshakes of the peer: its Welcome, its commits and its rejoins, judged before they count.
import { joinByWelcome, members, type OpenedCommit, open, readWelcome } from '@sotto/mls'
import { type Kept, presentOf } from './course.ts'
import { enterEpoch, recent, stopAt } from './epochs.ts'
import type { FrameEvent, OwnKeyPackage } from './events.ts'
import { beBehind } from './joining.ts'
import { REJOINS_A_DAY } from './limits.ts'
import { areTwoSides, checkOf, isOwnLeaf, openHandshake, ownerOf, unlessRefused } from './sides.ts'
import type { Turn } from './turn.ts'

/** Handles a handshake that the relay accepted after every frame before it. */
export async function receiveHandshake(turn: Turn, frame: FrameEvent): Promise<void> {
  const { course, around } = turn
  const { pending, doubt } = course
  const present = presentOf(course)
  // The peer can leave that epoch only if the relay has the pending handshake. Its `ack` comes first.
  if (pending && frame.epoch > pending.leaves) return turn.leave()
  const isRestored = doubt?.why === 'relay_restored' || doubt?.why === 'relay_went_back'
  if (present && frame.epoch < present.epoch && !isRestored) return passBy(turn, frame)
  const opened = await openHandshake(around.sides, frame.epoch, frame.payload)
  if (!opened) return refuse(turn, frame)
  const { kind, payload } = opened
  if (kind === 'welcome') return receiveWelcome(turn, frame, payload)
  if (frame.epoch !== present?.epoch) return skip(turn, frame)
  return receiveCommit(turn, frame, present, { kind, payload })
}

/** A handshake of an epoch that this device has left: a repetition, or a fork. */
function passBy(turn: Turn, { epoch, seq }: FrameEvent): void {
  const { course } = turn
  turn.noteControl(seq)
  if (course.groups.find((kept) => kept.epoch === epoch + 1)?.by !== 'own') return
  turn.tell({ tell: 'forked' })
  turn.change({ doubt: { why: 'forked' } })
}

/**
 * A handshake that cannot be followed: an earlier one is missing here, or the state. Another device of this
 * account may be the one that it is for. So it is not confirmed before this device has joined.
 */
function skip(turn: Turn, { epoch }: FrameEvent): void {
  turn.leave()
  if (!turn.course.stop) beBehind(turn, epoch + 1, true)
}

/** A handshake that somebody else made, or that breaks a rule. The relay's epoch may be later now. */
function refuse(turn: Turn, { epoch, seq }: FrameEvent): void {
  turn.noteControl(seq)
  turn.tell({ tell: 'false_handshake' })
  beBehind(turn, epoch + 1, true)
}

async function receiveWelcome(turn: Turn, frame: FrameEvent, welcome: Uint8Array): Promise<void> {
  const { course, around } = turn
  const { sides } = around
  const read = await unlessRefused(async () => readWelcome(welcome))
  if (!read) return refuse(turn, frame)
  const found = await findOwn(turn, read.references)
  // Its secrets went with an earlier state of this device.
  if (!found) return skip(turn, frame)
  const isRejoin = course.era > 0
  if (isRejoin && asksUser(turn)) return
  const keys = { ...found.own, leaf: sides.leaf }
  const group = await unlessRefused(() => joinByWelcome(welcome, keys, checkOf(sides)))
  if (!group || !(await areTwoSides(sides, members(group)))) return refuse(turn, frame)
  turn.noteControl(frame.seq)
  turn.keep.push({ keep: 'key_package_used', reference: found.reference })
  enterEpoch(turn, { epoch: frame.epoch + 1, group, by: 'peer', isJoin: true, owesCommit: true })
  if (isRejoin) countRejoin(turn)
  else turn.tell({ tell: 'began' })
}

async function findOwn(
  { around }: Turn,
  references: readonly Uint8Array[],
): Promise<{ readonly own: OwnKeyPackage; readonly reference: Uint8Array } | undefined> {
  // A Welcome for two leaves names one.
  for (const reference of references.slice(0, 1)) {
    const own = await around.findKeyPackage(reference)
    if (own) return { own, reference }
  }
  return undefined
}

async function receiveCommit(
  turn: Turn,
  frame: FrameEvent,
  present: Kept,
  { kind, payload }: { readonly kind: 'commit' | 'rejoin'; readonly payload: Uint8Array },
): Promise<void> {
  const { course, around } = turn
  const opened = await unlessRefused(() => open(present.group, payload, checkOf(around.sides)))
  if (opened?.kind !== 'commit' || !(await isAllowed(turn, opened, kind))) return refuse(turn, frame)
  if (kind === 'rejoin' && asksUser(turn)) return
  turn.noteControl(frame.seq)
  const { owesCommit } = course
  const isJoin = kind === 'rejoin'
  enterEpoch(turn, { epoch: frame.epoch + 1, group: opened.group, by: 'peer', isJoin, owesCommit })
  if (isJoin) countRejoin(turn)
}

/**
 * Whether a commit keeps the rules: it is the peer's, it leaves one leaf of each account, and the own leaf is
 * what it was. A rejoin therefore removed the peer's old leaf and nothing else.
 */
async function isAllowed(
  { around }: Turn,
  { isExternal, before, after, sender }: OpenedCommit,
  kind: 'commit' | 'rejoin',
): Promise<boolean> {
  const { sides } = around
  if (isExternal !== (kind === 'rejoin') || (await ownerOf(sides, sender))?.side !== 'peer') return false
  if (!(await areTwoSides(sides, before)) || !(await areTwoSides(sides, after))) return false
  return [before, after].every((leaves) => leaves.some((leaf) => isOwnLeaf(sides, leaf)))
}

/** Whether the peer has rejoined too often for another time without the user's word. */
function asksUser(turn: Turn): boolean {
  if (recent(turn.course.rejoins.peer, turn.now).length < REJOINS_A_DAY) return false
  stopAt(turn, 'peer_rejoins')
  turn.leave()
  return true
}

function countRejoin(turn: Turn): void {
  const { own, peer } = turn.course.rejoins
  turn.change({ rejoins: { own, peer: [...recent(peer, turn.now), turn.now] } })
  turn.tell({ tell: 'rejoined', by: 'peer' })
}
