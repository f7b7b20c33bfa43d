// Connections and processes that die: nothing lost, nothing doubled, nothing out of order.
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { SocketLike } from '../src/client.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { Person, until } from './people.ts'

// A busy machine is slow; what a test waits for says itself what did not come.
setDefaultTimeout(30_000)

let relay: RelayProcess
let root: string
const people: Person[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'sotto-client-'))
})
beforeEach(async () => {
  relay = await startRelay()
})
afterEach(async () => {
  for (const person of people.splice(0)) await person.client.close()
  await relay.stop()
})
afterAll(() => rm(root, { recursive: true }))

async function join_(name: string, options: Parameters<typeof Person.join>[2] = {}): Promise<Person> {
  const person = await Person.join(name, relay.url, options)
  people.push(person)
  return person
}

async function open(name: string, options: Parameters<typeof Person.open>[2] = {}): Promise<Person> {
  const person = await Person.open(name, relay.url, options)
  people.push(person)
  return person
}

function textsOf(person: Person): string[] {
  return person.heard.message.map(({ text }) => text)
}

async function allDelivered(person: Person, contact: string): Promise<void> {
  await until(
    'all are delivered',
    async () => (await person.client.messages(contact)).every(({ status }) => status === 'delivered'),
    40_000,
  )
}

test('a relay killed again and again while both write loses nothing and doubles nothing', async () => {
  const [alice, bob] = [await join_('alice'), await join_('bob')]
  await alice.befriend(bob)
  const texts = Array.from({ length: 400 }, (_, at) => `message ${at}`)
  let writing = true
  const killing = (async () => {
    while (writing) {
      await Bun.sleep(200)
      await relay.kill('SIGKILL')
      await relay.start()
    }
  })()
  for (const text of texts) {
    await Promise.all([alice.client.send(bob.alias, `a ${text}`), bob.client.send(alice.alias, `b ${text}`)])
    await Bun.sleep(5)
  }
  writing = false
  await killing
  await until('bob has all', () => bob.heard.message.length >= texts.length, 90_000)
  await until('alice has all', () => alice.heard.message.length >= texts.length, 90_000)
  await allDelivered(alice, bob.alias)
  await allDelivered(bob, alice.alias)
  await Bun.sleep(300)
  expect(textsOf(bob)).toEqual(texts.map((text) => `a ${text}`))
  expect(textsOf(alice)).toEqual(texts.map((text) => `b ${text}`))
  expect(await alice.store.listOutbox()).toEqual([])
  // Both sides agree on one order.
  const order = async (person: Person, other: Person) =>
    (await person.client.messages(other.alias)).map(({ text }) => text)
  expect(await order(alice, bob)).toEqual(await order(bob, alice))
}, 180_000)

test('a relay stopped cleanly is waited for, and the connection comes back by itself', async () => {
  const [alice, bob] = [await join_('alice'), await join_('bob')]
  await alice.befriend(bob)
  await relay.kill('SIGTERM')
  await until('alice notices', () => alice.client.networkState === 'connecting')
  await alice.client.send(bob.alias, 'while away')
  expect(await alice.transcript(bob.alias)).toEqual(['me: while away [sending]'])
  await relay.start()
  await until('bob gets it', () => textsOf(bob).includes('while away'), 40_000)
  expect(alice.heard.goaway).toEqual([])
}, 60_000)

test('what a client that died had not sent leaves when it is opened again, under the same id', async () => {
  const folder = join(root, 'died')
  const store = await FileStore.open(folder)
  const [alice, bob] = [await join_('alice', { store }), await join_('bob')]
  await alice.befriend(bob)
  alice.client.disconnect()
  const ids: string[] = []
  for (const text of ['one', 'two']) ids.push((await alice.client.send(bob.alias, text)).id)

  // What a crash at this moment leaves on the disk.
  const after = join(root, 'died-after')
  await cp(folder, after, { recursive: true, filter: (path) => !path.endsWith('lock') })
  const again = await open('alice', { store: await FileStore.open(after) })
  expect(again.alias).toBe(alice.alias)
  await again.connect()
  await until('bob has both', () => bob.heard.message.length === 2)
  expect(bob.heard.message.map(({ id }) => id)).toEqual(ids)
})

