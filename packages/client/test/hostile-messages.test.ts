// A relay that lies about messages and receipts. It can withhold messages, and it can do nothing else.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore, type StoredMessage } from '../src/client.ts'
import type { StoreChange } from '../src/stores/records.ts'
import { friendOf, type HostileRelay, makePeer } from './hostile-relay.ts'
import { HostileWorld, idOf, msg, textsOf } from './hostile-world.ts'
import { until } from './people.ts'
import { SlowStore } from './slow-store.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

test('invalid frames do not stop the client', async () => {
  const peer = makePeer('bob')
  const person = await world.victim([peer])
  const rubbish: (string | Record<string, unknown>)[] = [
    '',
    '{',
    'null',
    '[]',
    '"msg"',
    '{"type":5}',
    '{"type":"__proto__"}',
    '{"type":"toString"}',
    '[['.repeat(5000),
    { type: 'unheard_of' },
    { type: 'msg' },
    { ...msg(peer, person, 1, 'x'), seq: -1 },
    { ...msg(peer, person, 1, 'x'), seq: 1.5 },
    { ...msg(peer, person, 1, 'x'), seq: '1' },
    { ...msg(peer, person, 1, 'x'), payload: '!' },
    { ...msg(peer, person, 1, 'x'), id: '' },
    { ...msg(peer, person, 1, 'x'), conv_id: '__proto__' },
    { ...msg(peer, person, 1, 'x'), from: '../..' },
    { type: 'goaway', reason: 'because' },
    { type: 'ack', id: 'x', conv_id: peer.conversationId, seq: 1, at: 1 },
    { type: 'retract_ack', id: 'x', conv_id: peer.conversationId },
    { type: 'error', error: '__proto__', message: '', id: '__proto__' },
    { type: 'error', error: 'NOT_FRIENDS', message: 'x', id: 'unknown' },
    { type: 'read', conv_id: peer.conversationId, seq: 2 ** 53, to: 'abc', from: 'bob' },
    { type: 'friend_accepted', friendship_id: 1, from: 'mallory', conv_id: crypto.randomUUID() },
  ]
  for (const frame of rubbish) relay.send(frame)
  relay.send(msg(peer, person, 1, 'still alive'))
  await person.receives('still alive')
  expect(await textsOf(person, peer)).toEqual(['still alive'])
  expect(person.client.networkState).toBe('connected')
  expect(person.heard.goaway).toEqual([])
  expect((await person.client.conversations()).length).toBe(1)
})

test('a repeated message is shown once and confirmed each time', async () => {
  const peer = makePeer('bob')
  const person = await world.victim([peer])
  const first = msg(peer, person, 3, 'once')
  for (const frame of [first, first, { ...first, id: 'another-id' }, { ...first, seq: 4 }]) {
    relay.send(frame)
    await world.settled(person)
  }
  expect(person.heard.message.length).toBe(1)
  expect(await textsOf(person, peer)).toEqual(['once'])
  await until('the client has confirmed the last frame', () =>
    relay.framesOf('delivered').some(({ seq }) => seq === 4),
  )
  expect(relay.framesOf('delivered').map(({ seq }) => seq)).toEqual([3, 3, 3, 4])
})

test('a burst that repeats its own messages shows each once', async () => {
  const peer = makePeer('bob')
  // Its reads take a moment, so that frames wait and are looked up together.
  const person = await world.victim([peer], new SlowStore())
  const texts = Array.from({ length: 30 }, (_, at) => `message ${at}`)
  for (const [at, text] of texts.entries()) {
    const seq = 3 * at + 1
    const frame = msg(peer, person, seq, text)
    relay.send(frame)
    relay.send({ ...frame, id: `another-${at}`, seq: seq + 1 })
    relay.send({ ...frame, payload: msg(peer, person, seq, 'not shown').payload, seq: seq + 2 })
  }
  await person.receives('message 29')
  await world.settled(person)
  expect(await textsOf(person, peer)).toEqual(texts)
  expect(person.heard.message.map(({ text }) => text)).toEqual(texts)
})

