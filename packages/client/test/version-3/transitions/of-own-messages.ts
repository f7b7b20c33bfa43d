// The transitions of own messages: encrypted, accepted, refused, acknowledged, and sent again.

import { isSettled, presentOf } from '../../../src/secrecy/version-3/course.ts'
import { ACKNOWLEDGE_EVERY, MESSAGES_IN_EPOCH } from '../../../src/secrecy/version-3/limits.ts'
import { keeps, row, type Taken, type Transition, tells } from './transition.ts'

type Course = Taken['before']

const waits = ({ event, step }: Taken): boolean => event.type === 'send' && step.outcome === 'later'
const leaves = ({ event, step }: Taken): boolean =>
  event.type === 'send' && step.keep.some(({ keep }) => keep === 'ciphertext')
const isPending = (kind: string, { before, event }: Taken): boolean =>
  'id' in event && before.pending?.id === event.id && before.pending.kind === kind
/** The own message that an answer is about. */
const named = ({ before, event }: Taken): Course['sent'][number] | undefined =>
  'id' in event ? before.sent.find(({ id, isAccepted }) => id === event.id && !isAccepted) : undefined
const isAbout = (taken: Taken, type: 'accepted' | 'stale' | 'failed'): boolean =>
  taken.event.type === type && named(taken) !== undefined
const commits = ({ before, after }: Taken): boolean => !before.pending && after.pending?.kind === 'commit'
const isOld = ({ before, after }: Taken): boolean => {
  const present = presentOf(before)
  return present !== undefined && after.pending !== undefined && before.sentInEpoch < MESSAGES_IN_EPOCH
}

