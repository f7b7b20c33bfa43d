// Stories of a conversation under version 3: what each rule of its course means for the two people.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { CryptoError } from '@sotto/crypto'
import { createKeyPackage } from '@sotto/mls'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { decodeCourse, encodeCourse, newCourse, step } from '../../src/secrecy/version-3/version-3.ts'
import { accountsOfTheModel } from './accounts.ts'
import { Crash, type Device } from './device.ts'
import { openPair, type Pair } from './pair.ts'
import type { Account } from './store.ts'

setDefaultTimeout(240_000)

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

let accounts: readonly [Account, Account]

beforeAll(async () => {
  accounts = await accountsOfTheModel()
})

/** Two devices that are connected and have begun. */
async function talk(): Promise<Pair> {
  const pair = await openPair(accounts)
  await pair.a.connect()
  await pair.b.connect()
  await say(pair, pair.a, 'hello')
  expect(textsOf(pair.b)).toEqual(['hello'])
  return pair
}

async function say(pair: Pair, from: Device, text: string): Promise<void> {
  from.write(`${from.name}-${text.replaceAll(' ', '-')}`, text)
  await pair.settle(pair.a, pair.b, from)
}

function textsOf({ store }: Device): string[] {
  return [...store.history.values()].flatMap(({ body, isUnreadable }) =>
    isUnreadable ? ['(unreadable)'] : [body],
  )
}

function toldTo({ notices }: Device): string[] {
  return notices.map(({ tell }) => tell)
}

test('two who begin at the same moment end in one group', async () => {
  const pair = await openPair(accounts)
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
  const pair = await openPair(accounts)
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

test('a thief with the phrase gets none of what was acknowledged, and both people see it', async () => {
  const pair = await talk()
  const { a, b } = pair
  await say(pair, a, 'secret')
  await say(pair, b, 'I have it')
  pair.relay.cut('b')
  await say(pair, a, 'not yet read')
  const thief = await pair.addDevice('b')
  await thief.connect()
  await pair.settle(a, thief)
  thief.write('t', 'send me all')
  await pair.settle(a, thief)
  await pair.pass(MINUTE_MS, a, thief)
  expect(textsOf(thief).toSorted()).toEqual(['not yet read', 'send me all'])
  expect(toldTo(a)).toContain('rejoined')
  // The displaced device sees it, and does not fight.
  await b.connect()
  b.write('w', 'who is there?')
  await pair.settle(a, b)
  expect(toldTo(b)).toContain('displaced')
  expect(b.course.stop).toBe('displaced')
  expect(textsOf(a)).not.toContain('who is there?')
  // The user's word takes it back.
  await b.give({ type: 'use_this_device' })
  await pair.settle(a, b)
  expect(textsOf(a)).toContain('who is there?')
})

test('a second device that leaves before it has joined takes nothing from the first', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  relay.cut('b')
  await pair.pass(25 * 60 * MINUTE_MS, a)
  await say(pair, a, 'after a commit')
  const second = await pair.addDevice('b')
  await second.connect()
  const { line } = second
  while (line && line.down.length > 0) await second.handle()
  while (line && line.up.length > 0) relay.serve(line)
  await b.connect()
  await pair.settle(a, b)
  expect(textsOf(b)).toEqual(['hello', 'after a commit'])
  expect(toldTo(b)).toEqual(['began'])
})

test('a device that lost its state loses no message', async () => {
  const pair = await talk()
  const { a, b } = pair
  pair.relay.cut('b')
  await say(pair, a, 'while away')
  const { store } = await pair.addDevice('b')
  b.restart(store)
  await b.connect()
  await pair.settle(a, b)
  await pair.pass(MINUTE_MS, a, b)
  expect(textsOf(b)).toContain('while away')
  await say(pair, b, 'back')
  expect(textsOf(a)).toContain('back')
})

test('the fourth rejoin of a day waits for the word of the user', async () => {
  const pair = await talk()
  const { a, b } = pair
  for (let i = 0; i < 4; i++) {
    const { store } = await pair.addDevice('b')
    b.restart(store)
    await b.connect()
    b.write(`again-${i}`, `rejoin ${i}`)
    await pair.settle(a, b)
  }
  expect(a.course.stop).toBe('peer_rejoins')
  expect(toldTo(a)).toContain('asks')
  expect(textsOf(a)).toContain('rejoin 2')
  expect(textsOf(a)).not.toContain('rejoin 3')
  await a.give({ type: 'allow_rejoins' })
  await pair.settle(a, b)
  expect(textsOf(a)).toContain('rejoin 3')
})

test('an old copy of a store rejoins before it sends, so that no key is used twice', async () => {
  const pair = await talk()
  const { a, b } = pair
  const copy = a.store
  await say(pair, a, 'after the copy')
  a.restart(copy)
  await a.connect()
  await say(pair, a, 'from the copy')
  expect(toldTo(a)).toContain('store_behind')
  expect(textsOf(b)).toContain('from the copy')
  await pair.watch.findReusedKeys()
  expect(pair.watch.broken).toEqual([])
})

test('an old copy with a message that was under way is known as old, too', async () => {
  const pair = await talk()
  const { a, b } = pair
  a.write('m', 'under way')
  await a.pump()
  const copy = a.store
  expect(copy.sealed).toHaveLength(1)
  await pair.settle(a, b)
  await say(pair, a, 'after the copy')
  a.restart(copy)
  await a.connect()
  await say(pair, a, 'from the copy')
  expect(toldTo(a)).toContain('store_behind')
  expect(textsOf(b)).toEqual(['hello', 'under way', 'after the copy', 'from the copy'])
  await pair.watch.findReusedKeys()
  expect(pair.watch.broken).toEqual([])
})

test('a store whose last answer was lost is not taken for an old one', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  a.write('m', 'accepted')
  await a.pump()
  if (a.line) relay.serve(a.line)
  expect(relay.accepted.has('m')).toBe(true)
  a.restart()
  await a.connect()
  await say(pair, a, 'next')
  expect(textsOf(b)).toEqual(['hello', 'accepted', 'next'])
  expect([...toldTo(a), ...toldTo(b)]).toEqual(['began', 'began'])
})

