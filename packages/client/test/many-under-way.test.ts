// Many messages of a conversation are under way at once, if the relay checks their order. Which frames the
// client sends then: each names the one before it as long as that has no acknowledgement.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore } from '../src/client.ts'
import { TestClock } from './fakes.ts'
import { type HostileRelay, makePeer, type Peer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { Person, until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay
let bob: Peer

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
  bob = makePeer('bob')
  announce(['something-else', 'after'])
})
afterEach(() => world.stop())

function announce(features: readonly string[] | undefined): void {
  relay.answers['POST /ws/ticket'] = () => ({ body: { ticket: 'ticket', expires_in: 30, features } })
}

async function post(person: Person, ids: readonly string[], to = 'bob', text = 'text'): Promise<void> {
  await Promise.all(ids.map((id) => person.client.send(to, text, { id })))
}

/** The messages that the relay has got, each with the one that it names. */
function links(): unknown[] {
  return relay.framesOf('msg').map(({ id, after }) => [id, after])
}

function accept(id: string, seq: number, peer: Peer = bob): void {
  relay.send({ type: 'ack', id, conv_id: peer.conversationId, seq, at: 1 })
}

function refuse(id: string, error: string, fields: object = {}): void {
  relay.send({ type: 'error', error, message: '', id, conv_id: bob.conversationId, ...fields })
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `m${from + at}`)

test('each message names the one before it, unless that is acknowledged', async () => {
  const person = await world.victim([bob])
  await post(person, names(3))
  await until('three are under way', () => relay.framesOf('msg').length === 3)
  expect(links()).toEqual([
    ['m0', undefined],
    ['m1', 'm0'],
    ['m2', 'm1'],
  ])
  accept('m0', 1)
  accept('m1', 2)
  await person.sees('bob', 'm1', 'sent')
  await post(person, ['m3'])
  accept('m2', 3)
  accept('m3', 4)
  await person.sees('bob', 'm3', 'sent')
  await post(person, ['m4'])
  await until('all are sent', () => relay.framesOf('msg').length === 5)
  expect(links().slice(3)).toEqual([
    ['m3', 'm2'],
    ['m4', undefined],
  ])
})

for (const features of [undefined, [], ['something-else']]) {
  test(`with a relay whose features are ${JSON.stringify(features)}, one message is under way`, async () => {
    announce(features)
    const person = await world.victim([bob])
    await post(person, names(3))
    for (const [at, id] of names(3).entries()) {
      await until(`${id} is under way`, () => relay.framesOf('msg').length === at + 1)
      await world.settled(person)
      expect(relay.framesOf('msg').length).toBe(at + 1)
      accept(id, at + 1)
    }
    expect(links()).toEqual(names(3).map((id) => [id, undefined]))
  })
}

test('a new connection decides anew whether many are under way, and sends all of them again in order', async () => {
  const person = await world.victim([bob])
  await post(person, names(3))
  await until('three are under way', () => relay.framesOf('msg').length === 3)
  relay.close(1012)
  await until('they are under way again', () => relay.framesOf('msg').length === 6)
  expect(links().slice(3)).toEqual(links().slice(0, 3))
  announce(undefined)
  relay.close(1012)
  await until('the first is under way again', () => relay.framesOf('msg').length === 7)
  await world.settled(person)
  expect(links().slice(6)).toEqual([['m0', undefined]])
})

test('at most a hundred messages are under way, and at most a mebibyte', async () => {
  const person = await world.victim([bob])
  await post(person, names(150))
  await until('a hundred are under way', () => relay.framesOf('msg').length >= 100)
  await world.settled(person)
  expect(relay.framesOf('msg').length).toBe(100)
  for (const [at, id] of names(150).entries()) {
    await until(`${id} is under way`, () => relay.framesOf('msg').some((frame) => frame.id === id))
    accept(id, at + 1)
  }
  await until('all are sent', async () => (await person.client.countUnsent()) === 0)
  relay.received.length = 0
  await post(person, names(60, 200), 'bob', 'x'.repeat(45_000))
  const bytes = (): number => JSON.stringify(relay.framesOf('msg')).length
  await until('a mebibyte is under way', () => bytes() > 1_000_000)
  await world.settled(person)
  expect(bytes()).toBeLessThan(1_200_000)
})

test('a conversation with many messages does not delay another', async () => {
  const carol = makePeer('carol')
  const person = await world.victim([bob, carol])
  await post(person, names(300))
  await until('a hundred are under way', () => relay.framesOf('msg').length >= 100)
  await post(person, ['to-carol', 'to-carol-too'], 'carol')
  for (const [at, id] of names(4).entries()) accept(id, at + 1)
  await until('carol’s are under way', () => relay.framesOf('msg').some(({ id }) => id === 'to-carol-too'))
  const ids = relay.framesOf('msg').map(({ id }) => id)
  expect(ids.slice(0, 100)).toEqual(names(100))
  expect(ids.indexOf('to-carol-too')).toBeLessThan(104)
})