test('a payload that the relay repeats under another id, or sends back to its sender, is not shown', async () => {
  const store = new MemoryStore()
  const bob = makePeer('bob')
  const person = await world.victim([bob], store)
  const first = msg(bob, person, 1, 'yes')
  relay.send(first)
  await person.receives('yes')
  await person.client.send('bob', 'I owe you nothing')
  const own = await until('the client has sent the message', () => relay.framesOf('msg')[0])
  relay.send({ ...first, id: 'fresh', seq: 2 })
  relay.send({ ...first, id: 'mirrored', seq: 3, payload: own.payload })
  await world.settled(person)
  await person.client.close()
  store.reopen()
  const again = await world.open(store)
  await again.connect()
  relay.send({ ...first, id: 'fresher', seq: 4 })
  relay.send({ ...first, id: 'mirrored-again', seq: 5, payload: own.payload })
  relay.send(msg(bob, again, 6, 'no'))
  await again.receives('no')
  expect(await again.transcript('bob')).toEqual(['them: yes', 'them: no', 'me: I owe you nothing [sending]'])
})

test('a message with the id or the seq of an earlier one neither replaces it nor is shown', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 1, 'first'))
  const first = await person.receives('first')
  relay.send(msg(bob, person, 2, 'with its id', { id: first.id }))
  relay.send(msg(bob, person, 1, 'with its seq'))
  relay.send(msg(bob, person, 3, 'last'))
  await person.receives('last')
  expect(await person.transcript('bob')).toEqual(['them: first', 'them: last'])
  expect(person.heard.message.map(({ text }) => text)).toEqual(['first', 'last'])
})

test('every attempt to send a message sends the same frame', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  await person.client.send('bob', 'hello')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.close(1012)
  await until('the client has sent the message again', () => relay.framesOf('msg').length === 2)
  expect(relay.framesOf('msg')[1]).toEqual(relay.framesOf('msg')[0] ?? {})
})

test('a message with one contact’s conversation and another contact’s alias is not shown', async () => {
  const [bob, mallory] = [makePeer('bob'), makePeer('mallory')]
  const person = await world.victim([bob, mallory])
  relay.send({ ...msg(bob, person, 1, 'to whom?'), from: 'mallory' })
  relay.send({ ...msg(mallory, person, 1, 'as bob'), conv_id: bob.conversationId, from: 'bob' })
  relay.send({ ...msg(bob, person, 2, 'unexplained'), conv_id: mallory.conversationId, from: 'stranger' })
  relay.send(msg(bob, person, 9, 'real'))
  await person.receives('real')
  // Mallory's message in Bob's conversation cannot be decrypted, so it is not shown as Bob's.
  expect(
    (await person.client.messages(bob.conversationId)).map(({ text, msgType }) => [text, msgType]),
  ).toEqual([['real', 'text']])
  expect(await textsOf(person, mallory)).toEqual([])
})

test('a message that cannot be decrypted is stored as undecryptable', async () => {
  const [bob, mallory] = [makePeer('bob'), makePeer('mallory')]
  const person = await world.victim([bob, mallory])
  relay.send({ ...msg(mallory, person, 1, 'forged'), conv_id: bob.conversationId, from: 'bob' })
  await until('the application gets the error', () =>
    person.heard.error.find(({ code }) => code === 'UNDECRYPTABLE'),
  )
  expect(person.heard.message).toMatchObject([{ msgType: 'undecryptable', text: '', seq: 1 }])
})

