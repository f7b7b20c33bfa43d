// The limits of a conversation's course under crypto_v 3. Times are in milliseconds.

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** A device commits before its first message in an epoch that is older than this. */
export const EPOCH_AGE_MS = DAY_MS
/** A device commits before its next message when it has sent so many in an epoch. */
export const MESSAGES_IN_EPOCH = 100
/** Old epochs, and own messages without an acknowledgement, are kept so long. */
export const KEEP_MS = 30 * DAY_MS
/** How many of them are kept. Messages of the peer can only be under way in the last ones. */
export const OLD_EPOCHS = 3
/** How many rejoins of a side go on by themselves in a day. The next one asks the user. */
export const REJOINS_A_DAY = 3
export const REJOINS_COUNT_MS = DAY_MS
/** How often a device looks at the relay (group, key packages, `sync`) without getting on. */
export const LOOKS = 5
/** After this time on one connection it may look as often again. */
export const LOOKS_AGAIN_MS = 10 * MINUTE_MS
/** What was received is acknowledged by a message of its own after this time, or this many messages. */
export const ACKNOWLEDGE_AFTER_MS = 10_000
export const ACKNOWLEDGE_EVERY = 32
/** How many messages are sent again in a minute after a rejoin. */
export const RESENDS = 100
export const RESENDS_COUNT_MS = MINUTE_MS
/** After so many unreadable messages in the present epoch the two sides have different groups. */
export const UNREADABLE_IN_EPOCH = 2
/**
 * How many received frames without a message of the history are remembered: more than are stored before the
 * first of them is confirmed.
 */
export const CONTROLS = 512
/** How many gaps in the peer's messages wait to be explained. */
export const GAPS = 64
/** How many numbers a letter deletes at most. Ours deletes one: a message has one number in each era. */
export const DELETES = 128
/** So many missing messages are told at most: the sender chooses the numbers that they are counted by. */
export const MOST_MISSING = 10_000
/** A key package of a clock that is wrong by less than this is taken. */
export const CLOCK_SKEW_MS = DAY_MS
