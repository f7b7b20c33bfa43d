// Two people at a real relay whose clients have forward secrecy: conversations move up to version 3 by
// themselves.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConversationId, check, keyPackageEndpoints } from '@sotto/protocol'
import { exportArchive, importArchive } from '../src/archive/archive.ts'
import { MemoryStore, SecrecyChoices } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { LateForward } from '../src/forward-secrecy/late-forward.ts'
import { loadForwardSecrecy, provideForwardSecrecy } from '../src/forward-secrecy/provided.ts'
import { deviceOf } from '../src/module-access.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { forwardFriends, untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld({ LIMIT_KEY_PACKAGE_CLAIMS: '40' })

const friends = (): Promise<[Person, Person, string]> => forwardFriends(world)

/** A store that says how many key packages it holds the secrets of. */
class CountedStore extends MemoryStore {
  get packages(): number {
    return [...this.state.secrets.keys()].filter((name) => name.startsWith('package ')).length
  }
}

test('two clients move up to version 3 by themselves, and their messages arrive', async () => {
  const [alice, bob] = await friends()
  const sent = await alice.client.send(bob.alias, 'with a key of its own')
  const received = await bob.receives('with a key of its own')
  expect(received).toMatchObject({ id: sent.id, version: 3 })
  await alice.sees(bob.alias, sent.id, 'delivered')
  const reply = await bob.client.send(alice.alias, 'answer', { replyToId: sent.id })
  expect(await alice.receives('answer')).toMatchObject({ id: reply.id, version: 3, replyToId: sent.id })
  expect(alice.heard.error).toEqual([])
  expect(bob.heard.error).toEqual([])
})

test('many messages sent at once from both sides arrive in order, each once', async () => {
  const [alice, bob] = await friends()
  const count = 30
  const texts = (who: Person): string[] => Array.from({ length: count }, (_, at) => `${who.name} ${at}`)
  await Promise.all(
    [
      [alice, bob],
      [bob, alice],
    ].flatMap(([from, to]) =>
      from && to ? texts(from).map((text) => from.client.send(to.alias, text)) : [],
    ),
  )
  for (const [from, to] of [
    [alice, bob],
    [bob, alice],
  ] as const) {
    await to.receives(`${from.name} ${count - 1}`)
    const read = to.heard.message
      .filter(({ text }) => text.startsWith(`${from.name} `))
      .map(({ text }) => text)
    expect(read).toEqual(texts(from))
  }
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('a device that starts again goes on with its keys', async () => {
  const store = new MemoryStore()
  const options = { forwardSecrecy: forwardSecrecy(), store }
  const alice = await world.join('alice', options)
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  await alice.client.close()
  const sent = await bob.client.send(alice.alias, 'while you were away')
  const { time } = await bob.sees(alice.alias, sent.id, 'sent')
  store.reopen()
  const again = await world.open('alice', { forwardSecrecy: forwardSecrecy(), store })
  await again.connect()
  expect(await again.receives('while you were away')).toMatchObject({ version: 3, time })
  await again.client.send(bob.alias, 'I am back')
  expect(await bob.receives('I am back')).toMatchObject({ version: 3 })
  expect(bob.heard.secrecy.map(({ notice }) => notice.tell)).toEqual(['began'])
})

test('an old copy of a store joins again before it sends, and the two histories are the same afterwards', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'sotto-'))
  const [folder, copy] = [join(parent, 'store'), join(parent, 'copy')]
  try {
    const alice = await world.join('alice', {
      forwardSecrecy: forwardSecrecy(),
      store: await FileStore.open(folder),
    })
    const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
    await alice.befriend(bob)
    await untilVersion3(alice, bob)
    alice.client.disconnect()
    for (const text of ['first', 'second']) await alice.client.send(bob.alias, text)
    await alice.client.close()
    await cp(folder, copy, { recursive: true })

    const startAgain = async (): Promise<Person> => {
      const store = await FileStore.open(folder)
      const again = await world.open('alice', { forwardSecrecy: forwardSecrecy(), store })
      await again.connect()
      return again
    }
    const before = await startAgain()
    await bob.receives('second')
    await before.client.close()
    const told = bob.heard.secrecy.length

    await rm(folder, { recursive: true })
    await cp(copy, folder, { recursive: true })
    const after = await startAgain()
    await after.client.send(bob.alias, 'third')
    expect(await bob.receives('third')).toMatchObject({ version: 3 })
    await bob.client.send(after.alias, 'fourth')
    await after.receives('fourth')
    expect(after.heard.secrecy.map(({ notice }) => notice)).toEqual([
      { tell: 'store_behind' },
      { tell: 'rejoined', by: 'own', reason: 'store_behind' },
    ])
    expect(bob.heard.secrecy.slice(told).map(({ notice }) => notice)).toEqual([
      { tell: 'rejoined', by: 'peer' },
    ])
    const texts = async (whose: Person, contact: string): Promise<string[]> =>
      (await whose.client.messages(contact)).map(({ text }) => text)
    expect(await texts(after, bob.alias)).toEqual(await texts(bob, after.alias))
    expect((await texts(bob, after.alias)).slice(-4)).toEqual(['first', 'second', 'third', 'fourth'])
    await after.client.close()
  } finally {
    await rm(parent, { recursive: true })
  }
})

