// Refused frames: the registry of error codes decides which of them the client sends again.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { type ErrorCode, errors, isErrorCode } from '@sotto/protocol'
import { MemoryStore } from '../src/client.ts'
import { TestClock } from './fakes.ts'
import { friendOf, type HostileRelay, makePeer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { Person, until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const codes = Object.keys(errors).filter((code): code is ErrorCode => isErrorCode(code))
let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

test('for every error code, a refused message fails or is sent again as the registry says', async () => {
  const bob = makePeer('bob')
  relay.friends = [friendOf(bob)]
  const person = await Person.open('victim', relay.url, { store: new MemoryStore() })
  await person.client.create({ nickname: 'victim' })
  await person.connect()
  await until('the client has a session', async () => (await person.client.conversations()).length === 1)
  for (const [at, code] of codes.entries()) {
    const { id } = await person.client.send('bob', code)
    const attempts = () => relay.framesOf('msg').filter((frame) => frame.id === id).length
    await until('the client has sent the message', () => attempts() === 1)
    relay.send({ type: 'error', error: code, message: '', id, conv_id: bob.conversationId })
    if (errors[code].retry === 'never') {
      expect(await person.sees('bob', id, 'failed')).toMatchObject({ failure: code })
      expect(attempts()).toBe(1)
    } else {
      await until(`the client sends the message again after ${code}`, () => attempts() === 2)
      relay.send({ type: 'ack', id, conv_id: bob.conversationId, seq: at + 1, at: 1 })
      await person.sees('bob', id, 'sent')
    }
  }
  expect(await person.client.countUnsent()).toBe(0)
  await person.client.close()
})

test('a message refused with an unknown code is reported, retried a few times, and then fails', async () => {
  const bob = makePeer('bob')
  relay.friends = [friendOf(bob)]
  const person = await Person.open('victim', relay.url, { store: new MemoryStore() })
  await person.client.create({ nickname: 'victim' })
  await person.connect()
  await until('the client has a session', async () => (await person.client.conversations()).length === 1)
  const { id } = await person.client.send('bob', 'refused')
  const next = await person.client.send('bob', 'waits behind it')
  const sent = (of: string) => relay.framesOf('msg').filter((frame) => frame.id === of).length
  const refuse = (fields: object = {}) =>
    relay.send({
      type: 'error',
      error: 'CONTENT_REFUSED',
      message: '',
      id,
      conv_id: bob.conversationId,
      ...fields,
    })
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await until(`the client makes attempt ${attempt}`, () => sent(id) === attempt)
    expect(sent(next.id)).toBe(0)
    refuse(attempt === 2 ? { retry_after_ms: 20 } : {})
  }
  expect(await person.sees('bob', id, 'failed')).toMatchObject({ failure: 'CONTENT_REFUSED' })
  await until('the client has sent the next message', () => sent(next.id) === 1)
  expect(sent(id)).toBe(5)
  // The client reports the refusal once, not after every attempt.
  expect(person.heard.error.map(({ message }) => message.includes('CONTENT_REFUSED'))).toEqual([true])
  await person.client.close()
})

test('a client with an overdue acknowledgement reconnects, even if it receives other frames and no pong', async () => {
  const [store, bob] = [new MemoryStore(), makePeer('bob')]
  const before = await world.victim([bob], store)
  await before.client.close()
  store.reopen()
  const clock = new TestClock()
  const person = await Person.open('victim', relay.url, { store, clock })
  relay.answersPings = false
  await person.connect()
  await person.client.send('bob', 'not acknowledged')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  const tickets = () => relay.called.filter((path) => path === 'POST /ws/ticket').length
  const ticketsBefore = tickets()
  // The client still receives frames from the relay; only the acknowledgement and the pongs are missing.
  for (let second = 0; second < 120 && person.client.networkState === 'connected'; second += 5) {
    const heard = person.heard.typing.length
    relay.send({ type: 'typing', to: person.alias, conv_id: bob.conversationId, from: 'bob' })
    await until('the client has received the frame', () => person.heard.typing.length > heard)
    await clock.advance(5000)
  }
  expect(person.client.networkState).toBe('connecting')
  await until('the client connects again', async () => {
    await clock.advance(1000)
    return tickets() > ticketsBefore
  })
  await person.client.close()
})

test('a refused confirmation is sent again, and is not reported', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 4, 'confirm me'))
  await until('the client has confirmed the message', () => relay.framesOf('delivered').length === 1)
  relay.send({
    ...{ type: 'error', error: 'RELAY_FULL', message: '', retry_after_ms: 3000 },
    conv_id: bob.conversationId,
  })
  await until('the client has confirmed it again', () => relay.framesOf('delivered').length === 2)
  expect(relay.framesOf('delivered').map(({ seq }) => seq)).toEqual([4, 4])
  expect(person.heard.error).toEqual([])
})

test('a refused read receipt is sent again if the error code allows a retry', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 4, 'read me'))
  await person.receives('read me')
  await person.client.markRead('bob')
  await until('the client has sent the read receipt', () => relay.framesOf('read').length === 1)
  relay.send({ type: 'error', error: 'INTERNAL', message: '', conv_id: bob.conversationId })
  await until('the client has sent the read receipt again', () => relay.framesOf('read').length === 2)
  relay.send({ type: 'error', error: 'SEQ_UNKNOWN', message: '', conv_id: bob.conversationId })
  await until('the client reports the permanent refusal', () => person.heard.error.length === 1)
  await Bun.sleep(50)
  expect(relay.framesOf('read').length).toBe(2)
})
