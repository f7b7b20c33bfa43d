// The transitions of what the relay says, of connections, of time, and of the user's words.
import { presentOf } from '../../../src/secrecy/version-3/course.ts'
import { LOOKS } from '../../../src/secrecy/version-3/limits.ts'
import { asks, epochOf, isAnswer, row, type Taken, type Transition, tells } from './transition.ts'

const isRecord = (taken: Taken): boolean => taken.event.type === 'group' && isAnswer(taken)
/** The epoch of the relay's record. */
const says = ({ event }: Taken): number => (event.type === 'group' ? event.epoch : -1)
const isBehind = ({ before }: Taken): boolean => before.doubt?.why === 'behind'
const begins = ({ before, after }: Taken): boolean => !before.pending && after.pending?.kind === 'begin'
const rejoins = ({ before, after }: Taken): boolean => !before.pending && after.pending?.kind === 'rejoin'
const stopsAt = (stop: string, { before, after }: Taken): boolean =>
  after.stop === stop && before.stop !== stop
const isQuiet = ({ before }: Taken): boolean => !before.doubt && !before.stop && !before.pending
/** A refusal had said the same before the record came: the handshake before it may be on its way. */
const staysUnsure = ({ before: { doubt, stop, pending }, after }: Taken): boolean =>
  doubt?.why === 'behind' && !doubt.isSure && !stop && !pending && after.doubt === doubt
const isSynced = (taken: Taken): boolean => taken.event.type === 'synced'