test('messages of an unknown conversation are stored, and shown once the friend list has the conversation', async () => {
  const peer = makePeer('bob')
  const person = await world.victim([])
  await until('the client has requested the friend list', () => relay.called.includes('GET /friends'))
  // The messages make the client request the list again. The relay answers after the checks below.
  const listed = Promise.withResolvers<void>()
  relay.answers['GET /friends'] = () => listed.promise.then(() => ({ body: [friendOf(peer)] }))
  relay.send(msg(peer, person, 1, 'one'))
  relay.send(msg(peer, person, 2, 'two'))
  relay.send(msg(peer, person, 2, 'two'))
  await until('the client has confirmed the messages', () =>
    relay.framesOf('delivered').some(({ seq }) => seq === 2),
  )
  expect(await person.store.countOfflineMessages()).toBe(2)
  listed.resolve()
  await person.receives('two')
  expect(person.heard.message.map(({ text }) => text)).toEqual(['one', 'two'])
  expect(await person.store.countOfflineMessages()).toBe(0)
})

test('the client stores messages of unknown conversations up to a limit, and confirms none above it', async () => {
  class FullStore extends MemoryStore {
    override async countOfflineMessages(): Promise<number> {
      return 20_000
    }
  }
  const bob = makePeer('bob')
  const person = await world.victim([bob], new FullStore())
  const unknown = makePeer('mallory')
  relay.send(msg(unknown, person, 1, 'one'))
  relay.send(msg(bob, person, 1, 'hello'))
  await person.receives('hello')
  await until('the client has confirmed bob’s message', () => relay.framesOf('delivered').length > 0)
  await world.settled(person)
  expect(person.heard.error.map(({ code }) => code)).toEqual(['STORE_FAILED'])
  expect(relay.framesOf('delivered').map(({ conv_id }) => conv_id)).toEqual([bob.conversationId])
})

test('an acknowledgement counts only for a sent message in its conversation', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  const sent = await person.client.send('bob', 'hello')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.send({ type: 'ack', id: sent.id, conv_id: carol.conversationId, seq: 1, at: 1 })
  relay.send({ type: 'ack', id: sent.id, conv_id: crypto.randomUUID(), seq: 1, at: 1 })
  relay.send({
    type: 'delivered',
    conv_id: bob.conversationId,
    seq: Number.MAX_SAFE_INTEGER,
    to: person.alias,
    from: 'bob',
  })
  relay.send({
    type: 'read',
    conv_id: bob.conversationId,
    seq: Number.MAX_SAFE_INTEGER,
    to: person.alias,
    from: 'bob',
  })
  await world.settled(person)
  expect(await person.transcript('bob')).toEqual(['me: hello [sending]'])
  expect((await person.store.listOutbox()).length).toBe(1)
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 7, at: 1234 })
  await person.sees('bob', sent.id, 'sent')
  // The earlier receipts do not mark this message, because it had no seq when they arrived.
  expect(await person.transcript('bob')).toEqual(['me: hello [sent]'])
})

test('the status of a message never goes back', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const sent = await person.client.send('bob', 'hello')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  const receipt = (type: string) => ({
    type,
    conv_id: bob.conversationId,
    seq: 5,
    to: person.alias,
    from: 'bob',
  })
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 5, at: 1 })
  relay.send(receipt('read'))
  relay.send(receipt('delivered'))
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 1, at: 1 })
  relay.send({ type: 'error', error: 'NOT_FRIENDS', message: '', id: sent.id })
  relay.send({ type: 'error', error: 'EXPIRED', message: '', id: sent.id, conv_id: bob.conversationId })
  await world.settled(person)
  expect(await person.client.messages('bob')).toMatchObject([{ status: 'read', seq: 5 }])
})

test('a contact’s receipts and retractions change no message of another contact or of the user', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  const sent = await person.client.send('bob', 'mine')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 1, at: 1 })
  relay.send(msg(bob, person, 2, 'bob’s'))
  await person.receives('bob’s')
  const retract = { type: 'retract', to: person.alias, seq: 9, at: 9 }
  relay.send({ ...retract, id: sent.id, conv_id: bob.conversationId, from: 'bob' })
  relay.send({ ...retract, id: idOf('bob’s'), conv_id: carol.conversationId, from: 'carol', seq: 10 })
  relay.send({ ...retract, id: idOf('bob’s'), conv_id: bob.conversationId, from: 'carol', seq: 11 })
  relay.send({ type: 'read', conv_id: bob.conversationId, seq: 5, to: person.alias, from: 'carol' })
  await world.settled(person)
  expect(await person.transcript('bob')).toEqual(['me: mine [sent]', 'them: bob’s'])
  expect(person.heard.retracted).toEqual([])
})

