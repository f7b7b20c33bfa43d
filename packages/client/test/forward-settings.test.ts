// What the user decides about a conversation while received messages of it are being stored.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { briefPauses } from './brief-pauses.ts'
import { untilVersion3 } from './forward-people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** The nonce of a state that is sealed. */
const NONCE_BYTES = 12

test('a decision made while a message is being stored is kept, and the message is no longer in the archive', async () => {
  const store = new MemoryStore()
  let onSeal: (() => void) | undefined
  const random = (length: number): Uint8Array<ArrayBuffer> => {
    if (length === NONCE_BYTES) onSeal?.()
    return briefPauses.random(length)
  }
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy() })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy(), store, random })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const { messages, sessions } = deviceOf(bob.client).needEngine()
  const { conversationId } = sessions.get(alice.alias)
  await messages.settings.set({ conversationId, archived: true })

  let decided: Promise<void> | undefined
  onSeal = () => {
    decided ??= messages.settings.set({ ...messages.settings.of(conversationId), pinned: 7 })
  }
  await alice.client.send(bob.alias, 'new')
  await bob.receives('new')
  expect(decided).toBeDefined()
  await decided
  expect(messages.settings.of(conversationId)).toEqual({ conversationId, pinned: 7 })
  expect(await store.listSettings()).toEqual([{ conversationId, pinned: 7 }])
})
