// A relay whose disk is full: the application hears it within seconds, nothing is lost, and messages are sent
// once there is space.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { mountSmallDisk, type SmallDisk } from '../../relay/test/small-disk.ts'
import { ClientError, UnsentMessages } from '../src/client.ts'
import { Media } from '../src/media/media.ts'
import { friendOf, makePeer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { Person, until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const MIB = 1024 * 1024
let disk: SmallDisk
let relay: RelayProcess
const people: Person[] = []

beforeAll(async () => {
  disk = await mountSmallDisk(40)
  relay = await startRelay({ env: { DATA_DIR: disk.folder, LOG_LEVEL: 'error' } })
})
afterEach(async () => {
  for (const person of people.splice(0)) await person.client.close()
})
afterAll(async () => {
  await relay?.stop()
  await disk?.remove()
})

async function join(name: string): Promise<Person> {
  const person = await Person.join(name, relay.url)
  people.push(person)
  return person
}

test('a message to a full relay stays, is reported once, and is sent once there is space', async () => {
  const [alice, bob] = [await join('alice'), await join('bob')]
  await alice.befriend(bob)
  disk.fillUpTo(MIB)
  await until('the relay says that it is full', async () => {
    const { storage } = await (await fetch(`${relay.url}/ready`)).json()
    return storage === 'full'
  })
  const first = await alice.client.send(bob.alias, 'first')
  const second = await alice.client.send(bob.alias, 'second')
  const [error] = await until(
    'alice hears that the relay is full',
    () => alice.heard.error.length > 0 && alice.heard.error,
  )
  expect(error).toMatchObject({ code: 'REFUSED', refusal: 'RELAY_FULL', retryAfterMs: expect.any(Number) })
  expect(await alice.transcript(bob.alias)).toEqual(['me: first [sending]', 'me: second [sending]'])
  const { conversationId, heldBy } = await alice.client.conversation(bob.alias)
  expect(heldBy).toBe('RELAY_FULL')
  const held = { kind: 'conversation', conversationId } as const
  expect(alice.heard.changes.flat()).toContainEqual(held)
  alice.heard.changes.length = 0

  const upload = new Media(alice.client).sendFile(bob.alias, new Blob(['x']), { name: 'x.txt' })
  const refused = await upload.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(refused).toBeInstanceOf(ClientError)
  expect(refused).toMatchObject({ code: 'REFUSED', refusal: 'RELAY_FULL' })

  disk.empty()
  await bob.receives('second')
  await alice.sees(bob.alias, first.id, 'delivered')
  await alice.sees(bob.alias, second.id, 'delivered')
  expect(bob.heard.message.map(({ text }) => text)).toEqual(['first', 'second'])
  expect(alice.heard.error).toHaveLength(1)
  expect(await alice.client.conversation(bob.alias)).not.toHaveProperty('heldBy')
  expect(alice.heard.changes.flat()).toContainEqual(held)
})

test('a conversation says why its messages are held, until one is accepted or none is left', async () => {
  const world = new HostileWorld()
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  world.relay.answers['POST /ws/ticket'] = () => ({
    body: { ticket: 'ticket', expires_in: 30, features: ['after'] },
  })
  const person = await world.victim([bob, carol])
  const refuse = (id: string, error: string): void =>
    world.relay.send({ type: 'error', error, message: '', id, conv_id: bob.conversationId })
  const heldBy = async (): Promise<unknown> => {
    await world.settled(person)
    return (await person.client.conversation('bob')).heldBy
  }
  const changes = (): number =>
    person.heard.changes.flat().filter(({ kind }) => kind === 'conversation').length
  await person.client.send('bob', 'first', { id: 'first' })
  await person.client.send('bob', 'second', { id: 'second' })
  await until('both are under way', () => world.relay.framesOf('msg').length === 2)
  expect(await heldBy()).toBeUndefined()
  const before = changes()
  refuse('first', 'MAILBOX_FULL')
  refuse('second', 'OUT_OF_ORDER')
  expect(await heldBy()).toBe('MAILBOX_FULL')
  expect((await person.client.conversations()).map((each) => each.heldBy)).toEqual([
    'MAILBOX_FULL',
    undefined,
  ])
  expect(changes()).toBe(before + 1)
  await new UnsentMessages(person.client).drop('bob', 'first')
  expect(await heldBy()).toBe('MAILBOX_FULL')
  await new UnsentMessages(person.client).drop('bob', 'second')
  expect(await heldBy()).toBeUndefined()
  expect(changes()).toBe(before + 2)

  const sent = (id: string): number => world.relay.framesOf('msg').filter((frame) => frame.id === id).length
  for (const [id, end] of [
    ['third', { type: 'ack', seq: 1, at: 1 }],
    ['fourth', { type: 'error', error: 'NOT_FRIENDS', message: '' }],
  ] as const) {
    await person.client.send('bob', id, { id })
    await until(`${id} is under way`, () => sent(id) === 1)
    refuse(id, 'RATE_LIMITED')
    expect(await heldBy()).toBe('RATE_LIMITED')
    await until(`${id} is sent again`, () => sent(id) === 2)
    world.relay.send({ ...end, id, conv_id: bob.conversationId })
    expect(await heldBy()).toBeUndefined()
  }
  await world.stop()
})

test('each time that a relay becomes full is reported once, however often it refuses', async () => {
  const world = new HostileWorld()
  const bob = makePeer('bob')
  world.relay.friends = [friendOf(bob)]
  const person = await world.victim([bob])
  const sentOf = (id: string) => world.relay.framesOf('msg').filter((frame) => frame.id === id).length
  const refuse = (id: string) =>
    world.relay.send({
      ...{ type: 'error', error: 'RELAY_FULL', message: '', retry_after_ms: 1000 },
      ...{ id, conv_id: bob.conversationId },
    })
  for (const time of [1, 2]) {
    const { id } = await person.client.send('bob', `message ${time}`)
    for (const attempt of [1, 2, 3]) {
      await until(`the client makes attempt ${attempt}`, () => sentOf(id) === attempt)
      refuse(id)
    }
    await until('the client makes the last attempt', () => sentOf(id) === 4)
    world.relay.send({ type: 'ack', id, conv_id: bob.conversationId, seq: time, at: 1 })
    await person.sees('bob', id, 'sent')
    expect(person.heard.error.map(({ refusal }) => refusal)).toEqual(Array(time).fill('RELAY_FULL'))
  }
  await world.stop()
})