/** The relay's record, key packages, connections, time and the user. */
export const ofTheRelay: readonly Transition[] = [
  row(
    'no group',
    'the relay’s record has epoch 0',
    'key packages are claimed',
    (taken) =>
      isRecord(taken) && !presentOf(taken.before) && says(taken) === 0 && asks(taken, 'key_packages'),
  ),
  row(
    'no group',
    'the relay’s record has a later epoch',
    'a `sync` first: the Welcome may come after the answer. Then *rejoin*',
    (taken) =>
      isRecord(taken) &&
      !presentOf(taken.before) &&
      !taken.before.doubt &&
      taken.after.doubt?.why === 'behind',
  ),
  row(
    'no group, in doubt',
    'the relay’s record',
    '*rejoin*',
    (taken) => isRecord(taken) && !presentOf(taken.before) && isBehind(taken) && rejoins(taken),
  ),
  row(
    'no group, in doubt',
    'no GroupInfo that can be joined',
    'told; key packages are claimed: a device that was never in a group begins',
    (taken) => isRecord(taken) && !presentOf(taken.before) && tells(taken, 'false_group_info'),
  ),
  row(
    'in a group',
    'the relay’s record has the present epoch',
    'this state is compared, and may send',
    (taken) =>
      isRecord(taken) &&
      isQuiet(taken) &&
      presentOf(taken.before) !== undefined &&
      says(taken) === epochOf(taken.before) &&
      taken.after.connection.isChecked &&
      !taken.after.doubt,
  ),
  row(
    'in a group',
    'the relay has a later message of this account than this state',
    '*store behind*: told',
    (taken) => isRecord(taken) && tells(taken, 'store_behind'),
  ),
  row(
    'in a group',
    'the relay’s record has a later epoch',
    '*behind*, perhaps',
    (taken) =>
      isRecord(taken) &&
      (isQuiet(taken) || staysUnsure(taken)) &&
      presentOf(taken.before) !== undefined &&
      says(taken) > epochOf(taken.before),
  ),
  row('in a group', 'the relay’s record has an earlier epoch', '*relay went back*: told', (taken) =>
    tells(taken, 'relay_went_back'),
  ),
  row(
    'behind',
    'the relay’s record has the present epoch',
    'the doubt ends',
    (taken) =>
      isRecord(taken) &&
      isBehind(taken) &&
      presentOf(taken.before) !== undefined &&
      says(taken) === epochOf(taken.before),
  ),
  row(
    'behind, surely',
    'the relay’s record has a later epoch',
    '*rejoin*',
    (taken) => isRecord(taken) && isBehind(taken) && presentOf(taken.before) !== undefined && rejoins(taken),
  ),
  row(
    'in another doubt',
    'the relay’s record',
    '*rejoin*',
    (taken) => isRecord(taken) && taken.before.doubt !== undefined && !isBehind(taken) && rejoins(taken),
  ),
  row(
    'in doubt',
    'the relay’s record has epoch 0',
    'key packages are claimed: *begin* again',
    (taken) =>
      isRecord(taken) &&
      presentOf(taken.before) !== undefined &&
      says(taken) === 0 &&
      asks(taken, 'key_packages'),
  ),
  row(
    'in doubt',
    'no GroupInfo that can be joined, in an epoch after 0',
    'told, and asked once more',
    (taken) => isRecord(taken) && taken.before.era > 0 && tells(taken, 'false_group_info'),
  ),
  row(
    'in doubt',
    'none again',
    'stop: *own rejoins*. A new group would take the conversation from a device that this one cannot see',
    (taken) => isRecord(taken) && stopsAt('own_rejoins', taken) && taken.before.connection.sawFalseGroup,
  ),
  row(
    'in doubt',
    'the present group’s device of this account is another one',
    'stop: *displaced*',
    (taken) => isRecord(taken) && stopsAt('displaced', taken),
  ),
  row(
    'in doubt',
    'three rejoins in a day',
    'stop: *own rejoins*',
    (taken) => isRecord(taken) && stopsAt('own_rejoins', taken) && !taken.before.connection.sawFalseGroup,
  ),
  row(
    'in doubt, by the user’s word',
    'no GroupInfo that can be joined',
    'key packages are claimed',
    (taken) => isRecord(taken) && taken.before.doubt?.why === 'users_word' && asks(taken, 'key_packages'),
  ),
  row(
    'any',
    'an answer that was not asked for, is from before a handshake, or comes after five looks',
    'nothing',
    changesNothing,
  ),
  row(
    'no group',
    'key packages',
    '*begin*: a Welcome is pending',
    (taken) => taken.event.type === 'key_packages' && begins(taken) && !presentOf(taken.before),
  ),
  row(
    'in doubt',
    'key packages',
    '*begin*: a Welcome of another group is pending',
    (taken) => taken.event.type === 'key_packages' && begins(taken) && presentOf(taken.before) !== undefined,
  ),
  row('any', 'no key package', 'told; asked again later', (taken) => tells(taken, 'no_key_packages')),
  row('any', 'a key package of somebody else, or that is too old', 'told, and not used', (taken) =>
    tells(taken, 'foreign_key_package'),
  ),
  row(
    'any',
    '`unanswered`',
    'asked again, at most five times without a new epoch',
    ({ before, event }) => event.type === 'unanswered' && before.connection.asked !== undefined,
  ),
  row(
    'any',
    'five looks without a new epoch',
    'the relay is looked at no more for ten minutes, or until the next connection',
    ({ before, after, event }) =>
      event.type !== 'down' && before.connection.looks < LOOKS && after.connection.looks === LOOKS,
  ),
  row(
    'any',
    'ten minutes after that',
    'it is looked at again',
    ({ before, after, event }) =>
      event.type !== 'down' && before.connection.looks === LOOKS && after.connection.looks === 1,
  ),
  row('any', '`synced`', 'what waited is known', isSynced),
  row(
    'any',
    '`synced`, and a handshake is pending',
    'it is sent again, with the same bytes',
    (taken) =>
      isSynced(taken) &&
      taken.before.pending !== undefined &&
      taken.step.handshake?.id === taken.before.pending.id,
  ),
  row(
    'any',
    '`synced`, and numbers are missing',
    'told once: *missing*',
    (taken) => isSynced(taken) && tells(taken, 'missing'),
  ),
  row(
    'any',
    '`synced`, `isDoubtful`',
    'the relay’s record is compared again',
    ({ event }) => event.type === 'synced' && event.isDoubtful === true,
  ),
  row(
    'behind, perhaps',
    '`synced`',
    '*behind*, surely',
    (taken) => isSynced(taken) && taken.before.doubt?.why === 'behind' && !taken.before.doubt.isSure,
  ),
  row(
    'no group',
    '`synced` with another incarnation',
    'told; a pending handshake is dropped',
    (taken) => tells(taken, 'relay_restored') && !presentOf(taken.before),
  ),
  row(
    'in a group',
    '`synced` with another incarnation',
    '*relay restored*: told',
    (taken) => tells(taken, 'relay_restored') && presentOf(taken.before) !== undefined,
  ),
  row(
    'handshake pending',
    '`synced` with another incarnation',
    'the handshake is dropped',
    (taken) => tells(taken, 'relay_restored') && taken.before.pending !== undefined,
  ),
  row('any', '`down`', 'what holds for a connection is forgotten', ({ event }) => event.type === 'down'),
  row(
    'any',
    '`peer_speaks`',
    'noted: a message may begin a conversation',
    ({ event }) => event.type === 'peer_speaks',
  ),
  row(
    'in a group that is surely the present one',
    '`call`',
    'nothing: the call can begin',
    ({ before, event }) => event.type === 'call' && isUsable(before),
  ),
  row(
    'no group',
    '`call`',
    'like a message that waits',
    ({ before, event }) => event.type === 'call' && !presentOf(before),
  ),
  row(
    'in a group',
    '`call`, before the relay’s record was compared',
    'the record is asked for',
    (taken) =>
      taken.event.type === 'call' &&
      isQuiet(taken) &&
      presentOf(taken.before) !== undefined &&
      !isUsable(taken.before),
  ),
  row(
    'in doubt, pending or stopped',
    '`call`',
    'it waits',
    (taken) => taken.event.type === 'call' && !isQuiet(taken),
  ),
  row(
    'stopped: displaced',
    '`use_this_device`',
    '*rejoin*',
    ({ before, event }) => event.type === 'use_this_device' && before.stop === 'displaced',
  ),
  row(
    'stopped: own rejoins',
    '`use_this_device`',
    '*rejoin*',
    ({ before, event }) => event.type === 'use_this_device' && before.stop === 'own_rejoins',
  ),
  row(
    'stopped: peer’s rejoins',
    '`allow_rejoins`',
    'a `sync` brings the frame again',
    ({ before, event }) => event.type === 'allow_rejoins' && before.stop === 'peer_rejoins',
  ),
  row(
    'not so stopped',
    '`use_this_device`, `allow_rejoins`',
    'nothing, except that the relay may be looked at again',
    ({ before, event }) =>
      (event.type === 'use_this_device' && before.stop !== 'displaced' && before.stop !== 'own_rejoins') ||
      (event.type === 'allow_rejoins' && before.stop !== 'peer_rejoins'),
  ),
  row('any', '`tick`', 'what is due by the clock', ({ event }) => event.type === 'tick'),
  row(
    'in a group',
    'an earlier epoch ended 30 days ago',
    'its group goes',
    ({ before, after, event }) => event.type === 'tick' && after.groups.length < before.groups.length,
  ),
  row(
    'any',
    'a step without cryptography (`UNAVAILABLE`)',
    'nothing has happened; the event is given again',
    ({ event }) => event.type === 'unavailable',
  ),
]

function isUsable({ connection, doubt, stop, pending, groups }: Taken['before']): boolean {
  return connection.isSynced && connection.isChecked && !doubt && !stop && !pending && groups.length > 0
}

/** An answer, of which nothing comes. */
function changesNothing(taken: Taken): boolean {
  const { before, event, after, step } = taken
  if (event.type !== 'group' && event.type !== 'key_packages' && event.type !== 'unanswered') return false
  if (event.type !== 'unanswered' && !isAnswer(taken)) return true
  const isSame =
    before.doubt === after.doubt && before.stop === after.stop && before.pending === after.pending
  const { isChecked, looks } = before.connection
  const isCompared = isChecked !== after.connection.isChecked && looks < LOOKS
  return isSame && !isCompared && step.notices.length + step.asks.length === 0
}
