// Refused frames: which are sent again is the registry's word, code by code.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { type ErrorCode, errors, isErrorCode } from '@sotto/protocol'
import { MemoryStore } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { Person, until } from './people.ts'

// A busy machine is slow; what a test waits for says itself what did not come.
setDefaultTimeout(60_000)

const codes = Object.keys(errors).filter((code): code is ErrorCode => isErrorCode(code))
let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

/** Random bytes, except that every lot of a wait is drawn as none. */
const noWaits = (length: number) =>
  length === 4 ? new Uint8Array(4) : crypto.getRandomValues(new Uint8Array(length))

test('a refused message fails or is sent again, by the registry, under every code', async () => {
  const bob = makePeer('bob')
  relay.friends = [friendOf(bob)]
  const person = await Person.open('victim', relay.url, { store: new MemoryStore(), random: noWaits })
  await person.client.create({ nickname: 'victim' })
  await person.connect()
  await until('a session', async () => (await person.client.conversations()).length === 1)
  for (const [at, code] of codes.entries()) {
    const { id } = await person.client.send('bob', code)
    const attempts = () => relay.framesOf('msg').filter((frame) => frame.id === id).length
    await until('it is sent', () => attempts() === 1)
    relay.send({ type: 'error', error: code, message: '', id, conv_id: bob.conversationId })
    if (errors[code].retry === 'never') {
      expect(await person.sees('bob', id, 'failed')).toMatchObject({ failure: code })
      expect(attempts()).toBe(1)
    } else {
      await until(`${code} is tried again`, () => attempts() === 2)
      relay.send({ type: 'ack', id, conv_id: bob.conversationId, seq: at + 1, at: 1 })
      await person.sees('bob', id, 'sent')
    }
  }
  expect(await person.client.countUnsent()).toBe(0)
  await person.client.close()
})

test('a refused receipt of reading is told again where that can help', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 4, 'read me'))
  await person.receives('read me')
  await person.client.markRead('bob')
  await until('it is told', () => relay.framesOf('read').length === 1)
  relay.send({ type: 'error', error: 'INTERNAL', message: '', conv_id: bob.conversationId })
  await until('it is told again', () => relay.framesOf('read').length === 2)
  relay.send({ type: 'error', error: 'SEQ_UNKNOWN', message: '', conv_id: bob.conversationId })
  await until('a refusal for good is told', () => person.heard.error.length === 1)
  await Bun.sleep(50)
  expect(relay.framesOf('read').length).toBe(2)
})
