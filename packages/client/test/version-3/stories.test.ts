// Stories of a conversation under version 3: what each rule of its course means for the two people.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { CryptoError } from '@sotto/crypto'
import { createKeyPackage } from '@sotto/mls'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import {
  decodeCourse,
  encodeCourse,
  type Notice,
  newCourse,
  step,
} from '../../src/secrecy/version-3/version-3.ts'
import { Crash } from './device.ts'
import type { Pair } from './pair.ts'
import { DAY_MS, MINUTE_MS, newPair, say, talk, textsOf, toldTo } from './story.ts'

setDefaultTimeout(240_000)

test('two who begin at the same moment end in one group', async () => {
  const pair = await newPair()
  const { a, b } = pair
  for (const device of [a, b]) await device.connect()
  a.write('one', 'from a')
  b.write('two', 'from b')
  await pair.settle(a, b)
  await pair.pass(MINUTE_MS, a, b)
  expect(textsOf(a).toSorted()).toEqual(['from a', 'from b'])
  expect(textsOf(b).toSorted()).toEqual(['from a', 'from b'])
  expect(toldTo(a)).toEqual(['began'])
  expect(toldTo(b)).toEqual(['began'])
  expect(a.course.groups.at(-1)?.epoch).toBe(b.course.groups.at(-1)?.epoch ?? -1)
})

test('who is invited while it wants to begin waits for the Welcome, which may come after the relay’s record', async () => {
  const pair = await newPair()
  const { a, b, relay } = pair
  for (const device of [a, b]) await device.connect()
  for (const device of [a, b]) if (device.line) relay.serve(device.line)
  await b.handle()
  a.write('one', 'from a')
  await pair.settle(a)
  b.write('two', 'from b')
  await b.pump()
  // The answers come first, and the mail after them.
  while (b.line && b.line.up.length > 0) relay.serve(b.line)
  await b.handle()
  await pair.settle(a, b)
  expect([...toldTo(a), ...toldTo(b)]).toEqual(['began', 'began'])
  expect([textsOf(a), textsOf(b).toSorted()]).toEqual([
    ['from a', 'from b'],
    ['from a', 'from b'],
  ])
})

test('after a crash between the write and the sending the same bytes are sent, and shown once', async () => {
  const pair = await talk()
  const { a, b } = pair
  a.write('m', 'once')
  a.crashAt = 'after the write'
  expect(await failureOf(a.pump())).toBeInstanceOf(Crash)
  const [stored] = a.store.sealed
  a.restart()
  await a.connect()
  await pair.settle(a, b)
  expect(stored?.payload).toBeDefined()
  expect(a.store.sealed).toEqual([])
  expect(textsOf(b)).toEqual(['hello', 'once'])
  await pair.watch.findReusedKeys()
  expect(pair.watch.broken).toEqual([])
})

test('what comes in the epoch of a commit whose answer was lost waits for the answer', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  await pair.pass(25 * 60 * MINUTE_MS, a)
  a.write('m', 'after a commit')
  await a.pump()
  expect(a.course.pending?.kind).toBe('commit')
  if (a.line) relay.serve(a.line)
  relay.cut('a')
  await pair.settle(b)
  await say({ ...pair, a: b }, b, 'in the new epoch')
  await a.connect()
  await pair.settle(a, b)
  expect(textsOf(a)).toEqual(['hello', 'after a commit', 'in the new epoch'])
  expect([...toldTo(a), ...toldTo(b)]).toEqual(['began', 'began'])
})

test('a message that lost against a commit is encrypted again under its id; a lost answer changes no byte', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  a.write('m', 'late')
  await a.pump()
  const [first] = a.store.sealed
  relay.cut('a')
  await a.connect()
  expect(a.store.sealed[0]?.payload).toEqual(first?.payload)
  // The other side commits before it arrives.
  await pair.pass(25 * 60 * MINUTE_MS, b)
  await say(pair, b, 'after a day')
  expect(textsOf(b)).toContain('late')
  expect(a.store.sealed).toEqual([])
})

