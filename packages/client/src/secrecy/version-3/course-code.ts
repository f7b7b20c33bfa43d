// The state of a conversation as bytes, with a version in front.
import { CryptoError } from '@sotto/crypto'
import { ByteReader, ByteWriter } from '@sotto/crypto/version-3'
import { decodeGroup, encodeGroup, type Group } from '@sotto/mls'
import {
  type Chain,
  type Course,
  type Doubt,
  type Kept,
  newCourse,
  type Pending,
  type Sent,
  type Stop,
} from './course.ts'
import type { RejoinReason } from './events.ts'
import { type BlockSizes, blocksAmong, readRuns, runsOf, type SentBlock, writeRuns } from './sent-blocks.ts'
import { readSentList, writeSentList } from './sent-code.ts'

/** Blocks of own messages are records of their own. */
const IN_BLOCKS = 4
/** All own messages are with the state. */
const WHOLE = 3
/** The version before that. It had a longer form of the own messages. */
const LONG_SENT = 2

// What follows is stored by its place in these lists: they may only grow.
const KINDS: readonly Pending['kind'][] = ['begin', 'commit', 'rejoin']
const STOPS: readonly Stop[] = ['displaced', 'own_rejoins', 'peer_rejoins']
const REASONS: readonly RejoinReason[] = [
  'no_state',
  'behind',
  'relay_restored',
  'relay_went_back',
  'unreadable',
  'forked',
  'store_behind',
  'users_word',
]

/** A state as bytes, and the blocks that it names. They are stored in the same write, each once. */
export interface CourseInBlocks {
  readonly state: Uint8Array<ArrayBuffer>
  readonly blocks: readonly SentBlock[]
}

/**
 * The state without what holds for the present connection only, and without own messages that are in blocks.
 * @param before the blocks that are stored. A block that is not among the result's is needed no more
 * @param sizes smaller than usual in the model, whose schedules would have no blocks else
 */
export function encodeInBlocks(
  course: Course,
  before: readonly SentBlock[],
  sizes?: BlockSizes,
): CourseInBlocks {
  const runs = runsOf(course.sent, before, sizes)
  const blocks = blocksAmong(runs)
  if (blocks.length === 0) return { state: encodeCourse(course), blocks }
  return { state: encoded(course, IN_BLOCKS, (to) => writeRuns(to, runs)), blocks }
}

/** The state with all own messages, without what holds for the present connection only. */
export function encodeCourse(course: Course): Uint8Array<ArrayBuffer> {
  return encoded(course, WHOLE, (to) => writeSentList(to, course.sent))
}

function encoded(
  course: Course,
  version: number,
  writeSent: (to: ByteWriter) => void,
): Uint8Array<ArrayBuffer> {
  const to = new ByteWriter().number(version).flag(course.peerSpeaks)
  to.optional(course.incarnation, (incarnation) => to.text(incarnation))
  to.list(course.groups, (kept) => writeKept(to, kept))
  to.optional(course.pending, (pending) => writePending(to, pending))
  to.optional(course.doubt, (doubt) => writeDoubt(to, doubt))
  to.optional(course.stop, (stop) => to.number(STOPS.indexOf(stop)))
  to.number(course.era).flag(course.owesCommit).number(course.sentInEpoch).number(course.unreadableInEpoch)
  writeChain(to, course.own)
  writeSent(to)
  to.list(course.theirs, ({ era, chain }) => writeChain(to.number(era), chain))
  to.list(course.gaps, ({ era, first, last }) => to.number(era).number(first).number(last))
  to.optional(course.owed, ({ since, count }) => to.number(since).number(count))
  to.number(course.ownSeq)
  to.optional(course.joinedAt, (seq) => to.number(seq))
  to.list(course.controls, (seq) => to.number(seq))
  to.list(course.rejoins.own, (time) => to.number(time)).list(course.rejoins.peer, (time) => to.number(time))
  return to.number(course.resends.since).number(course.resends.count).done()
}

/**
 * The state of bytes without blocks, also of the version before. Throws `CryptoError` `INVALID_ENCODING` for
 * bytes that are none or of another version, and `MlsError` `VERSION` for a group of a later version. Such a
 * state is left as it is: the program that wrote it goes on with it. A device that has lost its state begins
 * with `newCourse`, and rejoins.
 */
export function decodeCourse(bytes: Uint8Array): Course {
  return decodeInBlocks(bytes, new Map()).course
}

/**
 * The state of bytes and of the blocks that it names. Throws like `decodeCourse`.
 * @param stored the messages of each stored block. Those of a block that is missing are lost
 */