/** Sending, and the relay's answers. */
export const ofOwnMessages: readonly Transition[] = [
  row(
    'any',
    'a message to send that has its bytes',
    'nothing: a repetition',
    ({ event, step }) => event.type === 'send' && step.outcome === 'repeat',
  ),
  row('any', 'a repetition that is needed no more', 'taken out of the outbox', (taken) =>
    keeps(taken, 'needless'),
  ),
  row(
    'no group',
    'a message to send',
    'it waits; the relay’s record is asked for. Then *begin* with a claimed key package, or *rejoin* by the GroupInfo',
    (taken) => waits(taken) && !presentOf(taken.before) && !taken.before.pending && !taken.before.stop,
  ),
  row(
    'in a group',
    'a message to send, before the relay’s record was compared',
    'it waits for the record',
    (taken) => waits(taken) && isIdle(taken.before) && !isSettled(taken.before),
  ),
  row(
    'in a group',
    'a message to send, before an earlier one has the answer that it needs',
    'it waits',
    (taken) => waits(taken) && isSettled(taken.before) && !taken.after.pending,
  ),
  row('in a group', 'a message to send', 'encrypted, and kept with the state', leaves),
  row(
    'in a group',
    'a repetition to send',
    'encrypted, with the id that it repeats',
    (taken) => leaves(taken) && taken.event.type === 'send' && taken.event.resends !== undefined,
  ),
  row(
    'in a group',
    'the deletion of a message that is not acknowledged',
    'encrypted, with the number of that message',
    (taken) => {
      const { before, event } = taken
      if (!leaves(taken) || event.type !== 'send' || event.deletes === undefined) return false
      return before.sent.some(
        (each) => (each.resends ?? each.id) === event.deletes && each.era === before.era,
      )
    },
  ),
  row(
    'in a group',
    'a message to send in an epoch older than a day, or before the commit that a Welcome asks for',
    'a commit first',
    (taken) => taken.event.type === 'send' && commits(taken) && isOld(taken),
  ),
  row(
    'in a group',
    'a message to send after 100 own ones in the epoch',
    'a commit first',
    (taken) => taken.event.type === 'send' && commits(taken) && taken.before.sentInEpoch >= MESSAGES_IN_EPOCH,
  ),
  row(
    'handshake pending',
    'a message to send',
    'it waits',
    (taken) => waits(taken) && taken.before.pending !== undefined,
  ),
  row(
    'in doubt',
    'a message to send',
    'it waits',
    (taken) =>
      waits(taken) && taken.before.doubt !== undefined && !taken.before.pending && !taken.before.stop,
  ),
  row(
    'stopped',
    'a message to send',
    'it waits for the user’s word',
    (taken) => waits(taken) && taken.before.stop !== undefined,
  ),
  row(
    'handshake pending',
    '`accepted`, of a beginning',
    'the epoch after it is present, and both count anew',
    (taken) => taken.event.type === 'accepted' && isPending('begin', taken),
  ),
  row(
    'handshake pending',
    '`accepted`, of a commit',
    'the epoch after it is present',
    (taken) => taken.event.type === 'accepted' && isPending('commit', taken),
  ),
  row(
    'handshake pending',
    '`accepted`, of a rejoin',
    'the epoch after it is present, and both count anew',
    (taken) => taken.event.type === 'accepted' && isPending('rejoin', taken),
  ),
  row(
    'handshake pending',
    '`accepted`, with frames that were left',
    'a `sync` brings them again',
    ({ before, event, step }) =>
      event.type === 'accepted' &&
      before.pending?.id === event.id &&
      before.connection.hasLeft &&
      step.asks.some(({ ask }) => ask === 'sync'),
  ),
  row(
    'handshake pending',
    '`stale`',
    'it is dropped',
    (taken) => taken.event.type === 'stale' && taken.before.pending?.id === taken.event.id,
  ),
  row('handshake pending', '`failed`', 'it is dropped and told', (taken) => tells(taken, 'handshake_failed')),
  row(
    'in a group',
    '`accepted`, of a message',
    'it waits for the peer’s acknowledgement',
    (taken) => isAbout(taken, 'accepted') && named(taken)?.isHidden === false,
  ),
  row(
    'in a group',
    '`accepted`, of an acknowledgement',
    'nothing is left of it',
    (taken) => isAbout(taken, 'accepted') && named(taken)?.isHidden === true,
  ),
  row(
    'in a group',
    '`accepted`, of a repetition',
    'what it repeats is forgotten',
    (taken) =>
      isAbout(taken, 'accepted') &&
      named(taken)?.resends !== undefined &&
      named(taken)?.era === taken.before.era,
  ),
  row(
    'in a group',
    '`accepted`, of the first message after an own join',
    'the others leave together',
    ({ before, after, event }) =>
      event.type === 'accepted' &&
      before.joinedAt !== undefined &&
      after.joinedAt === undefined &&
      !before.pending,
  ),
  row(
    'in a group',
    '`accepted`, with a `seq` before the own join',
    'a lost state had sent it: the number is free, and it is sent again',
    (taken) => {
      const { before, event } = taken
      if (event.type !== 'accepted' || before.joinedAt === undefined) return false
      return named(taken)?.era === before.era && event.seq < before.joinedAt
    },
  ),
  row(
    'in a group',
    '`accepted`, of a message that lost its number',
    'the relay lied: told; *forked*',
    (taken) => isAbout(taken, 'accepted') && named(taken)?.number === 0,
  ),
  row(
    'any',
    '`accepted`, of what this state does not wait for',
    'only its `seq` is noted',
    (taken) =>
      taken.event.type === 'accepted' &&
      named(taken) === undefined &&
      taken.before.pending?.id !== taken.event.id,
  ),
  row(
    'in a group',
    '`stale`, of a message',
    'encrypted again in the next epoch, with the same number',
    (taken) => isAbout(taken, 'stale') && keeps(taken, 'ciphertext_gone'),
  ),
  row(
    'in a group',
    '`stale`, of a message before others',
    'the others lose their numbers, and keep their bytes until each is refused',
    ({ before, after, event }) =>
      event.type === 'stale' &&
      after.sent.some(
        ({ id, number }) => number === 0 && before.sent.some((each) => each.id === id && each.number !== 0),
      ),
  ),
  row(
    'in a group',
    '`stale`, of earlier bytes that were sent twice',
    'nothing',
    ({ before, event }) =>
      event.type === 'stale' && before.sent.some(({ id, epoch }) => id === event.id && epoch === event.epoch),
  ),
  row(
    'any',
    '`stale`, with a later epoch',
    '*behind*, perhaps: a `sync` first, because the handshake may be on its way',
    ({ before, after, event }) => event.type === 'stale' && after.doubt?.why === 'behind' && !before.doubt,
  ),
  row(
    'any',
    '`stale`, with an earlier epoch, or with the one that the handshake leaves',
    'the relay went back or lies: its record is compared before the next handshake',
    ({ before, after, event }) =>
      event.type === 'stale' && before.connection.isChecked && !after.connection.isChecked,
  ),
  row(
    'any',
    '`stale` or `failed`, of what this state does not wait for',
    'its bytes in the outbox go; nothing else',
    (taken) =>
      (taken.event.type === 'stale' || taken.event.type === 'failed') &&
      !taken.before.sent.some((each) => 'id' in taken.event && each.id === taken.event.id) &&
      taken.before.pending?.id !== taken.event.id,
  ),
  row('in a group', '`failed`, of the last message', 'its number is free again', (taken) => {
    const last = taken.before.sent.at(-1)
    return isAbout(taken, 'failed') && last?.isAccepted === false && last === named(taken)
  }),
  row(
    'in a group',
    '`failed`, of another message',
    'forgotten; the peer tells a gap',
    ({ before, event }) =>
      event.type === 'failed' &&
      before.sent.some(
        ({ id }, i) => id === event.id && (i < before.sent.length - 1 || before.sent[i]?.isAccepted === true),
      ),
  ),
  row(
    'in a group',
    'content was received, and ten seconds went by',
    'an acknowledgement',
    (taken) => sendsAcknowledgement(taken) && (taken.before.owed?.count ?? 0) < ACKNOWLEDGE_EVERY,
  ),
  row(
    'in a group',
    '32 contents were received',
    'an acknowledgement',
    ({ before, after, event, step }) =>
      event.type !== 'send' &&
      hidden(step) &&
      Math.max(before.owed?.count ?? 0, after.owed?.count ?? 0) + 1 >= ACKNOWLEDGE_EVERY,
  ),
  row(
    'in a group',
    'an acknowledgement is due in an epoch older than a day',
    'a commit first',
    (taken) => taken.event.type !== 'send' && commits(taken) && isOld(taken),
  ),
  row(
    'in a group',
    'own messages from before a join have no acknowledgement',
    'they are sent again, at most 100 a minute, each once',
    ({ step }) => step.asks.some(({ ask }) => ask === 'again'),
  ),
  row(
    'any',
    'an own message is 30 days old',
    'it is sent again no more',
    ({ before, after, event }) => event.type === 'tick' && after.sent.length < before.sent.length,
  ),
  row(
    'in a group',
    '192 own messages without an acknowledgement',
    'a block of them is stored by itself',
    ({ blocks }) => blocks.after.some(({ number }) => !blocks.before.some((each) => each.number === number)),
  ),
  row(
    'in a group',
    'a message of a block goes',
    'the rest returns to the state, and the block is removed',
    ({ blocks }) => blocks.before.some(({ number }) => !blocks.after.some((each) => each.number === number)),
  ),
  row('any', 'a start', 'the stored state is read', ({ event }) => event.type === 'loaded'),
  row(
    'any',
    'a start with blocks',
    'they are read',
    ({ event }) => event.type === 'loaded' && event.blocks > 0,
  ),
  row(
    'any',
    'a start with a block that cannot be read',
    'its messages are lost, and no others',
    ({ event }) => event.type === 'loaded' && event.lost > 0,
  ),
]

function isIdle({ doubt, stop, pending, groups }: Course): boolean {
  return groups.length > 0 && !doubt && !stop && !pending
}

function hidden(step: Taken['step']): boolean {
  return step.keep.some((each) => each.keep === 'ciphertext' && each.isHidden)
}

function sendsAcknowledgement({ event, step }: Taken): boolean {
  return event.type !== 'send' && hidden(step)
}
