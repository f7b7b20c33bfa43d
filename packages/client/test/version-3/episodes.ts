// What rich schedules have between the steps that chance chooses: short stories that lead to situations which
// chance would bring too seldom.
import type { Action, Weather } from './schedule.ts'

type Steps = readonly Action[]

/** The first device of each account. A second one of either is the third device of the model. */
const [A, B, THIRD] = [0, 1, 2]
/** So many rounds: enough for a handshake and some messages. */
const LONG = 9

function does(act: Action['act'], who: number, how = 0): Action {
  return { act, who, how }
}

function times<T>(count: number, ...steps: readonly T[]): readonly T[] {
  return Array.from({ length: count }, () => steps).flat()
}

/** Both connect, and carry out what is due. */
const TALK: Steps = [...times(3, does('run', A, LONG), does('run', B, LONG))]
/** The epoch is older than a day: the next message needs a commit. */
const A_DAY_LATER = does('jump', A, 2)
/** Everything arrives, and the answers are lost. */
const LOSE_ANSWERS = 1
const LIE = {
  drop: 0,
  repeat: 1,
  swap: 2,
  corrupt: 3,
  rename: 4,
  falseGroupInfo: 5,
  staleGroupInfo: 6,
  foreignKeyPackage: 7,
  fork: 8,
  falseStale: 9,
  noGroupInfo: 10,
  lowEpoch: 11,
  highEpoch: 12,
  highSentSeq: 13,
  noSentSeq: 14,
  noKeyPackages: 15,
  acceptedAsStale: 16,
}
const lies = (lie: number): Action => does('any_lie', A, lie)

// Both want to commit at the same moment.
const BOTH_COMMIT: Steps = [...TALK, A_DAY_LATER, does('write', A), does('write', B), ...TALK]
// Messages come too late, because the other side commits. After the first refusal the others are sent twice.
const SENT_TWICE: Steps = [
  ...TALK,
  does('write', A, 2),
  A_DAY_LATER,
  does('write', B),
  does('serve', B),
  does('serve', A),
  does('handle', A),
  does('send_twice', A),
  ...TALK,
]

const CALM: readonly Steps[] = [
  BOTH_COMMIT,
  SENT_TWICE,
  // The relay's record comes, and comes once more.
  [
    ...TALK,
    does('doubtful', A),
    ...times(2, does('serve', A), does('handle', A)),
    does('call', A),
    does('serve', A),
    does('handle', A),
    does('repeat', A),
    ...TALK,
  ],
  // The answer to a commit is lost, and the other side goes on in the epoch after it.
  [
    ...TALK,
    A_DAY_LATER,
    does('write', A),
    does('cut', A, LOSE_ANSWERS),
    ...times(2, does('run', B, LONG)),
    does('write', B, 1),
    does('run', B, LONG),
    ...TALK,
  ],
  // A message is deleted before the other side has got it.
  [
    ...TALK,
    does('cut', B),
    does('write', A, 1),
    does('run', A, LONG),
    does('delete', A),
    does('run', A, LONG),
    ...TALK,
  ],
  [
    ...TALK,
    does('cut', B),
    does('write_many', A, 12),
    ...times(2, does('run', A, LONG)),
    does('crash', A),
    does('write', A),
    ...TALK,
  ],
  [
    ...TALK,
    does('cut', B),
    does('write_many', A, 34),
    ...times(7, does('run', A, LONG)),
    ...times(7, does('run', B, LONG)),
    ...TALK,
  ],
  [...TALK, does('write_many', A, 101), ...times(24, does('run', A, LONG), does('run', B, LONG)), ...TALK],
  [
    does('unanswered', A, 8),
    does('doubtful', A),
    does('write', A),
    ...times(2, does('run', A, LONG)),
    does('tick', A, 2),
    does('call', A),
    ...TALK,
  ],
  [
    ...TALK,
    does('call', A),
    does('call', B),
    does('doubtful', A),
    does('run', A, 0),
    does('call', A),
    ...TALK,
  ],
  // Only an acknowledgement is due a day later.
  [...TALK, does('write', A), ...TALK, A_DAY_LATER, does('tick', B), ...TALK],
]