test('a message whose acknowledgement was lost is not shown twice', async () => {
  /** A socket that loses every `ack` until told otherwise. */
  let isLosing = true
  class Deaf implements SocketLike {
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
      this.#socket.addEventListener(type, (event) => {
        if (isLosing && event instanceof MessageEvent && String(event.data).includes('"ack"')) return
        listener(event as never)
      })
    }
  }
  const [alice, bob] = [await join_('alice', { WebSocket: Deaf }), await join_('bob')]
  await alice.befriend(bob)
  const sent = await alice.client.send(bob.alias, 'once')
  await bob.receives('once')
  await bob.client.markRead(alice.alias)
  alice.client.disconnect()
  isLosing = false
  await alice.connect()
  await alice.sees(bob.alias, sent.id, 'read')
  expect(textsOf(bob)).toEqual(['once'])
})

test('messages that came before a crash are there after it, and are confirmed', async () => {
  const folder = join(root, 'received')
  const [alice, bob] = [await join_('alice'), await join_('bob', { store: await FileStore.open(folder) })]
  await alice.befriend(bob)
  const texts = Array.from({ length: 300 }, (_, at) => `message ${at}`)
  for (const text of texts) await alice.client.send(bob.alias, text)
  await until('some arrive', () => bob.heard.message.length > 50)
  // The disk as it is at some moment in between, without the process that wrote it.
  const crashed = join(root, 'received-after')
  await cp(folder, crashed, { recursive: true, filter: (path) => !path.endsWith('lock') })
  const heardBefore = new Set(textsOf(bob))
  await bob.client.close()
  const again = await open('bob', { store: await FileStore.open(folder) })
  await again.connect()
  await allDelivered(alice, again.alias)
  const stored = (await again.client.messages(alice.alias)).map(({ text }) => text)
  expect(stored).toEqual(texts)
  for (const text of textsOf(again)) expect(heardBefore.has(text)).toBe(false)
  const copy = await FileStore.open(crashed)
  const conversation = (await again.client.conversation(alice.alias)).conversationId
  // Whatever the copy holds is a beginning of what was sent, without a hole.
  const kept = (await copy.listMessages(conversation)).map(({ text }) => text)
  expect(kept).toEqual(texts.slice(0, kept.length))
  await copy.close()
}, 90_000)

test('a full mailbox keeps messages waiting, in order, until there is room', async () => {
  await relay.stop()
  relay = await startRelay({ env: { LIMIT_MAILBOX_MESSAGES: '10', LIMIT_CONVERSATION_PERCENT: '100' } })
  const [alice, bob] = [await join_('alice'), await join_('bob')]
  await alice.befriend(bob)
  bob.client.disconnect()
  const texts = Array.from({ length: 25 }, (_, at) => `message ${at}`)
  for (const text of texts) await alice.client.send(bob.alias, text)
  await until('ten are at the relay', async () => (await alice.store.listOutbox()).length === 15)
  await Bun.sleep(200)
  expect((await alice.client.messages(bob.alias)).filter(({ status }) => status === 'failed')).toEqual([])
  await bob.connect()
  await until('bob has all', () => bob.heard.message.length === texts.length, 40_000)
  expect(textsOf(bob)).toEqual(texts)
}, 60_000)

test('a token that is killed is replaced, and the connection with it, by itself', async () => {
  let token = ''
  const watch = async (url: string, init: RequestInit): Promise<Response> => {
    token = new Headers(init.headers).get('authorization') ?? token
    return fetch(url, init)
  }
  const [alice, bob] = [await join_('alice', { fetch: watch }), await join_('bob')]
  await alice.befriend(bob)
  const killed = await fetch(`${relay.url}/api/v1/auth/logout`, {
    method: 'POST',
    headers: { authorization: token },
  })
  expect(killed.status).toBe(204)
  await until('alice was told', () => alice.heard.goaway[0], 20_000)
  expect(alice.heard.goaway).toEqual([{ reason: 'jwt_revoked' }])
  await until('alice is back', () => alice.client.networkState === 'connected', 20_000)
  await alice.client.send(bob.alias, 'still here')
  await bob.receives('still here')
}, 60_000)

test('a relay that lost everything is an error with a code, and costs nothing that is on the device', async () => {
  const [alice, bob] = [await join_('alice'), await join_('bob')]
  await alice.befriend(bob)
  await alice.client.send(bob.alias, 'kept')
  await relay.kill('SIGKILL')
  await rm(relay.dataDir, { recursive: true })
  await relay.start()
  await expect(alice.client.restore()).rejects.toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
  expect(alice.client.identity?.nickname).toBe('alice')
  expect((await alice.client.messages(bob.alias)).map(({ text }) => text)).toEqual(['kept'])
})