export function decodeInBlocks(
  bytes: Uint8Array,
  stored: ReadonlyMap<number, readonly Sent[]>,
): { readonly course: Course; readonly blocks: readonly SentBlock[] } {
  const from = new ByteReader(bytes)
  const version = from.number()
  if (version !== IN_BLOCKS && version !== WHOLE && version !== LONG_SENT)
    throw new CryptoError('INVALID_ENCODING', 'this state of a conversation is of another version')
  let blocks: readonly SentBlock[] = []
  const readSent = (): readonly Sent[] => {
    if (version === LONG_SENT) return from.list(() => readLongSent(from))
    if (version === WHOLE) return readSentList(from)
    const runs = readRuns(from, stored)
    blocks = blocksAmong(runs).filter(({ sent }) => sent.length > 0)
    return runs.flatMap(({ sent }) => sent)
  }
  const course: Course = {
    ...newCourse(),
    peerSpeaks: from.flag(),
    incarnation: from.optional(() => from.text()),
    groups: from.list(() => readKept(from)),
    pending: from.optional(() => readPending(from)),
    doubt: from.optional(() => readDoubt(from)),
    stop: from.optional(() => nameIn(STOPS, from)),
    era: from.number(),
    owesCommit: from.flag(),
    sentInEpoch: from.number(),
    unreadableInEpoch: from.number(),
    own: readChain(from),
    sent: readSent(),
    theirs: from.list(() => ({ era: from.number(), chain: readChain(from) })),
    gaps: from.list(() => ({ era: from.number(), first: from.number(), last: from.number() })),
    owed: from.optional(() => ({ since: from.number(), count: from.number() })),
    ownSeq: from.number(),
    joinedAt: from.optional(() => from.number()),
    controls: from.list(() => from.number()),
    rejoins: { own: from.list(() => from.number()), peer: from.list(() => from.number()) },
    resends: { since: from.number(), count: from.number() },
  }
  from.end()
  return { course, blocks }
}

function nameIn<T>(names: readonly T[], from: ByteReader): T {
  const name = names[from.number()]
  if (name === undefined) throw new CryptoError('INVALID_ENCODING', 'an unknown name')
  return name
}

/** Groups as bytes. A group never changes, and a state has up to four of them that most steps leave alone. */
const encodedGroups = new WeakMap<Group, Uint8Array>()

function bytesOfGroup(group: Group): Uint8Array {
  const bytes = encodedGroups.get(group) ?? encodeGroup(group)
  encodedGroups.set(group, bytes)
  return bytes
}

function writeKept(to: ByteWriter, { epoch, group, since, endedAt, by, era }: Kept): void {
  to.number(epoch).bytes(bytesOfGroup(group)).number(since)
  to.optional(endedAt, (time) => to.number(time))
  to.flag(by === 'own').number(era)
}

function readKept(from: ByteReader): Kept {
  return {
    epoch: from.number(),
    group: decodeGroup(from.bytes()),
    since: from.number(),
    endedAt: from.optional(() => from.number()),
    by: from.flag() ? 'own' : 'peer',
    era: from.number(),
  }
}

function writePending(to: ByteWriter, pending: Pending): void {
  to.number(KINDS.indexOf(pending.kind)).text(pending.id).number(pending.leaves)
  to.bytes(pending.payload).bytes(pending.groupInfo).bytes(bytesOfGroup(pending.group))
  to.optional(pending.reason, (reason) => to.number(REASONS.indexOf(reason)))
}

function readPending(from: ByteReader): Pending {
  return {
    kind: nameIn(KINDS, from),
    id: from.text(),
    leaves: from.number(),
    payload: from.bytes(),
    groupInfo: from.bytes(),
    group: decodeGroup(from.bytes()),
    reason: from.optional(() => nameIn(REASONS, from)),
  }
}

function writeDoubt(to: ByteWriter, doubt: Doubt): void {
  to.number(REASONS.indexOf(doubt.why))
  if (doubt.why === 'behind') to.number(doubt.epoch).flag(doubt.isSure)
}

function readDoubt(from: ByteReader): Doubt {
  const why = nameIn(REASONS, from)
  if (why === 'behind') return { why, epoch: from.number(), isSure: from.flag() }
  if (why === 'no_state') throw new CryptoError('INVALID_ENCODING', 'no_state is no doubt')
  return { why }
}

function writeChain(to: ByteWriter, { number, hash }: Chain): void {
  to.number(number).bytes(hash)
}

function readChain(from: ByteReader): Chain {
  return { number: from.number(), hash: from.bytes() }
}

function readLongSent(from: ByteReader): Sent {
  return {
    id: from.text(),
    resends: from.optional(() => from.text()),
    number: from.number(),
    era: from.number(),
    epoch: from.number(),
    mark: from.bytes(),
    previous: from.optional(() => from.bytes()),
    isAccepted: from.flag(),
    isHidden: from.flag(),
    at: from.number(),
  }
}