test('a device recovered by its phrase rejoins, and what nobody had read comes again', async () => {
  const [alice, bob] = await friends()
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  await alice.client.close()
  const sent = await bob.client.send(alice.alias, 'nobody has read this')
  await bob.sees(alice.alias, sent.id, 'sent')
  const again = await world.open('alice', { forwardSecrecy: forwardSecrecy() })
  await again.client.recover({ mnemonic })
  await again.connect()
  await again.client.syncFriends()
  await again.client.send(bob.alias, 'I lost my device')
  expect(await bob.receives('I lost my device')).toMatchObject({ version: 3 })
  expect(await again.receives('nobody has read this')).toMatchObject({ version: 3 })
  expect(bob.heard.secrecy.map(({ notice }) => notice)).toContainEqual({ tell: 'rejoined', by: 'peer' })
})

test('who brings a history along in an archive, without its keys, joins again by writing', async () => {
  const [alice, bob] = await friends()
  const again = await world.open('alice', { forwardSecrecy: forwardSecrecy() })
  await importArchive(again.client, exportArchive(alice.client, 'a passphrase'), 'a passphrase')
  await alice.client.close()
  await again.connect()
  await again.client.send(bob.alias, 'from my new device')
  expect(await bob.receives('from my new device')).toMatchObject({ version: 3 })
  expect(again.heard.error).toEqual([])
})

test('what an earlier run wrote for version 1, and certainly never sent, goes under version 3 to a contact who has it', async () => {
  const [alice, bob] = await friends()
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  await alice.client.close()
  // Without a connection nothing says that the conversation has version 3, and nothing leaves.
  const store = new MemoryStore()
  const recovered = await world.open('alice', { forwardSecrecy: forwardSecrecy(), store })
  await recovered.client.recover({ mnemonic })
  await recovered.client.syncFriends()
  const written = []
  for (const text of ['first', 'second']) written.push(await recovered.client.send(bob.alias, text))
  expect(written.map(({ version }) => version)).toEqual([undefined, undefined])
  await recovered.client.close()
  store.reopen()
  const again = await world.open('alice', { forwardSecrecy: forwardSecrecy(), store })
  await again.connect()
  for (const { text, id } of written) expect(await bob.receives(text)).toMatchObject({ id, version: 3 })
})

test('a message is retracted by an encrypted deletion, and not by the relay alone', async () => {
  const [alice, bob] = await friends()
  const sent = await alice.client.send(bob.alias, 'not for long')
  await alice.sees(bob.alias, sent.id, 'delivered')
  await alice.client.retract(bob.alias, sent.id)
  const retracted = await until('Bob sees it retracted', () => bob.heard.retracted[0])
  expect(retracted).toMatchObject({ id: sent.id, text: '', retracted: true })
  expect((await alice.client.conversation(bob.alias)).hasForwardSecrecy).toBe(true)
})