test('a peer’s message does not replace the user’s message with the same id', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const sent = await person.client.send('bob', 'mine')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.send(msg(bob, person, 2, 'theirs', { id: sent.id }))
  await person.receives('theirs')
  expect((await person.transcript('bob')).toSorted()).toEqual(['me: mine [sending]', 'them: theirs'])
})

/** A store whose writes wait for `gate` and fail with it. */
class GatedStore extends MemoryStore {
  gate: Promise<void> = Promise.resolve()
  begun = 0
  override async write(changes: readonly StoreChange[]): Promise<void> {
    await super.write(changes)
    this.begun += 1
    await this.gate
  }
}

test('the client confirms a message only after storing it, and never if storing fails', async () => {
  const store = new GatedStore()
  const bob = makePeer('bob')
  const person = await world.victim([bob], store)
  let finish = (): void => {}
  store.gate = new Promise((resolve) => {
    finish = resolve
  })
  const { begun } = store
  relay.send(msg(bob, person, 1, 'slow'))
  relay.send(msg(bob, person, 1, 'slow'))
  await until('both writes wait for the disk', () => store.begun === begun + 2)
  await Bun.sleep(100)
  expect(relay.framesOf('delivered')).toEqual([])
  expect(person.heard.message).toEqual([])
  finish()
  await person.receives('slow')
  await until('the client has confirmed the message', () => relay.framesOf('delivered').length > 0)

  store.gate = Promise.reject(new Error('disk full'))
  store.gate.catch(() => {})
  relay.send(msg(bob, person, 2, 'lost'))
  await until('the application gets the error', () =>
    person.heard.error.find(({ code }) => code === 'STORE_FAILED'),
  )
  await Bun.sleep(50)
  expect(relay.framesOf('delivered').map(({ seq }) => seq)).toEqual([1])
  expect(person.client.networkState).toBe('disconnected')
  store.gate = Promise.resolve()
})

test('application handlers that throw do not stop the client', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  person.client.on('message', () => {
    throw new Error('a bug in the application')
  })
  person.client.on('error', () => {
    throw new Error('another')
  })
  relay.send(msg(bob, person, 1, 'one'))
  relay.send(msg(bob, person, 2, 'two'))
  await person.receives('two')
  expect(person.heard.error.map(({ code }) => code)).toEqual(['HANDLER_FAILED', 'HANDLER_FAILED'])
})

test('the client confirms many messages with few frames', async () => {
  const store = new GatedStore()
  const bob = makePeer('bob')
  const person = await world.victim([bob], store)
  const disk = Promise.withResolvers<void>()
  store.gate = disk.promise
  const { begun } = store
  for (let seq = 1; seq <= 200; seq += 1) relay.send(msg(bob, person, seq, `m${seq}`))
  // However slowly they came, they are stored at the same time.
  await until('all writes wait for the disk', () => store.begun === begun + 200)
  disk.resolve()
  await person.receives('m200')
  await until('the client has confirmed all messages', () => relay.framesOf('delivered').at(-1)?.seq === 200)
  expect(relay.framesOf('delivered').length).toBeLessThan(100)
  const seqs = relay.framesOf('delivered').map(({ seq }) => Number(seq))
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
  const stored: readonly StoredMessage[] = await person.client.messages('bob')
  expect(stored.length).toBe(200)
})

test('the function that `on` returns removes only its handler', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  let heard = 0
  const count = (): void => {
    heard += 1
  }
  const undo = person.client.on('message', count)
  person.client.on('message', count)
  undo()
  undo()
  relay.send(msg(bob, person, 1, 'one'))
  await person.receives('one')
  expect(heard).toBe(1)
})
