// Own messages in blocks beside the state: each block is stored once, and states of before are read.
import { expect, test } from 'bun:test'
import { hexToBytes } from '@sotto/crypto'
import { type Course, newCourse, type Sent } from './course.ts'
import { decodeCourse, decodeInBlocks, encodeCourse, encodeInBlocks } from './course-code.ts'
import { decodeBlock, encodeBlock, type SentBlock } from './sent-blocks.ts'

const AT = Date.parse('2026-07-01T12:00:00Z')
const HASH = Uint8Array.from({ length: 16 }, (_, at) => at + 1)

function sentOf(number: number, isAccepted = true): Sent {
  const place = { number, era: 2, epoch: 3, at: AT + number * 5000 }
  const previous = isAccepted ? undefined : HASH
  const mark = HASH.slice(0, 8)
  return {
    ...place,
    id: crypto.randomUUID(),
    resends: undefined,
    mark,
    previous,
    isAccepted,
    isHidden: false,
  }
}

const sentTo = (last: number): readonly Sent[] => Array.from({ length: last }, (_, at) => sentOf(at + 1))
const courseOf = (sent: readonly Sent[]): Course => ({ ...newCourse(), peerSpeaks: true, sent })
const numbersOf = (blocks: readonly SentBlock[]): number[] => blocks.map(({ number }) => number)

/** A store of one state and its blocks, which counts the writes of blocks. */
class Stored {
  readonly records = new Map<number, Uint8Array>()
  writes = 0
  state = new Uint8Array()
  #blocks: readonly SentBlock[] = []

  write(course: Course): void {
    const { state, blocks } = encodeInBlocks(course, this.#blocks)
    for (const block of blocks) {
      if (this.records.has(block.number)) continue
      this.records.set(block.number, encodeBlock(block))
      this.writes += 1
    }
    const kept = new Set(numbersOf(blocks))
    for (const number of this.records.keys()) if (!kept.has(number)) this.records.delete(number)
    this.state = state
    this.#blocks = blocks
  }

  read(): ReturnType<typeof decodeInBlocks> {
    const stored = new Map(Array.from(this.records, ([number, bytes]) => [number, decodeBlock(bytes)]))
    return decodeInBlocks(this.state, stored)
  }
}

test('of 2,000 messages that nobody acknowledged less than 200 are with the state, and a block is written once', () => {
  const stored = new Stored()
  let sent: readonly Sent[] = []
  for (let number = 1; number <= 2000; number++) {
    stored.write(courseOf([...sent, sentOf(number, false)]))
    sent = [...sent, sentOf(number)]
    stored.write(courseOf(sent))
    expect(stored.state.length).toBeLessThan(200 * 28 + 200)
  }
  expect(stored.writes).toBe(stored.records.size)
  expect(stored.records.size).toBe(15)
  expect(stored.read().course).toEqual(courseOf(sent))
})

test('messages that were acknowledged leave their blocks, and the rest keeps its order', () => {
  const stored = new Stored()
  const sent = sentTo(1000)
  stored.write(courseOf(sent))
  const before = [...stored.records.keys()]
  // A part of the first block, the middle of the third one, and the end.
  const left = sent.filter(({ number }) => number > 50 && number !== 300 && number < 990)
  stored.write(courseOf(left))
  expect(stored.read().course).toEqual(courseOf(left))
  expect([...stored.records.keys()]).toEqual(before.filter((_, at) => at !== 0 && at !== 2))
  stored.write(courseOf([]))
  expect(stored.records.size).toBe(0)
  expect(stored.state).toEqual(encodeCourse(courseOf([])))
})

test('whatever becomes of the messages, what is read is what was written', () => {
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const stored = new Stored()
  let sent: readonly Sent[] = []
  let last = 0
  for (let round = 0; round < 50; round++) {
    const kind = random(10)
    if (kind < 6)
      sent = [...sent, ...Array.from({ length: random(150) }, () => sentOf(++last, random(40) > 0))]
    else if (kind < 7) sent = sent.slice(random(400))
    else if (kind < 8) sent = sent.filter(() => random(200) > 0)
    else
      sent = sent.map((each) => (each.isAccepted ? each : { ...each, isAccepted: true, previous: undefined }))
    stored.write(courseOf(sent))
    const { course, blocks } = stored.read()
    expect(course).toEqual(courseOf(sent))
    // The next run of the program leaves the blocks as they are.
    const again = encodeInBlocks(course, blocks)
    expect(again.state).toEqual(stored.state)
    expect(numbersOf(again.blocks).toSorted()).toEqual([...stored.records.keys()].toSorted())
  }
})

test('a message that the relay has not accepted is in no block', () => {
  const stored = new Stored()
  const sent = [sentOf(1, false), ...sentTo(500)]
  stored.write(courseOf(sent))
  expect(stored.records.size).toBe(0)
  expect(stored.read().course).toEqual(courseOf(sent))
})

test('a state that the version before wrote is read, and written in blocks from then on', () => {
  const written =
    '0301000000000001000000021007070707070707070707070707070707020901010280c4b3ecf1330f8b3c526a0e4d2b9a413f2f' +
    '6b1c7e010807070707070707073788270f8b3c526a0e4d2b9a413f2f6b1c7e022430663862336335322d366130652d346432622d' +
    '396134312d336632663662316337653030080707070707070707100707070707070707070707070707070700000009000000000000'
  const course = decodeCourse(hexToBytes(written))
  expect(course.sent.map(({ id, number, isAccepted }) => ({ id, number, isAccepted }))).toEqual([
    { id: '0f8b3c52-6a0e-4d2b-9a41-3f2f6b1c7e01', number: 1, isAccepted: true },
    { id: '0f8b3c52-6a0e-4d2b-9a41-3f2f6b1c7e02', number: 2, isAccepted: false },
  ])
  expect(decodeInBlocks(hexToBytes(written), new Map())).toEqual({ course, blocks: [] })
  const long = decodeInBlocks(encodeCourse(courseOf(sentTo(2000))), new Map())
  const stored = new Stored()
  stored.write(long.course)
  expect(stored.records.size).toBe(15)
  expect(stored.read().course).toEqual(long.course)
})

test('the messages of a missing block are lost, and no others', () => {
  const stored = new Stored()
  const sent = sentTo(600)
  stored.write(courseOf(sent))
  const [first = 0] = stored.records.keys()
  stored.records.delete(first)
  const { course, blocks } = stored.read()
  expect(course).toEqual(courseOf(sent.slice(128)))
  expect(numbersOf(blocks)).toEqual([...stored.records.keys()])
})

test('a block that is cut off, prolonged or of another version is refused', () => {
  const bytes = encodeBlock({ number: 1, sent: sentTo(3) })
  for (let length = 0; length < bytes.length; length++)
    expect(() => decodeBlock(bytes.subarray(0, length))).toThrow()
  expect(() => decodeBlock(Uint8Array.of(...bytes, 0))).toThrow('bytes follow')
  expect(() => decodeBlock(Uint8Array.of(9, ...bytes.slice(1)))).toThrow('another version')
})
