// The transitions of what comes from the peer: messages and handshakes.
import { presentOf } from '../../../src/secrecy/version-3/course.ts'
import { enters, epochOf, keeps, row, type Taken, type Transition, tells } from './transition.ts'

type Course = Taken['before']

const isMessage = ({ event }: Taken): boolean => event.type === 'frame' && !event.isHandshake
const isHandshake = ({ event }: Taken): boolean => event.type === 'frame' && event.isHandshake
const epoch = ({ event }: Taken): number => (event.type === 'frame' ? event.epoch : -1)
const isLeft = (taken: Taken): boolean => taken.event.type === 'frame' && taken.step.outcome === 'later'
/** The group of a message, before and after it. */
const groupOf = (course: Course, of: number) => course.groups.find((kept) => kept.epoch === of)
/** Whether the message was opened: its group is another one then. */
const opens = (taken: Taken): boolean => {
  const { before, after } = taken
  const kept = groupOf(before, epoch(taken))
  return isMessage(taken) && kept !== undefined && groupOf(after, epoch(taken))?.group !== kept.group
}
const numbersOf = ({ gaps }: Course): number =>
  gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0)
/** Whether messages of before the step were acknowledged by it. */
const acknowledges = (taken: Taken): boolean =>
  opens(taken) && taken.before.sent.some((each) => each.isAccepted && !taken.after.sent.includes(each))