const REJOIN = [
  does('wipe', B),
  does('run', B, 3),
  does('write', B),
  ...times(3, does('run', B, LONG)),
  does('run', A, LONG),
]
const RESTORE = [
  does('restore_relay', A),
  does('connect', A),
  does('connect', B),
  does('write', A),
  ...times(3, does('run', A, LONG)),
  does('run', B, LONG),
]

const LOSSES: readonly Steps[] = [
  BOTH_COMMIT,
  SENT_TWICE,
  [...TALK, ...times(4, ...REJOIN), does('allow_rejoins', A), ...TALK],
  [...TALK, does('back_up', A), ...times(4, ...RESTORE), does('use_this_device', A), ...TALK],
  // An old copy learns by the relay, or by the other side, that it is one.
  [...TALK, does('copy', A), does('write', A), ...TALK, does('restore_copy', A), does('write', A), ...TALK],
  [
    ...TALK,
    does('copy', A),
    does('write', A, 1),
    ...TALK,
    does('write', B),
    does('run', B, LONG),
    does('restore_copy', A),
    ...TALK,
  ],
  // A lost state had sent the messages that wait in the copy.
  [
    ...TALK,
    does('cut', A),
    does('write', A, 1),
    does('copy', A),
    ...TALK,
    does('write', A),
    ...TALK,
    does('restore_copy', A),
    ...TALK,
  ],
  [
    ...TALK,
    does('second_device', A),
    does('run', THIRD, LONG),
    does('write', THIRD),
    ...times(3, does('run', THIRD, LONG)),
    does('run', B, LONG),
    does('connect', A),
    does('write', A),
    ...times(2, does('run', A, LONG)),
    does('call', A),
    does('use_this_device', A),
    ...TALK,
  ],
  [
    ...TALK,
    A_DAY_LATER,
    does('cut', B),
    does('write', A),
    ...times(2, does('run', A, LONG)),
    does('month', A),
    does('tick', B),
    ...TALK,
  ],
  [
    ...TALK,
    does('cut', B),
    does('write_many', A, 12),
    ...times(3, does('run', A, LONG)),
    does('lose_block', A),
    ...TALK,
  ],
  [
    ...TALK,
    does('cut', B),
    does('write', A, 2),
    ...times(2, does('run', A, LONG)),
    does('withdraw', A),
    does('run', A, LONG),
    ...TALK,
  ],
  [
    ...TALK,
    does('back_up', A),
    A_DAY_LATER,
    does('write', A),
    ...TALK,
    does('restore_silently', A),
    does('write', A),
    ...TALK,
  ],
  [
    ...TALK,
    A_DAY_LATER,
    does('refuse', A, 0),
    does('write', A),
    ...TALK,
    does('refuse', A, 1),
    does('write', A, 2),
    ...TALK,
  ],
  // A handshake is pending when the relay is restored.
  ...times(2, [
    ...TALK,
    does('back_up', A),
    A_DAY_LATER,
    does('write', A),
    does('serve', A),
    does('restore_relay', A),
    ...TALK,
  ]),
]

