// Stories of devices that join again: after a lost state, with an old copy of one, after another device or a
// restored relay, or as a thief.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Pair } from './pair.ts'
import { MINUTE_MS, say, talk, textsOf, toldTo } from './story.ts'

setDefaultTimeout(240_000)

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
