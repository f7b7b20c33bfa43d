// The relay says that a contact’s keys are others while it answers what was sent under version 3, and says
// the right ones again later. What was answered meanwhile holds up nothing.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import { MemoryStore, type SocketClass, type SocketLike } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { untilVersion3 } from './forward-people.ts'
import { makePeer } from './hostile-relay.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** A line that can keep the relay's answers to messages back. */
class KeepingLine {
  keeps = false
  readonly #kept: (() => void)[] = []
  readonly Socket: SocketClass

  constructor() {
    const pass = (data: unknown, hand: () => void): void => {
      if (this.keeps && JSON.parse(String(data)).type === 'ack') this.#kept.push(hand)
      else hand()
    }
    this.Socket = class implements SocketLike {
      readonly #socket: WebSocket
      constructor(url: string) {
        this.#socket = new WebSocket(url)
      }
      send(text: string): void {
        this.#socket.send(text)
      }
      close(code?: number): void {
        this.#socket.close(code)
      }
      addEventListener(type: string, listener: (event: never) => void): void {
        // The listener was added for this event type, so the event has the type it expects.
        const hand = (event: unknown): void => listener(event as never)
        if (type !== 'message') this.#socket.addEventListener(type, hand)
        else this.#socket.addEventListener('message', (event) => pass(event.data, () => hand(event)))
      }
    }
  }

  get kept(): number {
    return this.#kept.length
  }

  release(): void {
    this.keeps = false
    for (const hand of this.#kept.splice(0)) hand()
  }
}

/** The relay names other keys for a contact. */
async function changeKeys(person: Person, contact: string): Promise<void> {
  const { sessions } = deviceOf(person.client).needEngine()
  const other = makePeer(contact)
  const codes = await sessions.codesOf([other.x25519])
  expect(sessions.compare(contact, { x25519: other.x25519, ed25519: other.ed25519 }, codes)).toBe(false)
}

/** Resolves once the client has handled what it got before, also under version 3. */
async function handled(person: Person, contact: Person): Promise<void> {
  const { conversationId } = await person.client.conversation(contact.alias)
  const before = person.heard.typing.length
  contact.client.notifyTyping(person.alias)
  await until('a later frame is handled', () => person.heard.typing.length > before)
  await (await deviceOf(person.client).needEngine().forward)?.stopOf(check(ConversationId, conversationId))
}

test('a message that is answered while the keys of the contact are refused holds up none after it', async () => {
  const [line, store] = [new KeepingLine(), new MemoryStore()]
  const options = { forwardSecrecy: forwardSecrecy(), store, WebSocket: line.Socket }
  const alice = await world.join('alice', options)
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)

  line.keeps = true
  const { id } = await alice.client.send(bob.alias, 'answered late')
  await bob.receives('answered late')
  await until('its answer is kept back', () => line.kept > 0)
  await changeKeys(alice, bob.alias)
  line.release()
  await until('the answer is stored', async () =>
    (await store.listOutbox()).every(({ internalId }) => internalId !== id),
  )
  await alice.client.close()

  store.reopen()
  const again = await world.open('alice', options)
  await again.connect()
  const next = await again.client.send(bob.alias, 'the next one')
  expect(await bob.receives('the next one')).toMatchObject({ id: next.id, version: 3 })
  expect(bob.heard.secrecy.map(({ notice }) => notice.tell)).toEqual(['began'])
})

test('a handshake that is answered while the keys of the contact are refused holds up no message', async () => {
  const line = new KeepingLine()
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy(), WebSocket: line.Socket })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  await alice.befriend(bob)
  // It tells bob nothing of version 3, so alice begins the group.
  await alice.client.send(bob.alias, 'from alice')
  await bob.receives('from alice')
  await until('alice knows that bob has forward secrecy', async () => {
    await bob.client.send(alice.alias, 'from bob')
    return (await alice.client.conversation(bob.alias)).hasForwardSecrecy
  })

  line.keeps = true
  const { id } = await alice.client.send(bob.alias, 'waits for the group')
  await until('the answer to the handshake is kept back', () => line.kept > 0)
  await changeKeys(alice, bob.alias)
  line.release()
  await handled(alice, bob)
  await alice.client.syncFriends()
  expect(await bob.receives('waits for the group')).toMatchObject({ id, version: 3 })
})
