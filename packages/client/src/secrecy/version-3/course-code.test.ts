// The state of a conversation as bytes: own messages take little room, and earlier states are read.
import { expect, test } from 'bun:test'
import { ByteWriter } from '@sotto/crypto/version-3'
import { newCourse, type Sent } from './course.ts'
import { decodeCourse, encodeCourse } from './course-code.ts'
import { writeSentList } from './sent-code.ts'

const AT = Date.parse('2026-07-01T12:00:00Z')
const HASH = new Uint8Array(32).fill(7)
const EMPTY: Sent = {
  ...{ id: 'no uuid', resends: undefined, number: 1, era: 1, epoch: 1, mark: HASH.slice(0, 8) },
  ...{ previous: undefined, isAccepted: false, isHidden: false, at: AT },
}

/** Own messages of every kind. */
function sentOfEveryKind(): readonly Sent[] {
  const unread = Array.from({ length: 2000 }, (_, at): Sent => {
    const place = { number: at + 1, era: 2, epoch: 3, at: AT + at * 5000 }
    return { ...EMPTY, ...place, id: crypto.randomUUID(), isAccepted: true }
  })
  return [
    EMPTY,
    ...unread,
    // Repeated, without a number, hidden and older than the one before it, and of an epoch of its own.
    {
      ...EMPTY,
      id: crypto.randomUUID(),
      resends: unread[0]?.id,
      number: 2001,
      era: 2,
      epoch: 3,
      previous: HASH,
    },
    { ...EMPTY, id: crypto.randomUUID().toUpperCase(), number: 0 },
    { ...EMPTY, id: crypto.randomUUID(), previous: HASH, isHidden: true, at: AT - 1 },
    { ...EMPTY, id: crypto.randomUUID(), number: 2, epoch: 4, previous: HASH, isAccepted: true, at: 0 },
  ]
}

test('a state with 2,000 own messages that nobody acknowledged takes less than 60 kB, and says the same when it is read', () => {
  const sent = sentOfEveryKind()
  const bytes = encodeCourse({ ...newCourse(), sent })
  expect(bytes.length).toBeLessThan(60_000)
  expect(decodeCourse(bytes)).toEqual({ ...newCourse(), sent })
  expect(encodeCourse(decodeCourse(bytes))).toEqual(bytes)
})

test('a state of the version before is read', () => {
  const sent = sentOfEveryKind()
  const course = { ...newCourse(), peerSpeaks: true, ownSeq: 9, sent }
  const written = encodeCourse(course)
  // Only the number of the version and the own messages were different.
  const [short, long] = [new ByteWriter(), new ByteWriter()]
  writeSentList(short, sent)
  long.list(sent, (each) => {
    long.text(each.id).optional(each.resends, (id) => long.text(id))
    long.number(each.number).number(each.era).number(each.epoch).bytes(each.mark)
    long.optional(each.previous, (hash) => long.bytes(hash))
    long.flag(each.isAccepted).flag(each.isHidden).number(each.at)
  })
  const at = Buffer.from(written).indexOf(short.done())
  const rest = written.subarray(at + short.done().length)
  const earlier = Buffer.concat([Uint8Array.of(2), written.subarray(1, at), long.done(), rest])
  expect(decodeCourse(earlier)).toEqual(course)
  earlier[0] = 1
  expect(() => decodeCourse(earlier)).toThrow('another version')
})