const LIES: readonly Steps[] = [
  [...TALK, A_DAY_LATER, lies(LIE.fork), does('write', A), does('write', B), ...TALK],
  [...TALK, lies(LIE.falseStale), does('write', A, 2), ...TALK],
  [...TALK, lies(LIE.corrupt), does('write', A), ...TALK, lies(LIE.corrupt), does('write', A), ...TALK],
  // A handshake is lost, and there is no group to join.
  [
    ...TALK,
    A_DAY_LATER,
    does('write', A),
    lies(LIE.drop),
    ...TALK,
    lies(LIE.noGroupInfo),
    does('write', A),
    ...TALK,
    does('use_this_device', B),
    ...TALK,
  ],
  // It cannot see the group that it is in itself, and the other side goes on in it.
  [
    ...TALK,
    lies(LIE.noGroupInfo),
    ...times(2, lies(LIE.corrupt), does('write', A), ...TALK),
    A_DAY_LATER,
    does('write', A),
    ...TALK,
  ],
  [...TALK, does('doubtful', A), lies(LIE.lowEpoch), does('write', A), ...TALK],
  [...TALK, does('doubtful', A), lies(LIE.highEpoch), does('write', A), ...TALK],
  [...TALK, does('doubtful', A), lies(LIE.highSentSeq), does('write', A), ...TALK],
  ...times(2, [...TALK, lies(LIE.swap), does('cut', B), does('write', A, 2), does('run', A, LONG), ...TALK]),
  [...TALK, lies(LIE.rename), does('write', A), ...TALK, lies(LIE.repeat), does('write', A), ...TALK],
  [...TALK, A_DAY_LATER, lies(LIE.corrupt), does('write', A), ...TALK],
]

/** Those which need old copies to be impossible, or a device that lost everything. */
const ONLY_LIES: readonly Steps[] = [
  // The relay withholds its record, so that this device does not see that it has the refused message.
  ...times(4, [
    ...TALK,
    lies(LIE.noSentSeq),
    lies(LIE.acceptedAsStale),
    does('write', A),
    ...TALK,
    does('write', A),
    ...TALK,
  ]),
]
const LOSSES_AND_LIES: readonly Steps[] = [
  // It begins another group, because it was in none and cannot see one.
  ...times(2, [...TALK, does('wipe', B), lies(LIE.noGroupInfo), does('write', B), ...TALK]),
]

const CALM_OPENINGS: readonly Steps[] = [
  [],
  // Both begin at the same moment.
  [
    ...times(2, does('serve', A), does('serve', B), does('handle', A), does('handle', B)),
    does('write', A),
    does('write', B),
    ...TALK,
  ],
  [does('call', A), does('run', A, LONG), does('write', A), ...TALK],
]

const LOSSES_OPENINGS: readonly Steps[] = [
  ...CALM_OPENINGS,
  // The key package of a Welcome is gone.
  [does('write', A), ...times(2, does('run', A, LONG)), does('wipe', B), ...TALK],
  // The relay comes back before anybody had begun.
  [does('back_up', A), does('write', A), ...TALK, does('restore_relay', A), ...TALK],
  [does('back_up', A), does('write', A), does('run', A, 3), does('restore_relay', A), ...TALK],
]

const LIES_OPENINGS: readonly Steps[] = [
  ...CALM_OPENINGS,
  [lies(LIE.foreignKeyPackage), lies(LIE.noKeyPackages), does('write', A), ...TALK],
  [lies(LIE.noKeyPackages), does('write', A), ...TALK, lies(LIE.foreignKeyPackage), ...TALK],
  [lies(LIE.highEpoch), does('write', A), ...TALK],
]

/** The stories of a weather: those for the beginning, and those for the middle. */
export function episodesOf(weather: Weather): {
  readonly openings: readonly Steps[]
  readonly episodes: readonly Steps[]
} {
  const hasLosses = weather === 'losses' || weather === 'all'
  const hasLies = weather === 'lies' || weather === 'all'
  return {
    openings: [...(hasLosses ? LOSSES_OPENINGS : CALM_OPENINGS), ...(hasLies ? LIES_OPENINGS : [])],
    episodes: [
      ...(hasLosses ? LOSSES : []),
      ...(hasLies ? LIES : []),
      ...(hasLosses && hasLies ? LOSSES_AND_LIES : hasLies ? ONLY_LIES : hasLosses ? [] : CALM),
    ],
  }
}