/** Frames, in the order of `seq`. */
export const ofFrames: readonly Transition[] = [
  row(
    'any',
    'a frame that is known, by the history or the `seq` of controls',
    'confirmed again',
    ({ event, step }) => event.type === 'frame' && step.outcome === 'repeat',
  ),
  row(
    'in a group',
    'a message of the present epoch',
    'shown, with the next state in the same write',
    (taken) => opens(taken) && keeps(taken, 'message') && epoch(taken) === epochOf(taken.before),
  ),
  row(
    'in a group',
    'a message of an epoch that this device has left and the peer had not',
    'shown',
    (taken) => opens(taken) && keeps(taken, 'message') && epoch(taken) < epochOf(taken.before),
  ),
  row(
    'in a group',
    'an acknowledgement',
    'not shown; its `seq` is noted',
    (taken) => opens(taken) && !keeps(taken, 'message') && !keeps(taken, 'unreadable'),
  ),
  row(
    'in a group',
    'the peer’s first message in a later epoch',
    'the groups of earlier epochs go',
    (taken) => opens(taken) && taken.after.groups.length < taken.before.groups.length,
  ),
  row('in a group', 'a message that acknowledges own ones', 'they are forgotten', acknowledges),
  row(
    'in a group',
    'a message that names another one before it than this side has',
    'told: the histories differ',
    (taken) => opens(taken) && tells(taken, 'history_differs'),
  ),
  row(
    'in a group',
    'the peer acknowledges more than this state has sent',
    '*store behind*',
    (taken) => opens(taken) && tells(taken, 'store_behind'),
  ),
  row(
    'in a group',
    'a message after missing ones, live',
    'told once: *missing*',
    (taken) => isMessage(taken) && tells(taken, 'missing'),
  ),
  row(
    'in a group',
    'a message after missing ones, before `synced`',
    'the gap is kept',
    (taken) => isMessage(taken) && numbersOf(taken.after) > numbersOf(taken.before),
  ),
  row(
    'in a group',
    'the deletion of a message that did not arrive',
    'no gap: nothing is told',
    (taken) =>
      isMessage(taken) &&
      !tells(taken, 'missing') &&
      keeps(taken, 'message') &&
      jumps(taken) &&
      numbersOf(taken.after) <= numbersOf(taken.before),
  ),
  row('in a group', 'a message that comes after a later one', 'shown, and told: *out of order*', (taken) =>
    tells(taken, 'out_of_order'),
  ),
  row(
    'in a group',
    'a message of the present epoch that cannot be opened',
    'told, and kept as unreadable',
    (taken) =>
      isMessage(taken) &&
      keeps(taken, 'unreadable') &&
      !opens(taken) &&
      epoch(taken) === epochOf(taken.before),
  ),
  row(
    'in a group',
    'the second one in the epoch',
    '*unreadable*: the two sides are not in the same group',
    ({ before, after, event }) =>
      event.type === 'frame' && after.doubt?.why === 'unreadable' && before.doubt?.why !== 'unreadable',
  ),
  row(
    'in a group',
    'a message that is bound to another place',
    'told, and kept as unreadable',
    (taken) => opens(taken) && keeps(taken, 'unreadable'),
  ),
  row(
    'in a group',
    'a message of an earlier epoch that cannot be opened',
    'told, and kept as unreadable',
    (taken) =>
      isMessage(taken) && keeps(taken, 'unreadable') && !opens(taken) && epoch(taken) < epochOf(taken.before),
  ),
  row(
    'no group',
    'a message or handshake of a later epoch',
    '*behind*, surely: the relay’s record is asked for. It is left unconfirmed until this device has joined: it may be for another one',
    (taken) => isLeft(taken) && !presentOf(taken.before) && !taken.before.pending && !taken.before.stop,
  ),
  row(
    'in a group',
    'a message or handshake of a later epoch',
    '*behind*, surely: frames come in order, so the handshake before it is missing here. It is left unconfirmed',
    (taken) =>
      isLeft(taken) &&
      presentOf(taken.before) !== undefined &&
      !taken.before.pending &&
      !taken.before.stop &&
      !taken.after.stop,
  ),
  row(
    'handshake pending',
    'a frame of the epoch after it',
    'left for the next `sync`: its `ack` comes first',
    (taken) => isLeft(taken) && taken.before.pending !== undefined,
  ),
  row(
    'stopped',
    'a frame of a later epoch',
    'left unconfirmed: it is for the other device, or waits for the user’s word',
    (taken) => isLeft(taken) && taken.before.stop !== undefined,
  ),
  row(
    'no group',
    'Welcome',
    'joined; a commit is pending at once',
    (taken) => isHandshake(taken) && keeps(taken, 'key_package_used') && taken.before.era === 0,
  ),
  row(
    'in a group',
    'Welcome',
    'the peer began again: joined, told as its rejoin',
    (taken) => isHandshake(taken) && keeps(taken, 'key_package_used') && taken.before.era > 0,
  ),
  row(
    'no group',
    'a Welcome whose key package is gone here',
    'left unconfirmed, like a message of a later epoch; *behind*, surely',
    (taken) =>
      isHandshake(taken) &&
      isLeft(taken) &&
      epoch(taken) === 0 &&
      !presentOf(taken.before) &&
      !taken.before.pending,
  ),
  row(
    'in a group',
    'the peer’s commit that leaves the present epoch',
    'judged, then applied',
    (taken) => enters(taken, 'peer') && taken.after.era === taken.before.era,
  ),
  row(
    'in a group',
    'the peer’s rejoin that leaves the present epoch',
    'judged, then applied; told; both count anew',
    (taken) =>
      enters(taken, 'peer') && taken.after.era > taken.before.era && !keeps(taken, 'key_package_used'),
  ),
  row(
    'handshake pending',
    'the peer’s handshake that leaves the same epoch',
    'applied; the own one is dropped, for the relay refuses it',
    (taken) =>
      enters(taken, 'peer') &&
      taken.before.pending !== undefined &&
      taken.after.pending?.id !== taken.before.pending.id,
  ),
  row(
    'in doubt',
    'the peer’s handshake that leaves the present epoch',
    'applied; the doubt ends',
    (taken) => enters(taken, 'peer') && taken.before.doubt !== undefined,
  ),
  row(
    'stopped',
    'the peer’s handshake that leaves the present epoch',
    'applied; it goes on',
    (taken) => enters(taken, 'peer') && taken.before.stop !== undefined,
  ),
  row(
    'in a group',
    'a handshake of a left epoch',
    'a repetition: passed by',
    (taken) =>
      isHandshake(taken) &&
      taken.step.outcome === 'handled' &&
      !tells(taken, 'forked') &&
      !tells(taken, 'false_handshake') &&
      epoch(taken) < epochOf(taken.before) &&
      epochOf(taken.after) === epochOf(taken.before),
  ),
  row('in a group', 'a handshake of an epoch that this device’s own one left', '*forked*: told', (taken) =>
    tells(taken, 'forked'),
  ),
  row(
    'any',
    'a false handshake',
    'told; *behind*, until the relay says that its epoch is the same',
    (taken) => tells(taken, 'false_handshake'),
  ),
  row(
    'in a group',
    'the peer’s fourth rejoin in a day',
    'stop: *peer’s rejoins*; the frame is left unconfirmed',
    ({ before, after, event }) =>
      event.type === 'frame' && after.stop === 'peer_rejoins' && before.stop !== 'peer_rejoins',
  ),
]

/** Whether the message's number is not the next one. */
function jumps(taken: Taken): boolean {
  const kept = groupOf(taken.before, epoch(taken))
  if (!kept) return false
  const numberOf = ({ theirs }: Course): number =>
    theirs.find(({ era }) => era === kept.era)?.chain.number ?? 0
  return numberOf(taken.after) > numberOf(taken.before) + 1
}
