// Own handshakes: beginning a conversation, committing, rejoining, and looking at the relay to decide which.
import { addMember, commitUpdate, createGroup, type Group, members, readKeyPackage, rejoin } from '@sotto/mls'
import { isAllAnswered, type Kept, type Pending, presentOf } from './course.ts'
import { enterEpoch, recent, stopAt } from './epochs.ts'
import type { ClaimedKeyPackage, GroupEvent, RejoinReason } from './events.ts'
import { CLOCK_SKEW_MS, REJOINS_A_DAY } from './limits.ts'
import {
  areTwoSides,
  checkOf,
  openGroupInfo,
  ownDeviceOf,
  ownerOf,
  type Sides,
  sealHandshake,
  unlessRefused,
} from './sides.ts'
import type { Turn } from './turn.ts'

const GROUP_ID_BYTES = 16

interface Made {
  readonly group: Group
  /** The Welcome or commit. */
  readonly payload: Uint8Array
  readonly groupInfo: Uint8Array
}

/** Commits new keys of the own leaf. The commit is pending until the relay has accepted it. */
export async function commit(turn: Turn, present: Kept): Promise<void> {
  const made = await commitUpdate(present.group, turn.around.sides.leaf)
  await makePending(turn, 'commit', present.epoch, { ...made, payload: made.commit }, undefined)
}

async function makePending(
  turn: Turn,
  kind: Pending['kind'],
  leaves: number,
  made: Made,
  reason: RejoinReason | undefined,
): Promise<void> {
  const { sides, random, newId } = turn.around
  const outer = kind === 'begin' ? 'welcome' : kind
  const payload = await sealHandshake(sides, outer, leaves, made.payload, random)
  const groupInfo = await sealHandshake(sides, 'group_info', leaves + 1, made.groupInfo, random)
  turn.change({ pending: { kind, id: newId(), leaves, payload, groupInfo, group: made.group, reason } })
}

/** The relay's answer about its present epoch: decides whether this device is where the relay is. */
export async function onGroup(turn: Turn, event: GroupEvent): Promise<void> {
  const { course } = turn
  const { asked, askedIn } = course.connection
  const present = presentOf(course)
  if (asked !== 'group') return
  turn.connect({ asked: undefined })
  // An answer from before a handshake says nothing about the state after it.
  if (course.pending || course.stop || present?.epoch !== askedIn) return
  turn.connect({ relayEpoch: event.epoch })
  const reason = reasonToJoin(turn, event)
  const isLater = event.epoch > (present?.epoch ?? 0)
  // A message without an answer may be the last one that the relay has: it is asked again after the answer.
  turn.connect({ isChecked: reason !== undefined || (!isLater && isAllAnswered(course)) })
  if (reason) await join(turn, event, reason)
  else if (isLater && course.doubt?.why !== 'behind') beBehind(turn, event.epoch, false)
}

/** Why this device has to join again, if it has to. */
function reasonToJoin(turn: Turn, { epoch, sentSeq }: GroupEvent): RejoinReason | undefined {
  const { course } = turn
  const { doubt } = course
  const present = presentOf(course)
  // The Welcome may still be on its way.
  if (!present) return epoch > 0 && !doubt ? undefined : 'no_state'
  if (doubt && doubt.why !== 'behind') return doubt.why
  if (epoch < present.epoch) {
    turn.tell({ tell: 'relay_went_back' })
    turn.change({ doubt: { why: 'relay_went_back' } })
    return 'relay_went_back'
  }
  if (epoch > present.epoch) return doubt?.isSure && doubt.epoch > present.epoch ? 'behind' : undefined
  turn.change({ doubt: undefined })
  if (sentSeq === undefined || sentSeq <= course.ownSeq || !isAllAnswered(course)) return undefined
  turn.tell({ tell: 'store_behind' })
  turn.change({ doubt: { why: 'store_behind' } })
  return 'store_behind'
}

/** Notes that the relay has a later epoch. */
export function beBehind(turn: Turn, epoch: number, isSure: boolean): void {
  const { doubt } = turn.course
  if (doubt && doubt.why !== 'behind') return
  if (doubt && doubt.epoch >= epoch && (doubt.isSure || !isSure)) return
  turn.change({ doubt: { why: 'behind', epoch: Math.max(epoch, doubt?.epoch ?? 0), isSure } })
}

