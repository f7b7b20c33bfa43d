// Frames that wait in the client when their connection ends, and are handled after the next one has begun.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { friendOf, type HostileRelay, makePeer, meOf, type Peer } from './hostile-relay.ts'
import { HostileWorld, msg, textsOf } from './hostile-world.ts'
import { type Person, until } from './people.ts'

setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

/** A store in which the look-up of one conversation's messages waits until it is let go. */
class WaitingStore extends MemoryStore {
  waitsIn: string | undefined
  isWaiting = false
  go = (): void => {}

  override async findMessage(conversationId: string, isMe: boolean, id: string) {
    if (conversationId === this.waitsIn) {
      this.waitsIn = undefined
      this.isWaiting = true
      await new Promise<void>((resolve) => {
        this.go = resolve
      })
    }
    return super.findMessage(conversationId, isMe, id)
  }
}

/** Ends the client's connection, and resolves once the next one is open. */
async function reconnects(person: Person): Promise<void> {
  const before = relay.framesOf('sync').length
  deviceOf(person.client).needEngine().connection.reopen()
  await until('the next connection is open', () => relay.framesOf('sync').length > before)
  await until('the client knows it', () => person.client.networkState === 'connected')
}

const seqsTo = (peer: Peer): unknown[] =>
  relay
    .framesOf('delivered')
    .filter(({ conv_id }) => conv_id === peer.conversationId)
    .map(({ seq }) => seq)

test('a frame of an ended connection confirms none past one that failed on it', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const store = new WaitingStore()
  const before = await world.victim([bob, carol], store)
  await before.client.close()
  store.reopen()
  // The client does not find out whether it has the right key: what it cannot read stays at the relay.
  const person = await world.open(store)
  relay.answers['GET /me'] = () => meOf(person.client, { x25519_public_key: bob.x25519 })
  await person.connect()

  store.waitsIn = carol.conversationId
  relay.send(msg(bob, person, 1, 'first', { payload: btoa('x'.repeat(40)) }))
  relay.send(msg(carol, person, 1, 'between'))
  relay.send(msg(bob, person, 2, 'second'))
  await until('the frame between them is handled', () => store.isWaiting)
  await reconnects(person)
  store.go()
  await world.settled(person)
  await until('what did not fail is confirmed', () => seqsTo(carol).length > 0)
  expect(seqsTo(bob)).toEqual([])

  relay.send(msg(bob, person, 1, 'first'))
  relay.send(msg(bob, person, 2, 'second'))
  await until('both are confirmed', () => seqsTo(bob).includes(2))
  expect(await textsOf(person, bob)).toEqual(['first', 'second'])
})

/** A client of version 3 whose first `sync_end` waits behind a message. Resolves once that is handled. */
async function behindMessage(bob: Peer, store: WaitingStore): Promise<Person> {
  const person = await world.open(store, { forwardSecrecy: forwardSecrecy() })
  relay.friends = [friendOf(bob)]
  await person.client.create({ nickname: 'victim' })
  relay.answersSyncs = false
  person.client.connect()
  await until('there is a session', async () => (await person.client.conversations()).length === 1)
  await deviceOf(person.client).needEngine().forward
  store.waitsIn = bob.conversationId
  relay.send(msg(bob, person, 1, 'first'))
  relay.send({ type: 'sync_end', count: 1 })
  await until('the message is handled', () => store.isWaiting)
  return person
}

/** Version 3 begins with the key packages. */
const begun = (): string[] => relay.called.filter((each) => each.includes('key-packages'))

test('version 3 does not go on with a sync_end of the connection before the present one', async () => {
  const [bob, store] = [makePeer('bob'), new WaitingStore()]
  const person = await behindMessage(bob, store)
  await reconnects(person)
  store.go()
  await until('the frames of the ended connection are handled', () => person.heard.synced.length === 1)
  relay.send(msg(bob, person, 2, 'second'))
  await person.receives('second')
  // Whatever has begun ends before this.
  await person.client.close()
  expect(begun()).toEqual([])
})

test('version 3 does not go on with the sync_end of a connection that is gone', async () => {
  const [bob, store] = [makePeer('bob'), new WaitingStore()]
  const person = await behindMessage(bob, store)
  relay.answers['POST /ws/ticket'] = () => ({ status: 503, body: { error: 'BUSY', title: 'Busy.' } })
  deviceOf(person.client).needEngine().connection.reopen()
  store.go()
  await until('the frames of the ended connection are handled', () => person.heard.synced.length === 1)
  await person.client.close()
  expect(begun()).toEqual([])
})