test('after a final refusal the next message names the last accepted one, at once', async () => {
  const person = await world.victim([bob])
  await post(person, names(4))
  await until('four are under way', () => relay.framesOf('msg').length === 4)
  refuse('m1', 'NOT_FRIENDS')
  refuse('m2', 'OUT_OF_ORDER')
  refuse('m3', 'OUT_OF_ORDER')
  await world.settled(person)
  expect(links().slice(4)).toEqual([]) // m0 has no answer yet, and after a refusal one is under way.
  accept('m0', 1)
  await until('the next two are under way again', () => relay.framesOf('msg').length === 6)
  expect(links().slice(4)).toEqual([
    ['m2', undefined],
    ['m3', 'm2'],
  ])
  expect(await person.sees('bob', 'm1', 'failed')).toMatchObject({ failure: 'NOT_FRIENDS' })
  expect(person.heard.error).toEqual([])
})

test('after a refusal for now, the first one is sent again alone, and the others follow once it is accepted', async () => {
  const person = await world.victim([bob])
  await post(person, names(5))
  await until('five are under way', () => relay.framesOf('msg').length === 5)
  accept('m0', 1)
  for (const attempt of [1, 2, 3]) {
    refuse('m1', 'MAILBOX_FULL')
    if (attempt === 1) for (const id of ['m2', 'm3', 'm4']) refuse(id, 'OUT_OF_ORDER')
    await until('m1 is sent again', () => relay.framesOf('msg').length === 5 + attempt)
    await world.settled(person)
    expect(links().at(-1)).toEqual(['m1', undefined])
  }
  expect(relay.framesOf('msg').length).toBe(8)
  accept('m1', 2)
  await until('the next are sent', () => relay.framesOf('msg').length === 10)
  await world.settled(person)
  expect(links().slice(8)).toEqual([
    ['m2', undefined],
    ['m3', 'm2'],
  ])
  accept('m2', 3)
  await until('the last is sent', () => relay.framesOf('msg').length === 11)
  expect(links().slice(10)).toEqual([['m4', 'm3']])
})

test('a message that was accepted behind one with an unknown outcome keeps its place', async () => {
  const person = await world.victim([bob])
  await post(person, names(2))
  await until('both are under way', () => relay.framesOf('msg').length === 2)
  // The commit of m0 took effect, although its answer says that it may have failed.
  refuse('m0', 'INTERNAL')
  accept('m1', 2)
  await until('m0 is sent again', () => relay.framesOf('msg').length === 3)
  accept('m0', 1)
  await person.sees('bob', 'm0', 'sent')
  expect((await person.client.messages('bob')).map(({ id }) => id)).toEqual(['m0', 'm1'])
})

test('a retracted message under way is named by nobody any more, and its refusal is not reported', async () => {
  const person = await world.victim([bob])
  await post(person, names(3))
  await until('three are under way', () => relay.framesOf('msg').length === 3)
  await person.client.retract('bob', 'm1')
  await until('the retraction is sent', () => relay.framesOf('retract').length === 1)
  refuse('m0', 'MAILBOX_FULL')
  refuse('m1', 'OUT_OF_ORDER')
  refuse('m2', 'OUT_OF_ORDER')
  await until('m0 is sent again', () => relay.framesOf('msg').length === 4)
  accept('m0', 1)
  await until('m2 is sent again', () => relay.framesOf('msg').length === 5)
  await world.settled(person)
  expect(links().slice(3)).toEqual([
    ['m0', undefined],
    ['m2', undefined],
  ])
  expect(relay.framesOf('retract').length).toBe(1)
  expect(person.heard.error).toEqual([])
})

test('a relay that calls everything out of order is not asked in a loop', async () => {
  const store = new MemoryStore()
  const before = await world.victim([bob], store)
  await before.client.close()
  store.reopen()
  const clock = new TestClock()
  const person = await Person.open('victim', relay.url, { store, clock })
  await person.connect()
  await post(person, names(3))
  await until('three are under way', () => relay.framesOf('msg').length === 3)
  for (const id of names(3)) refuse(id, 'OUT_OF_ORDER')
  await world.settled(person)
  expect(relay.framesOf('msg').length).toBe(3)
  // Only after its pause the first one is sent again, alone.
  await clock.advance(1000)
  await until('the first is sent again', () => relay.framesOf('msg').length === 4)
  expect(links()[3]).toEqual(['m0', undefined])
  await person.client.close()
})