/** Joins the group of the relay's present epoch, or begins another one if there is none to join. */
async function join(turn: Turn, event: GroupEvent, reason: RejoinReason): Promise<void> {
  const { course, around } = turn
  const { sides } = around
  const isByWord = reason === 'users_word'
  if (!isByWord && recent(course.rejoins.own, turn.now).length >= REJOINS_A_DAY) {
    stopAt(turn, 'own_rejoins')
    return
  }
  const sealed = event.groupInfo
  const groupInfo = sealed && (await openGroupInfo(sides, event.epoch, sealed))
  const made = groupInfo && (await tryToRejoin(sides, groupInfo))
  if (!made) return beginInstead(turn, event.epoch, isByWord)
  if (!isByWord && course.era > 0 && made.replaced !== sides.device) {
    turn.change({ stop: 'displaced' })
    turn.tell({ tell: 'displaced' })
    return
  }
  await makePending(turn, 'rejoin', event.epoch, made, reason)
}

/**
 * Nobody can join the group of this epoch, if there is one. A new group can take its place, in the same order
 * of handshakes. But it would take the conversation from whichever device of this account is in the present
 * one. So a device that was in a group does not begin by itself while it cannot see that.
 */
function beginInstead(turn: Turn, epoch: number, isByWord: boolean): void {
  const { course } = turn
  const { sawFalseGroup } = course.connection
  if (epoch > 0 && !sawFalseGroup) turn.tell({ tell: 'false_group_info' })
  if (epoch === 0 || course.era === 0 || isByWord) return turn.look('key_packages')
  if (sawFalseGroup) return stopAt(turn, 'own_rejoins')
  turn.connect({ sawFalseGroup: true })
  turn.look('group')
}

/** @returns undefined if the group breaks a rule */
async function tryToRejoin(
  sides: Sides,
  groupInfo: Uint8Array,
): Promise<(Made & { replaced: string }) | undefined> {
  let replaced: string | undefined
  const made = await unlessRefused(() =>
    rejoin(
      groupInfo,
      sides.leaf,
      {
        replaces: ({ credential }) => {
          const device = ownDeviceOf(sides, credential)
          replaced ??= device
          return device !== undefined
        },
      },
      checkOf(sides),
    ),
  )
  if (!made || replaced === undefined || !(await areTwoSides(sides, members(made.group)))) return undefined
  return { group: made.group, payload: made.commit, groupInfo: made.groupInfo, replaced }
}

/** Begins a group with a device of the peer, which leaves the epoch that the relay said. */
export async function onKeyPackages(turn: Turn, packages: readonly ClaimedKeyPackage[]): Promise<void> {
  const { course, around } = turn
  const { asked, relayEpoch, askedIn } = course.connection
  if (asked !== 'key_packages') return
  turn.connect({ asked: undefined })
  const present = presentOf(course)
  if (course.pending || course.stop || relayEpoch === undefined || present?.epoch !== askedIn) return
  if (present && !course.doubt) return
  const chosen = await choose(turn, packages)
  if (!chosen) return
  const { sides, random } = around
  const alone = await createGroup(sides.leaf, random(GROUP_ID_BYTES))
  const made = await unlessRefused(() => addMember(alone, chosen, checkOf(sides)))
  if (!made) {
    turn.tell({ tell: 'foreign_key_package' })
    return
  }
  const reason = course.doubt?.why
  await makePending(turn, 'begin', relayEpoch, { ...made, payload: made.welcome }, reason)
}

/** The key package of the peer's device that was certified last. */
async function choose(turn: Turn, packages: readonly ClaimedKeyPackage[]): Promise<Uint8Array | undefined> {
  if (packages.length === 0) turn.tell({ tell: 'no_key_packages' })
  let best: { readonly time: number; readonly package: Uint8Array } | undefined
  for (const claimed of packages) {
    const read = await unlessRefused(() => readKeyPackage(claimed.package))
    const owner = read && (await ownerOf(turn.around.sides, read))
    const isLate = read !== undefined && turn.now > read.notAfter * 1000 + CLOCK_SKEW_MS
    if (owner?.side !== 'peer' || isLate) turn.tell({ tell: 'foreign_key_package' })
    else if (!best || owner.time > best.time) best = { time: owner.time, package: claimed.package }
  }
  return best?.package
}

/** The relay has the pending handshake, as `seq`: its epoch is the present one. */
export function acceptPending(turn: Turn, { kind, leaves, group, reason }: Pending, seq: number): void {
  const { course } = turn
  const isJoin = kind !== 'commit'
  const isRejoin = kind === 'rejoin' || (isJoin && course.era > 0)
  enterEpoch(turn, { epoch: leaves + 1, group, by: 'own', isJoin, owesCommit: false })
  if (!isJoin) return
  turn.change({ joinedAt: seq })
  if (!isRejoin) turn.tell({ tell: 'began' })
  else {
    const { own, peer } = course.rejoins
    turn.change({
      rejoins: { own: reason === 'users_word' ? [] : [...recent(own, turn.now), turn.now], peer },
    })
    turn.tell({ tell: 'rejoined', by: 'own', ...(reason === undefined ? {} : { reason }) })
  }
}