test('what the relay sends once more is not shown as unreadable, whatever it was', async () => {
  let confirms = true
  /** Loses confirmations, as a connection does that ends too early. */
  class Forgetful extends WebSocket {
    override send(data: string): void {
      if (confirms || !data.includes('"type":"delivered"')) super.send(data)
    }
  }
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy() })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy(), WebSocket: Forgetful })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  confirms = false
  const sent = await alice.client.send(bob.alias, 'not for long')
  await bob.receives('not for long')
  // The relay keeps what it deletes: so the deletion comes again, and the message does not.
  await alice.client.retract(bob.alias, sent.id)
  await until('Bob sees it retracted', () => bob.heard.retracted[0])
  await alice.client.send(bob.alias, 'last')
  await bob.receives('last')
  confirms = true
  bob.client.disconnect()
  await bob.connect()
  await alice.client.send(bob.alias, 'after it')
  await bob.receives('after it')
  expect(bob.heard.message.filter(({ msgType }) => msgType === 'undecryptable')).toEqual([])
  expect(bob.heard.secrecy.map(({ notice }) => notice.tell)).toEqual(['began'])
  expect(bob.heard.error).toEqual([])
})

test('the secrets of a key package are gone once it was used', async () => {
  const stores = [new CountedStore(), new CountedStore()] as const
  const [alice, bob] = [
    await world.join('alice', { forwardSecrecy: forwardSecrecy(), store: stores[0] }),
    await world.join('bob', { forwardSecrecy: forwardSecrecy(), store: stores[1] }),
  ]
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  // One of them began with a package of the other; each had forty and a last resort.
  expect(stores.map(({ packages }) => packages).toSorted()).toEqual([40, 41])
})

test('a device whose key packages run low at the relay gives it more, on the same connection', async () => {
  const store = new CountedStore()
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy(), store })
  const bob = await world.join('bob')
  const conversation = await alice.befriend(bob)
  // Version 3 begins with the first message.
  await bob.client.send(alice.alias, 'hello')
  await until('the relay has forty', () => store.packages === 41)
  const { http } = deviceOf(bob.client).needEngine()
  const params = { conv_id: check(ConversationId, conversation) }
  // The relay tells once fewer than twenty are left.
  for (let claims = 0; claims < 21; claims++)
    await http.call(keyPackageEndpoints.claimKeyPackages, { params })
  await until('it has forty again', () => store.packages === 41 + 21)
  expect(alice.heard.network_state.filter((state) => state === 'connected')).toHaveLength(1)
  expect(alice.heard.error).toEqual([])
})

test('a displaced device sees it, and takes a conversation back by the word of the user', async () => {
  const [alice, bob] = await friends()
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  const other = await world.open('alice', { forwardSecrecy: forwardSecrecy() })
  await other.client.recover({ mnemonic })
  await other.connect()
  await other.client.syncFriends()
  await other.client.send(bob.alias, 'from my other device')
  expect(await bob.receives('from my other device')).toMatchObject({ version: 3 })
  await until('the first device was disconnected', () => alice.heard.goaway[0])
  await other.client.close()

  const choices = new SecrecyChoices(alice.client)
  expect(await choices.stopOf(bob.alias)).toBeUndefined()
  await alice.connect()
  const waiting = await alice.client.send(bob.alias, 'from the first one again')
  await until('it learns that it was displaced', () =>
    alice.heard.secrecy.some(({ notice }) => notice.tell === 'displaced'),
  )
  expect(await choices.stopOf(bob.alias)).toBe('displaced')
  await choices.useThisDevice(bob.alias)
  expect(await bob.receives('from the first one again')).toMatchObject({ id: waiting.id, version: 3 })
  expect(await choices.stopOf(bob.alias)).toBeUndefined()
})

