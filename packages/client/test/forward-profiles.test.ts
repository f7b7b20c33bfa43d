// What two people at a real relay call themselves among each other.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SecretProfile } from '@sotto/crypto/version-3'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { exportArchive, importArchive } from '../src/archive/archive.ts'
import {
  AppData,
  type ClientStore,
  keyVault,
  MemoryStore,
  Profiles,
  type SocketClass,
} from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { forwardFriends, sendContent, untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const PASSPHRASE = 'a passphrase of the tests'
const world = new PeopleWorld()
const root = await mkdtemp(join(tmpdir(), 'sotto-profiles-'))
afterAll(() => rm(root, { recursive: true }))

/** A store that says how many hidden messages of contacts came, and can lose keys and names. */
class WatchedStore extends MemoryStore {
  get hidden(): number {
    return [...this.state.messages()].filter(({ isMe, removed }) => !isMe && removed).length
  }

  lose(): void {
    this.state.secrets.clear()
    this.state.appData.clear()
  }
}

/** A socket that loses every message after it was stored. */
class LosingSocket extends WebSocket {
  static lost = 0

  override send(text: string): void {
    const frame: { type: string } = JSON.parse(text)
    if (frame.type === 'msg') LosingSocket.lost += 1
    else super.send(text)
  }
}

/** Joins with forward secrecy. */
function join3(name: string, options: Parameters<typeof world.join>[1] = {}): Promise<Person> {
  return world.join(name, { forwardSecrecy: forwardSecrecy(), ...options })
}

/** Two friends who speak version 3, and the second one's store. */
async function watchedFriends(): Promise<[Person, Person, WatchedStore]> {
  const store = new WatchedStore()
  const [alice, bob] = [await join3('alice'), await join3('bob', { store })]
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  return [alice, bob, store]
}

/** Closes a client, and opens another one on its store. */
async function restart(person: Person, options: Parameters<typeof world.open>[1] = {}): Promise<Person> {
  await person.client.close()
  if (person.store instanceof MemoryStore) person.store.reopen()
  const again = await world.open(person.name, {
    ...{ forwardSecrecy: forwardSecrecy(), store: person.store },
    ...options,
  })
  await again.connect()
  return again
}

/** Sends a text. Resolves once the contact has it. */
async function tell(from: Person, to: Person): Promise<void> {
  const text = `from ${from.name} ${crypto.randomUUID()}`
  await from.client.send(to.alias, text)
  await to.receives(text)
}

const nameOf = async (person: Person): Promise<string[]> =>
  (await new Profiles(person.client).list()).map(({ name }) => name)
const setName = (person: Person, name: string | undefined): Promise<void> =>
  new Profiles(person.client).setName(name)
/** What a store has of the profiles that contacts were sent, each with the id of its message. */
const sentIn = async (store: ClientStore): Promise<string[]> =>
  (await store.listAppData()).flatMap(({ name, value }) =>
    name.startsWith('sotto/profile/sent/') ? [value] : [],
  )

test('a name is sent once to a contact, before the next message, and taken back', async () => {
  const [alice, bob, store] = await watchedFriends()
  const profiles = new Profiles(alice.client)
  expect([await profiles.ownName(), await profiles.list(), await nameOf(bob)]).toEqual([undefined, [], []])
  await profiles.setName(' Alice\u202e of\nthe Hill ')
  expect(await profiles.ownName()).toBe('Alice of the Hill')
  await profiles.setName('Alice of the Hill')
  expect(await alice.store.listOutbox()).toEqual([])
  await tell(alice, bob)
  const [conversation] = await bob.client.conversations()
  const conversationId = conversation?.conversationId ?? ''
  expect(await new Profiles(bob.client).list()).toMatchObject([{ conversationId, name: 'Alice of the Hill' }])
  expect(conversation).toMatchObject({ nickname: 'alice', contactId: alice.alias })
  expect(bob.heard.changes.flat()).toContainEqual({ kind: 'conversation', conversationId })
  await tell(alice, bob)
  expect(store.hidden).toBe(1)

  await profiles.setName('Ally')
  await profiles.setName('Al')
  await tell(alice, bob)
  expect([await nameOf(bob), store.hidden]).toEqual([['Al'], 2])
  await profiles.setName(undefined)
  await tell(alice, bob)
  await tell(alice, bob)
  expect([await nameOf(bob), store.hidden, await profiles.ownName()]).toEqual([[], 3, undefined])
  const shown = [...(await alice.client.messages(bob.alias)), ...(await bob.client.messages(alice.alias))]
  expect(shown.filter(({ text }) => !text.startsWith('from '))).toEqual([])
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('a name for people has 1 to 64 visible characters, and needs forward secrecy', async () => {
  const alice = await join3('alice')
  for (const name of ['', '  ', '\u202e', 'x'.repeat(65)])
    expect(await failureOf(setName(alice, name))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  await setName(alice, '👩‍🚀'.repeat(21))
  expect(await new Profiles(alice.client).ownName()).toBe('👩‍🚀'.repeat(21))
  const older = await world.join('older')
  expect(await failureOf(setName(older, 'Alice'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect([await new Profiles(older.client).ownName(), await nameOf(older)]).toEqual([undefined, []])
  const data = new AppData(alice.client)
  expect(await failureOf(data.set('sotto/profile/own', '{}'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await data.list('')).toEqual([])
  expect(await data.list('sotto/')).toEqual([])
})

test('who is invited to a conversation is named in it without writing a message', async () => {
  const [alice, bob] = [await join3('alice'), await join3('bob')]
  await setName(alice, 'Alice of the Hill')
  await alice.befriend(bob)
  await until('Bob knows that Alice has version 3', async () => {
    await tell(alice, bob)
    return (await bob.client.conversation(alice.alias)).hasForwardSecrecy
  })
  expect(await nameOf(bob)).toEqual([])
  await tell(bob, alice)
  await until('Bob has the name', async () => (await nameOf(bob))[0] === 'Alice of the Hill')
})

test('the relay has no name in its store, and an older client and a stranger get none', async () => {
  const [alice, bob, store] = await watchedFriends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  await setName(alice, 'Alice of the Hill')
  await tell(alice, carol)
  expect(await sentIn(alice.store)).toEqual([])
  await bob.client.close()
  await alice.client.send(bob.alias, 'while you are away')
  await until('the relay has all', async () => (await alice.store.listOutbox()).length === 0)
  const sent = await sentIn(alice.store)
  expect(sent).toHaveLength(1)
  const kept: string[] = []
  for (const file of await readdir(world.relay.dataDir, { recursive: true, withFileTypes: true }))
    if (file.isFile()) kept.push(await readFile(join(file.parentPath, file.name), 'latin1'))
  expect(kept.some((each) => each.includes(alice.alias))).toBe(true)
  expect(kept.filter((each) => each.includes('Alice of the Hill'))).toEqual([])

  const again = await restart(bob)
  await again.receives('while you are away')
  expect([await nameOf(again), store.hidden]).toEqual([['Alice of the Hill'], 1])
  // They part. What is written then is refused, and nothing else leaves.
  const friendship = alice.client.friends().find(({ alias_id }) => alias_id === bob.alias)
  await alice.client.removeFriend(friendship?.friendship_id ?? 0)
  await setName(alice, 'Alice of the Valley')
  const { id } = await alice.client.send(bob.alias, 'are you there?')
  await alice.sees(bob.alias, id, 'failed')
  // Of a profile that was refused with it, nothing would be left here.
  expect(await sentIn(alice.store)).toEqual(sent)
  expect(await nameOf(again)).toEqual(['Alice of the Hill'])
  await alice.befriend(again)
  await tell(alice, again)
  expect(await nameOf(again)).toEqual(['Alice of the Valley'])
})

test('names are there after a restart, in a sealed store, in a folder and in an archive', async () => {
  const secrets = keyVault(new Uint8Array(32).fill(7))
  const folder = join(root, 'bob')
  const alice = await join3('alice', { secrets })
  const bob = await join3('bob', { store: await FileStore.open(folder) })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  await setName(bob, 'Bob by the Sea')
  await tell(bob, alice)
  await setName(alice, 'Alice of the Hill')
  // The profile and a message are encrypted and stored, and never arrive.
  const lossy = await restart(alice, { secrets, WebSocket: LosingSocket as unknown as SocketClass })
  await lossy.client.send(bob.alias, 'twice on its way')
  await until('both were lost', () => LosingSocket.lost >= 2)
  expect(await nameOf(bob)).toEqual([])
  const sent = await sentIn(alice.store)
  expect(sent).toHaveLength(1)
  const again = await restart(lossy, { secrets })
  await bob.receives('twice on its way')
  await tell(again, bob)
  expect(await sentIn(alice.store)).toEqual(sent)
  await bob.client.close()
  const reopened = await world.open('bob', {
    ...{ forwardSecrecy: forwardSecrecy(), store: await FileStore.open(folder) },
  })
  expect([await nameOf(reopened), await new Profiles(reopened.client).ownName()]).toEqual([
    ['Alice of the Hill'],
    'Bob by the Sea',
  ])
  expect(await nameOf(again)).toEqual(['Bob by the Sea'])
  const other = await world.open('archived')
  await importArchive(other.client, exportArchive(again.client, PASSPHRASE), PASSPHRASE)
  expect([await nameOf(other), await new Profiles(other.client).ownName()]).toEqual([
    ['Bob by the Sea'],
    'Alice of the Hill',
  ])
})

test('who lost the keys of the conversation gets the name again', async () => {
  const [alice, bob, store] = await watchedFriends()
  await setName(alice, 'Alice of the Hill')
  await tell(alice, bob)
  expect(store.hidden).toBe(1)
  await bob.client.close()
  store.lose()
  const again = await restart(bob)
  expect(await nameOf(again)).toEqual([])
  await tell(again, alice)
  await tell(alice, again)
  expect(await nameOf(again)).toEqual(['Alice of the Hill'])
  // A wiped device.
  const mnemonic = await again.client.recoveryPhrase()
  await again.client.close()
  const wiped = await world.open('bob', { forwardSecrecy: forwardSecrecy() })
  await wiped.client.recover({ mnemonic })
  await wiped.connect()
  await wiped.client.syncFriends()
  await tell(wiped, alice)
  await tell(alice, wiped)
  expect(await nameOf(wiped)).toEqual(['Alice of the Hill'])
})

test('a hostile name is shown as an unknown content, and an earlier one does not come back', async () => {
  const [alice, bob] = await forwardFriends(world)
  const at = Date.now()
  const send = (content: Omit<SecretProfile, 'kind'>): Promise<string> =>
    sendContent(bob, alice.alias, { kind: 'profile', ...content })
  const refused = ['\u202e\u200b', ' ', 'x'.repeat(65), '\u2800'].map((name, each) =>
    send({ name, at: at + each }),
  )
  const ids = await Promise.all(refused)
  await tell(bob, alice)
  expect(await nameOf(alice)).toEqual([])
  const shown = alice.heard.message.filter(({ msgType }) => msgType === 'unknown')
  expect(shown.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  await send({ name: 'Bob\u202e\n\u200bby\u0007 the Sea', at: at + 2 })
  for (const earlier of [at, at + 1, at + 2]) await send({ name: 'an earlier name', at: earlier })
  await send({ at: at + 1 })
  await tell(bob, alice)
  expect(await nameOf(alice)).toEqual(['Bob by the Sea'])
  // Nothing is in it, and what a later version adds is passed by.
  await send({ at: at + 3, unknown: [{ number: 99, value: Uint8Array.of(1) }] })
  await tell(bob, alice)
  expect(await nameOf(alice)).toEqual([])
  expect(alice.heard.error).toEqual([])
})
