// Receipts of messages with forward secrecy: a mark of the contact covers each message whose acknowledgement
// came before it, also while that is still to be written.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Edits, MemoryStore } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { settle } from './fakes.ts'
import { untilVersion3 } from './forward-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** A store in which the look-up of one message waits until the test lets it go on. */
class HeldStore extends MemoryStore {
  heldId = ''
  isHeld = false
  readonly letGo = Promise.withResolvers<void>()

  override async findMessage(conversationId: string, isMe: boolean, id: string) {
    if (id === this.heldId) {
      this.isHeld = true
      await this.letGo.promise
    }
    return super.findMessage(conversationId, isMe, id)
  }
}

test('a mark that comes right after the acknowledgement of its message is not lost', async () => {
  const [store, came] = [new HeldStore(), new Set<string>()]
  let onMessageSent: (() => void) | undefined
  class HeardSocket extends WebSocket {
    constructor(url: string) {
      super(url)
      this.addEventListener('message', ({ data }) => came.add(JSON.parse(String(data)).type))
    }
    override send(text: string): void {
      if (JSON.parse(text).type === 'msg') onMessageSent?.()
      super.send(text)
    }
  }
  const options = { forwardSecrecy: forwardSecrecy() }
  const alice = await world.join('alice', { ...options, store, WebSocket: HeardSocket })
  const bob = await world.join('bob', options)
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const first = await alice.client.send(bob.alias, 'first')
  await alice.sees(bob.alias, first.id, 'delivered')
  store.heldId = first.id

  // An edit that changes nothing keeps the conversation busy, so that the relay's answer waits for it.
  let edited: Promise<unknown> | undefined
  came.clear()
  onMessageSent = () => {
    edited ??= new Edits(alice.client).edit(bob.alias, first.id, 'first')
  }
  const second = await alice.client.send(bob.alias, 'second')
  await until('the acknowledgement and the mark have come', () => came.has('ack') && came.has('delivered'))
  await settle()
  expect(store.isHeld).toBe(true)
  store.letGo.resolve()
  await edited
  expect(await alice.sees(bob.alias, second.id, 'delivered')).toMatchObject({ version: 3 })
  expect(alice.heard.error).toEqual([])
})