test('a refusal of earlier bytes that comes late, because they were sent twice, encrypts nothing again', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  await pair.pass(25 * 60 * MINUTE_MS, b)
  a.write('m', 'late')
  await a.pump()
  const { line } = a
  // The other side commits before it arrives, so that it is refused and encrypted again.
  b.write('n', 'after a day')
  await pair.settle(b)
  while (line && line.up.length + line.mail.length > 0) relay.serve(line)
  while (line && line.down.length > 0) await a.handle()
  await a.pump()
  const [again] = a.store.sealed
  expect(again?.epoch).toBe(a.course.groups.at(-1)?.epoch ?? -1)
  await a.give({ type: 'stale', id: 'm', epoch: again?.epoch ?? -1 })
  expect(a.store.sealed[0]?.payload).toEqual(again?.payload)
  await pair.settle(a, b)
  await say(pair, a, 'more')
  expect(textsOf(b)).toEqual(['hello', 'after a day', 'late', 'more'])
  for (const device of [a, b]) expect(toldTo(device)).toEqual(['began'])
  expect(pair.watch.broken).toEqual([])
})

test('a device commits before its first message of a day, and after 100 messages', async () => {
  const pair = await talk()
  const { a, b } = pair
  const epoch = (): number => a.course.groups.at(-1)?.epoch ?? 0
  const before = epoch()
  await pair.pass(25 * 60 * MINUTE_MS, a, b)
  await say(pair, a, 'next day')
  expect(epoch()).toBeGreaterThan(before)
  const then = epoch()
  for (let i = 0; i < 101; i++) a.write(`n${i}`, `number ${i}`)
  await pair.settle(a, b)
  expect(epoch()).toBeGreaterThan(then)
  expect(textsOf(b)).toHaveLength(103)
})

test('nothing begins with a foreign key package, and the user is told', async () => {
  const pair = await newPair()
  const { a, b, relay } = pair
  // A relay without the contact's identity can make keys, but no certificate.
  const { leaf, device } = a.store
  const { keyPackage } = await createKeyPackage(leaf, { notBefore: 0, notAfter: 4_000_000_000 })
  relay.foreignPackage = { device, package: keyPackage, isLastResort: false }
  relay.lies.add('foreign_key_package')
  for (const each of [a, b]) await each.connect()
  a.write('m', 'hello')
  await pair.settle(a, b)
  // It asked once more, and got a true one.
  expect(toldTo(a)).toEqual(['foreign_key_package', 'began'])
  expect(textsOf(b)).toEqual(['hello'])
})

test('a false GroupInfo is told and not joined', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  relay.cut('b')
  await say(pair, a, 'waits')
  relay.lies.add('false_group_info')
  const { store } = await pair.addDevice('b')
  b.restart(store)
  await b.connect()
  b.write('m', 'after all')
  await pair.settle(a, b)
  expect(toldTo(b)).toContain('false_group_info')
  expect(textsOf(a)).toContain('after all')
})

/** B's second device has taken the conversation over, and B's first one does not know it yet. */
test('once the user has taken other keys for the contact, nothing is encrypted for the former ones', async () => {
  const pair = await talk()
  const { a, b } = pair
  await say(pair, a, 'nobody has acknowledged this')
  a.write('m', 'under way')
  await a.pump()
  expect(a.course.sent.map(({ isAccepted }) => isAccepted)).toContain(false)
  const around = await a.surroundings()
  const { x25519, ed25519 } = around.sides.peer
  for (const peer of [
    { x25519: x25519.toReversed(), ed25519 },
    { x25519, ed25519: ed25519.toReversed() },
  ]) {
    const renewed = { ...around, sides: { ...around.sides, peer } }
    for (const event of [
      { type: 'send', id: 'n', body: new Uint8Array() },
      { type: 'call' },
      { type: 'tick' },
    ] as const) {
      const { course, keep, outcome, maySend } = await step(a.course, event, renewed)
      expect(keep).toEqual([{ keep: 'ciphertext_gone', id: 'm' }])
      expect([course.groups, course.sent, course.pending, maySend]).toEqual([[], [], undefined, false])
      if (event.type === 'send') expect(outcome).toBe('later')
    }
  }
  // With the same keys it goes on.
  await pair.settle(a, b)
  expect(textsOf(b)).toContain('under way')
})

test('what the relay drops or alters is told once', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  relay.lies.add('drop')
  await say(pair, a, 'dropped')
  await say(pair, a, 'next')
  relay.lies.add('corrupt')
  await say(pair, a, 'altered')
  expect(b.notices).toEqual([
    { tell: 'began' },
    { tell: 'missing', count: 1 },
    { tell: 'unreadable', id: `${a.name}-altered` },
  ])
  expect(textsOf(b)).toEqual(['hello', 'next', '(unreadable)'])
})