test('messages that wait because the contact uses an older client are told once, and arrive later', async () => {
  const [alice, bob] = await friends()
  const mnemonic = bob.client.identity?.mnemonic ?? ''
  await bob.client.close()
  const waits = (): number => alice.heard.secrecy.filter(({ notice }) => notice.tell === 'waits').length
  const bobWith = async (options: Parameters<PeopleWorld['open']>[1]): Promise<Person> => {
    const person = await world.open('bob', options)
    await person.client.recover({ mnemonic })
    await person.connect()
    return person
  }
  const older = await bobWith({})
  for (const text of ['waits 1', 'waits 2']) {
    const { id } = await alice.client.send(bob.alias, text)
    await alice.sees(bob.alias, id, 'sent')
  }
  expect(waits()).toBe(1)
  await older.client.close()
  const newer = await bobWith({ forwardSecrecy: forwardSecrecy() })
  await newer.client.syncFriends()
  await newer.client.send(alice.alias, 'I am back')
  await alice.receives('I am back')
  await newer.receives('waits 2')
  await newer.client.close()
  // Once the contact had version 3 again, it is news.
  await bobWith({})
  await alice.client.send(bob.alias, 'waits 3')
  await until('it is told again', () => waits() === 2)
  expect(alice.heard.error).toEqual([])
})

test('a client without forward secrecy still talks with one that has it', async () => {
  const [alice, bob] = [
    await world.join('alice', { forwardSecrecy: forwardSecrecy() }),
    await world.join('bob'),
  ]
  await alice.befriend(bob)
  for (const at of [1, 2, 3]) {
    await alice.client.send(bob.alias, `to the old one ${at}`)
    expect((await bob.receives(`to the old one ${at}`)).version).toBeUndefined()
    await bob.client.send(alice.alias, `to the new one ${at}`)
    expect((await alice.receives(`to the new one ${at}`)).version).toBeUndefined()
  }
  // What was written without a connection, too.
  alice.client.disconnect()
  for (const at of [1, 2]) await alice.client.send(bob.alias, `offline ${at}`)
  await alice.connect()
  await bob.receives('offline 2')
  expect(bob.heard.message.slice(-2).map(({ text }) => text)).toEqual(['offline 1', 'offline 2'])
})

test('a script that could not be loaded is loaded by the next use, on the same connection', async () => {
  let tries = 0
  const [alice, bob] = [
    await world.join('alice', { forwardSecrecy: forwardSecrecy() }),
    await world.join('bob', { forwardSecrecy: forwardSecrecy() }),
  ]
  provideForwardSecrecy({
    open: (context) => new LateForward(context, loadForwardSecrecy),
    load: async () => {
      tries += 1
      if (tries <= 2) throw new TypeError('not there')
      return import('../src/forward-secrecy/forward-secrecy.ts')
    },
  })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const codes = [...alice.heard.error, ...bob.heard.error].map(({ code }) => code)
  expect(codes).toEqual(['NETWORK', 'NETWORK'])
  for (const { heard } of [alice, bob])
    expect(heard.network_state.filter((state) => state === 'connected')).toHaveLength(1)
})

test('a relay that answers nonsense about a group is not asked again and again', async () => {
  let asked = 0
  const alice = await world.join('alice', {
    forwardSecrecy: forwardSecrecy(),
    fetch: async (url, init) => {
      if (!String(url).endsWith('/group')) return fetch(url, init)
      asked += 1
      return Response.json({ epoch: 'none' })
    },
  })
  const bob = await world.join('bob')
  await alice.befriend(bob)
  await alice.client.send(bob.alias, 'first')
  await bob.receives('first')
  await alice.client.send(bob.alias, 'second')
  await bob.receives('second')
  expect(asked).toBe(1)
  expect(alice.heard.error.map(({ code }) => code)).toEqual(['BAD_REPLY'])
})

test('a relay that is too busy to say whether there is a group gets no message under version 1', async () => {
  const [alice, bob] = await forwardFriends(world)
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  await alice.client.close()
  let refused = 0
  const again = await world.open('alice', {
    forwardSecrecy: forwardSecrecy(),
    fetch: async (url, init) => {
      if (!String(url).endsWith('/group') || refused === 3) return fetch(url, init)
      refused += 1
      // Longer than a call waits by itself.
      return Response.json({ error: 'RATE_LIMITED' }, { status: 429, headers: { 'retry-after': '3600' } })
    },
  })
  await again.client.recover({ mnemonic })
  await again.connect()
  await again.client.syncFriends()
  await again.client.send(bob.alias, 'not under the old key')
  expect(await bob.receives('not under the old key')).toMatchObject({ version: 3 })
  expect(refused).toBe(3)
})
