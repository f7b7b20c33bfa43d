// People whose clients have forward secrecy, and what only a hostile client sends.

import { encodeBase64 } from '@sotto/crypto'
import type { SecretContent } from '@sotto/crypto/version-3'
import { encodeSecretContent } from '@sotto/crypto/version-3'
import { MessageId } from '@sotto/protocol'
import * as v from 'valibot'
import type { FetchLike } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { type Person, until } from './people.ts'
import type { PeopleWorld } from './people-world.ts'

/** Two friends who have exchanged messages until both send under version 3. */
export async function forwardFriends(world: PeopleWorld): Promise<[Person, Person, string]> {
  const options = { forwardSecrecy: forwardSecrecy() }
  const [alice, bob] = [await world.join('alice', options), await world.join('bob', options)]
  const conversation = await alice.befriend(bob)
  await untilVersion3(alice, bob)
  return [alice, bob, conversation]
}

/** Such friends, and what their clients ask of the relay by HTTP: each address with its body. */
export async function spiedFriends(world: PeopleWorld): Promise<[Person, Person, string[]]> {
  const asked: string[] = []
  const spied: FetchLike = (url, init) => {
    asked.push(`${url} ${String(init?.body)}`)
    return fetch(url, init)
  }
  const options = { forwardSecrecy: forwardSecrecy(), fetch: spied }
  const [alice, bob] = [await world.join('alice', options), await world.join('bob', options)]
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  return [alice, bob, asked]
}

/** Two people talk until both of them send under version 3. */
export async function untilVersion3(one: Person, other: Person): Promise<void> {
  await until('both send under version 3', async () => {
    const versions: (3 | undefined)[] = []
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const { id, version } = await from.client.send(to.alias, `from ${from.name}`)
      versions.push(version)
      await until('it arrives', async () =>
        (await to.client.messages(from.alias)).some((each) => each.id === id),
      )
    }
    return versions.every((version) => version === 3)
  })
}

/**
 * Sends any content, or any bytes, as a message of version 3. Resolves with its id, once the relay has it.
 */
export async function sendContent(
  person: Person,
  contact: string,
  content: SecretContent | Uint8Array,
): Promise<string> {
  const { sessions, journal, messages } = deviceOf(person.client).needEngine()
  const { conversationId, theirAliasId } = sessions.get(contact)
  const id = v.parse(MessageId, crypto.randomUUID())
  const bytes = content instanceof Uint8Array ? content : encodeSecretContent(content)
  const time = Date.now()
  const intent = { internalId: id, conversationId, toAliasId: theirAliasId, text: '', addedAt: time } as const
  const message = { id, conversationId, isMe: true, text: '', time, status: 'sending', version: 3 } as const
  await journal.write([
    { change: 'message', message: { ...message, msgType: 'unknown', content: encodeBase64(bytes) } },
    { change: 'outbox_added', intent: { ...intent, version: 3 } },
  ])
  messages.outbox.accept({ ...intent, version: 3 })
  await until('the relay has it', () => person.heard.status_change.some(({ message }) => message.id === id))
  return id
}