test('a contact that jumps to a high number is read, and at most 10,000 messages are told as missing', async () => {
  const pair = await talk()
  expect(await receivedAfter(pair, 100_001, [100, 7, 2])).toEqual({
    ...{ kept: ['message'], told: [{ tell: 'missing', count: 10_000 }], gaps: [] },
  })
  // Live, what is missing is told at once. In a backlog it is kept.
  await pair.b.give({ type: 'down' })
  expect((await receivedAfter(pair, Number.MAX_SAFE_INTEGER, [100, 7, 7, 2])).gaps).toEqual([
    [3, 6],
    [8, 99],
    [101, Number.MAX_SAFE_INTEGER - 1],
  ])
  expect((await receivedAfter(pair, 5, [4, 3, 2])).gaps).toEqual([])
})

test('a letter with thousands of deletions is unreadable, because each costs time', async () => {
  const deletes = Array.from({ length: 17_418 }, (_, i) => 2 * (i + 1))
  const { kept, gaps } = await receivedAfter(await talk(), 100_001, deletes)
  expect([kept, gaps]).toEqual([['unreadable'], []])
})

/** What B makes of a message of A with another number, and with deletions, if it comes next. */
async function receivedAfter(
  { a, b, around }: Pair,
  number: number,
  deletes: readonly number[],
): Promise<Received> {
  const root = 'deleted'
  const { era, own } = a.course
  const sent = deletes.map((each, i) => ({
    ...{ id: `${root}-${i}`, resends: root, number: each, era, epoch: 1, mark: own.hash.slice(0, 8) },
    ...{ previous: undefined, isAccepted: true, isHidden: false, at: around('a').now() },
  }))
  const course = { ...a.course, own: { ...own, number: number - 1 }, sent }
  const event = { type: 'send', id: 'crafted', body: new Uint8Array(), deletes: root } as const
  const [made] = (await step(course, event, await a.surroundings())).keep
  if (made?.keep !== 'ciphertext') throw new Error('nothing was encrypted')
  const { id, epoch, payload } = made
  const frame = { type: 'frame', id, epoch, payload, seq: 99, isHandshake: false, isKnown: false } as const
  const { keep, notices, course: after } = await step(b.course, frame, await b.surroundings())
  return {
    kept: keep.map((each) => each.keep),
    told: notices,
    gaps: after.gaps.map(({ first, last }) => [first, last]),
  }
}

interface Received {
  readonly kept: readonly string[]
  readonly told: readonly Notice[]
  readonly gaps: readonly (readonly number[])[]
}

test('a failure of the device is not taken for a false Welcome: the event comes again', async () => {
  const pair = await newPair()
  const { a, b, relay } = pair
  await a.connect()
  a.write('m', 'hello')
  await pair.settle(a)
  const line = relay.connect('b')
  const [welcome] = line.down
  if (welcome?.type !== 'msg') throw new Error('no Welcome waits')
  const around = { ...(await b.surroundings()), now: pair.around('b').now() }
  const event = { ...welcome, type: 'frame', isKnown: false } as const
  const unavailable = new CryptoError('UNAVAILABLE', 'no cryptography')
  const failing = { ...around, findKeyPackage: () => Promise.reject(unavailable) }
  expect(await failureOf(step(newCourse(), event, failing))).toBe(unavailable)
  const again = await step(newCourse(), event, around)
  expect(again.notices).toEqual([{ tell: 'began' }])
})

test('an encoded state is small, and says the same when it is read', async () => {
  const { a } = await talk()
  const bytes = encodeCourse(a.course)
  expect(bytes.length).toBeLessThan(32 * 1024)
  expect(encodeCourse(decodeCourse(bytes))).toEqual(bytes)
  const other = bytes.slice()
  other[0] = 99
  expect(() => decodeCourse(other)).toThrow('another version')
  for (let length = 0; length < 200; length++) expect(() => decodeCourse(bytes.subarray(0, length))).toThrow()
})

test('the keys of an epoch are gone when the other side has left it, or after 30 days', async () => {
  const pair = await talk()
  const { a, b } = pair
  await say(pair, b, 'both have spoken')
  pair.relay.cut('b')
  await pair.pass(25 * 60 * MINUTE_MS, a)
  await say(pair, a, 'commits first')
  expect(a.course.groups.length).toBe(2)
  await pair.pass(31 * DAY_MS, a)
  expect(a.course.groups.length).toBe(1)
  await b.connect()
  await say(pair, b, 'commits, too')
  await say(pair, a, 'seen')
  await say(pair, b, 'seen, too')
  expect(a.course.groups.length).toBe(1)
  expect(b.course.groups.length).toBe(1)
})
