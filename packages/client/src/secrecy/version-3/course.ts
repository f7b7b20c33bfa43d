// The state of a conversation under crypto_v 3.
import { MESSAGE_HASH_BYTES } from '@sotto/crypto/version-3'
import type { Group } from '@sotto/mls'
import type { RejoinReason } from './events.ts'
import type { Sides } from './sides.ts'

/** The group of one epoch of the relay. */
export interface Kept {
  /** The relay's epoch. */
  readonly epoch: number
  readonly group: Group
  /** When this device entered it. */
  readonly since: number
  /** When a later epoch took its place. */
  readonly endedAt: number | undefined
  /** Whose handshake began it. */
  readonly by: 'own' | 'peer'
  /** Counts the joins of either side, here on this device. */
  readonly era: number
}

/** A handshake that the relay has not answered. `group` is that of the epoch after it. */
export interface Pending {
  readonly kind: 'begin' | 'commit' | 'rejoin'
  readonly id: string
  /** The relay's epoch that it leaves. */
  readonly leaves: number
  readonly payload: Uint8Array
  readonly groupInfo: Uint8Array
  readonly group: Group
  /** Why it rejoins. */
  readonly reason: RejoinReason | undefined
}

/** The last of a side's messages since a join: their count, and the hash of the last one. */
export interface Chain {
  readonly number: number
  readonly hash: Uint8Array
}

/** An own message that the peer has not acknowledged. */
export interface Sent {
  readonly id: string
  /** The message of the history that it repeats; undefined if it is that message itself. */
  readonly resends: string | undefined
  readonly number: number
  readonly era: number
  readonly epoch: number
  /** The first bytes of its hash. */
  readonly mark: Uint8Array
  /** The hash before it, until the relay has accepted it: it may have to be encrypted again. */
  readonly previous: Uint8Array | undefined
  readonly isAccepted: boolean
  /** An acknowledgement, or what else is not sent again after a join. */
  readonly isHidden: boolean
  /** When the message was first encrypted. */
  readonly at: number
}

/** The peer's messages since a join. */
export interface Theirs {
  readonly era: number
  readonly chain: Chain
}

/** Numbers of the peer's messages that did not arrive, from `first` to `last`. */
export interface Gap {
  readonly era: number
  readonly first: number
  readonly last: number
}

/**
 * Why the present group must not be used to send. `behind` says which epoch the relay has at least; it is
 * `isSure` once every frame before that was given to the course.
 */
export type Doubt =
  | { readonly why: 'behind'; readonly epoch: number; readonly isSure: boolean }
  | { readonly why: Exclude<RejoinReason, 'behind' | 'no_state'> }

/** Only the user's word goes on from here. */
export type Stop = 'displaced' | 'own_rejoins' | 'peer_rejoins'

/** What holds for the present connection only and is not stored. */
export interface Connection {
  /** The accounts of the last step. */
  readonly sides: Sides | undefined
  readonly isSynced: boolean
  /** Whether the relay's record of this conversation was compared with this state since it was loaded. */
  readonly isChecked: boolean
  readonly asked: 'sync' | 'group' | 'key_packages' | undefined
  /** The present epoch of this state when it asked. */
  readonly askedIn: number | undefined
  /** The relay's epoch, as its last answer said. */
  readonly relayEpoch: number | undefined
  /** Whether the relay has given no group that can be joined. */
  readonly sawFalseGroup: boolean
  readonly looks: number
  readonly looksSince: number
  /** The handshake that was sent on this connection. */
  readonly sentHandshake: string | undefined
  /** Whether frames were left for the next `sync`. */
  readonly hasLeft: boolean
  /** Whether a message waits to be sent. */
  readonly wantsToSend: boolean
  /** The messages that were asked for again. */
  readonly askedAgain: readonly string[]
}