test('what a lost state had sent is shown once, and nothing is said to be missing', async () => {
  const pair = await talk()
  const { a, b } = pair
  for (const text of ['one', 'two']) a.write(text, text)
  const copy = a.store
  await pair.settle(a, b)
  a.restart(copy)
  await a.connect()
  await say(pair, a, 'three')
  expect(toldTo(a)).toEqual(['began', 'store_behind', 'rejoined'])
  expect(toldTo(b)).toEqual(['began', 'rejoined'])
  expect(textsOf(b)).toEqual(['hello', 'one', 'two', 'three'])
})

test('after the relay was restored both rejoin and say why, and what it lost is sent again', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  relay.cut('b')
  relay.backUp()
  await say(pair, a, 'lost by the relay')
  relay.restore()
  for (const device of [a, b]) await device.connect()
  await pair.settle(a, b)
  await pair.pass(2 * MINUTE_MS, a, b)
  expect(toldTo(a)).toContain('relay_restored')
  expect(textsOf(b)).toEqual(['hello', 'lost by the relay'])
})

test('after the relay went back and did not say so, a commit is refused once, and then the device rejoins', async () => {
  const pair = await talk()
  const { a, b, relay } = pair
  relay.backUp()
  await pair.pass(25 * 60 * MINUTE_MS, a, b)
  await say(pair, a, 'in a later epoch')
  relay.restore(true)
  for (const device of [a, b]) await device.connect()
  await pair.settle(a, b)
  await pair.pass(25 * 60 * MINUTE_MS, a, b)
  await say(pair, a, 'a day later')
  await pair.pass(2 * MINUTE_MS, a, b)
  expect([...toldTo(a), ...toldTo(b)]).toContain('relay_went_back')
  expect(textsOf(b)).toContain('a day later')
  await pair.watch.findReusedKeys()
  expect(pair.watch.broken).toEqual([])
})

test('nothing begins with a foreign key package, and the user is told', async () => {
  const pair = await openPair(accounts)
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
async function takenOver(): Promise<Pair> {
  const pair = await talk()
  const second = await pair.addDevice('b')
  await second.connect()
  second.write('s', 'from the second')
  await pair.settle(pair.a, second)
  expect(textsOf(pair.a)).toContain('from the second')
  return pair
}

test('a false GroupInfo lets no device take back what another one of the account has', async () => {
  const pair = await takenOver()
  const { a, b, relay } = pair
  relay.lies.add('false_group_info')
  await b.connect()
  await say(pair, b, 'from the first')
  expect(toldTo(b)).toEqual(['began', 'false_group_info', 'displaced'])
  expect(textsOf(a)).not.toContain('from the first')
})

test('a device that cannot see whose group it is asks the user, and only then begins another one', async () => {
  const pair = await takenOver()
  const { a, b, relay } = pair
  relay.lies.add('no_group_info')
  await b.connect()
  await say(pair, b, 'from the first')
  expect(toldTo(b)).toEqual(['began', 'false_group_info', 'asks'])
  expect(b.course.stop).toBe('own_rejoins')
  expect(textsOf(a)).not.toContain('from the first')
  await b.give({ type: 'use_this_device' })
  await pair.settle(a, b)
  expect(textsOf(a)).toContain('from the first')
  expect(toldTo(a)).toEqual(['began', 'rejoined', 'rejoined'])
})

test('the user’s word counts also when the device has looked at the relay so often that it waits', async () => {
  const pair = await takenOver()
  const { a, b, relay } = pair
  await b.connect()
  b.write('w', 'from the first')
  await pair.settle(a, b)
  expect(b.course.stop).toBe('displaced')
  // Requests fail, so that it looks no more on this connection.
  await b.give({ type: 'use_this_device' })
  relay.unanswered = 9
  await pair.settle(a, b)
  expect(b.course.connection.looks).toBe(5)
  relay.unanswered = 0
  await b.give({ type: 'use_this_device' })
  await pair.settle(a, b)
  expect(textsOf(a)).toContain('from the first')
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

test('a failure of the device is not taken for a false Welcome: the event comes again', async () => {
  const pair = await openPair(accounts)
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
