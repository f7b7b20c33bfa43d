// Entering an epoch, and what is kept of earlier ones.
import { epochOf, forgetEpochs, type Group, members } from '@sotto/mls'
import { type Kept, NO_CHAIN, newCourse, presentOf, type Stop } from './course.ts'
import { KEEP_MS, OLD_EPOCHS, REJOINS_COUNT_MS } from './limits.ts'
import { areOfAccounts } from './sides.ts'
import type { Turn } from './turn.ts'

interface Entry {
  readonly epoch: number
  readonly group: Group
  readonly by: Kept['by']
  /** Whether a side joined, so that both count their messages anew. */
  readonly isJoin: boolean
  readonly owesCommit: boolean
}

/**
 * Makes an epoch the present one. After the peer's own handshake nothing of the peer can come in an earlier
 * epoch, so these are dropped at once; after an own one, messages that the peer sent before may still come.
 */
export function enterEpoch(turn: Turn, { epoch, group, by, isJoin, owesCommit }: Entry): void {
  const { course, now } = turn
  const era = isJoin ? course.era + 1 : course.era
  const older = course.groups
    .filter((kept) => by === 'own' && kept.epoch < epoch)
    .map((kept): Kept => ({ ...kept, endedAt: kept.endedAt ?? now }))
    .slice(-OLD_EPOCHS)
  const { pending } = course
  // The group that the epoch before has of its own is kept, so this one need not hold its keys as well.
  const alone = forgetEpochs(group, epochOf(group))
  turn.change({
    groups: [...older, { epoch, group: alone, since: now, endedAt: undefined, by, era }],
    pending: pending && pending.leaves >= epoch ? pending : undefined,
    ...{ doubt: undefined, stop: undefined, era, owesCommit, sentInEpoch: 0, unreadableInEpoch: 0 },
    own: isJoin ? NO_CHAIN : course.own,
    joinedAt: isJoin ? undefined : course.joinedAt,
    sent: course.sent.filter((each) => !(each.isHidden && each.isAccepted)),
  })
  forgetEras(turn)
  turn.connect({ looks: 0, sawFalseGroup: false, askedAgain: isJoin ? [] : course.connection.askedAgain })
}

/** Drops the groups before this epoch: the peer has left them. */
export function leaveEpochsBefore(turn: Turn, epoch: number): void {
  const { groups } = turn.course
  if (groups.every((kept) => kept.epoch >= epoch)) return
  turn.change({ groups: groups.filter((kept) => kept.epoch >= epoch) })
  forgetEras(turn)
}

/** Drops the counts of the peer's messages that no kept group has any more. */
function forgetEras(turn: Turn): void {
  const { groups, theirs, era } = turn.course
  const eras = new Set([era, ...groups.map((kept) => kept.era)])
  if (theirs.every((each) => eras.has(each.era))) return
  turn.change({ theirs: theirs.filter((each) => eras.has(each.era)) })
}

/** Only the user's word goes on from here. */
export function stopAt(turn: Turn, stop: Exclude<Stop, 'displaced'>): void {
  if (turn.course.stop === stop) return
  turn.change({ stop })
  turn.tell({ tell: 'asks', of: stop })
}

/** The rejoins that still count. */
export function recent(times: readonly number[], now: number): readonly number[] {
  return times.filter((time) => now - time < REJOINS_COUNT_MS)
}

/** Drops what is too old. A time that the clock has not reached, because it was set back, becomes now. */
export function dropOld(turn: Turn): void {
  const { course, now } = turn
  const past = (time: number): number => Math.min(time, now)
  const last = course.groups.at(-1)
  const groups = course.groups
    .map(
      (kept): Kept => ({
        ...kept,
        since: past(kept.since),
        endedAt: kept.endedAt === undefined ? undefined : past(kept.endedAt),
      }),
    )
    .filter((kept, i) => i === course.groups.length - 1 || now - (kept.endedAt ?? now) < KEEP_MS)
  const { own, peer } = course.rejoins
  turn.change({
    groups: last ? groups : [],
    sent: course.sent.filter((each) => !each.isAccepted || now - each.at < KEEP_MS),
    owed: course.owed && { ...course.owed, since: past(course.owed.since) },
    rejoins: { own: recent(own.map(past), now), peer: recent(peer.map(past), now) },
  })
  forgetEras(turn)
}

/**
 * Takes the contact's keys as they are now. If they are others than before, because the user has replaced
 * them, the device leaves the group with the former ones: who has those reads nothing from now on, and
 * messages that were meant for them are not sent again. A message that the relay has not answered is
 * encrypted anew. The device may look at the relay again.
 */
export function takeKeys(turn: Turn): void {
  const { course, around } = turn
  const { sides } = around
  if (course.connection.sides === sides) return
  turn.connect({ sides, looks: 0, sawFalseGroup: false })
  const groups = [presentOf(course)?.group, course.pending?.group]
  if (groups.every((group) => !group || areOfAccounts(sides, members(group)))) return
  for (const { id, isAccepted } of course.sent)
    if (!isAccepted) turn.keep.push({ keep: 'ciphertext_gone', id })
  const { incarnation, ownSeq, controls, rejoins } = course
  turn.change({
    ...newCourse(),
    ...{ incarnation, ownSeq, controls, rejoins: { own: rejoins.own, peer: [] } },
    connection: {
      ...turn.course.connection,
      ...{ isChecked: false, askedIn: undefined, sentHandshake: undefined, askedAgain: [] },
    },
  })
}