/** The state of a conversation. Every step makes a new one. */
export interface Course {
  /** Whether the peer announced version 3. */
  readonly peerSpeaks: boolean
  readonly incarnation: string | undefined
  /** In rising epochs; the last is the present one. */
  readonly groups: readonly Kept[]
  readonly pending: Pending | undefined
  readonly doubt: Doubt | undefined
  readonly stop: Stop | undefined
  readonly era: number
  /** Joined by a Welcome, and has not committed since. */
  readonly owesCommit: boolean
  readonly sentInEpoch: number
  readonly unreadableInEpoch: number
  readonly own: Chain
  /** In the order of encryption. */
  readonly sent: readonly Sent[]
  readonly theirs: readonly Theirs[]
  readonly gaps: readonly Gap[]
  /** Received content that was not acknowledged yet. */
  readonly owed: { readonly since: number; readonly count: number } | undefined
  /** The `seq` of the last own message or handshake that the relay accepted. */
  readonly ownSeq: number
  /**
   * The `seq` of the own join that began this era, until the relay has accepted a message after it. Until
   * then messages leave one by one: a state that was lost may have sent them before under the same ids.
   */
  readonly joinedAt: number | undefined
  /** The `seq` of the last received frames that left nothing in the history. */
  readonly controls: readonly number[]
  /** When each side rejoined, as far as it counts. */
  readonly rejoins: { readonly own: readonly number[]; readonly peer: readonly number[] }
  readonly resends: { readonly since: number; readonly count: number }
  readonly connection: Connection
}

export const NO_CHAIN: Chain = { number: 0, hash: new Uint8Array(MESSAGE_HASH_BYTES) }

const NO_CONNECTION: Connection = {
  sides: undefined,
  isSynced: false,
  isChecked: false,
  asked: undefined,
  askedIn: undefined,
  relayEpoch: undefined,
  sawFalseGroup: false,
  looks: 0,
  looksSince: 0,
  sentHandshake: undefined,
  hasLeft: false,
  wantsToSend: false,
  askedAgain: [],
}

/** The state of a conversation of which this device knows nothing. */
export function newCourse(): Course {
  return {
    peerSpeaks: false,
    incarnation: undefined,
    groups: [],
    pending: undefined,
    doubt: undefined,
    stop: undefined,
    era: 0,
    owesCommit: false,
    sentInEpoch: 0,
    unreadableInEpoch: 0,
    own: NO_CHAIN,
    sent: [],
    theirs: [],
    gaps: [],
    owed: undefined,
    ownSeq: 0,
    joinedAt: undefined,
    controls: [],
    rejoins: { own: [], peer: [] },
    resends: { since: 0, count: 0 },
    connection: NO_CONNECTION,
  }
}

/** The connection of a state that was just loaded, or whose connection was lost. */
export function withoutConnection({ isChecked }: Connection = NO_CONNECTION): Connection {
  return { ...NO_CONNECTION, isChecked }
}

/** The group of the present epoch. */
export function presentOf({ groups }: Course): Kept | undefined {
  return groups.at(-1)
}

/** The peer's messages of an era. */
export function theirsOf({ theirs }: Course, era: number): Chain {
  return theirs.find((each) => each.era === era)?.chain ?? NO_CHAIN
}

/** Whether the relay has answered each message that was encrypted: only then is its last one known here. */
export function isAllAnswered({ sent }: Course): boolean {
  return sent.every(({ isAccepted }) => isAccepted)
}

/** Whether the present group is surely the relay's, and no handshake is under way. */
export function isSettled(course: Course): boolean {
  const { connection, doubt, stop, pending } = course
  if (!connection.isSynced || !connection.isChecked || doubt || stop || pending) return false
  return presentOf(course) !== undefined
}

/**
 * Whether a message can be encrypted now. An older message whose acceptance is unknown goes first: it may
 * have to be encrypted again, and messages are numbered in their order.
 */
export function maySend(course: Course): boolean {
  const { sent, joinedAt } = course
  const present = presentOf(course)
  if (!present || !isSettled(course)) return false
  const isOneByOne = joinedAt !== undefined
  return sent.every(
    ({ isAccepted, era, epoch }) =>
      isAccepted || (!isOneByOne && era === present.era && epoch === present.epoch),
  )
}
