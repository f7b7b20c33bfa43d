// Connections break and processes crash: no message is lost, duplicated or out of order.
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { failureOf } from '../../protocol/test/failure-of.ts'
import type { SocketLike } from '../src/client.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { Person, until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

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

async function joinRelay(name: string, options: Parameters<typeof Person.join>[2] = {}): Promise<Person> {
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

async function untilAllDelivered(person: Person, contact: string): Promise<void> {
  await until('all messages are delivered', async () =>
    (await person.client.messages(contact)).every(({ status }) => status === 'delivered'),
  )
}

test('a relay killed again and again while both sides send loses and duplicates no message', async () => {
  const [alice, bob] = [await joinRelay('alice'), await joinRelay('bob')]
  await alice.befriend(bob)
  const texts = Array.from({ length: 400 }, (_, at) => `message ${at}`)
  let isSending = true
  const killing = (async () => {
    while (isSending) {
      await Bun.sleep(200)
      await relay.kill('SIGKILL')
      await relay.start()
    }
  })()
  for (const text of texts) {
    await Promise.all([alice.client.send(bob.alias, `a ${text}`), bob.client.send(alice.alias, `b ${text}`)])
    await Bun.sleep(5)
  }
  isSending = false
  await killing
  await until('bob has all messages', () => bob.heard.message.length >= texts.length, 90_000)
  await until('alice has all messages', () => alice.heard.message.length >= texts.length, 90_000)
  // Duplicates of earlier messages would arrive before these two.
  await Promise.all([alice.client.send(bob.alias, 'a the end'), bob.client.send(alice.alias, 'b the end')])
  await Promise.all([alice.receives('b the end'), bob.receives('a the end')])
  texts.push('the end')
  await untilAllDelivered(alice, bob.alias)
  await untilAllDelivered(bob, alice.alias)
  expect(textsOf(bob)).toEqual(texts.map((text) => `a ${text}`))
  expect(textsOf(alice)).toEqual(texts.map((text) => `b ${text}`))
  expect(await alice.store.listOutbox()).toEqual([])
  // Both sides show the same order.
  const order = async (person: Person, other: Person) =>
    (await person.client.messages(other.alias)).map(({ text }) => text)
  expect(await order(alice, bob)).toEqual(await order(bob, alice))
})

test('after a clean stop of the relay the client reconnects by itself and sends the waiting message', async () => {
  const [alice, bob] = [await joinRelay('alice'), await joinRelay('bob')]
  await alice.befriend(bob)
  await relay.kill('SIGTERM')
  await until('alice has lost the connection', () => alice.client.networkState === 'connecting')
  await alice.client.send(bob.alias, 'while away')
  expect(await alice.transcript(bob.alias)).toEqual(['me: while away [sending]'])
  await relay.start()
  await until('bob gets the message', () => textsOf(bob).includes('while away'))
  expect(alice.heard.goaway).toEqual([])
})

test('a client reopened after a crash sends its unsent messages under the same ids', async () => {
  const folder = join(root, 'died')
  const store = await FileStore.open(folder)
  const [alice, bob] = [await joinRelay('alice', { store }), await joinRelay('bob')]
  await alice.befriend(bob)
  alice.client.disconnect()
  const ids: string[] = []
  for (const text of ['one', 'two']) ids.push((await alice.client.send(bob.alias, text)).id)

  // Copies the files, as a crash at this moment would leave them.
  const after = join(root, 'died-after')
  await cp(folder, after, { recursive: true, filter: (path) => !path.endsWith('lock') })
  const again = await open('alice', { store: await FileStore.open(after) })
  expect(again.alias).toBe(alice.alias)
  await again.connect()
  await until('bob has both messages', () => bob.heard.message.length === 2)
  expect(bob.heard.message.map(({ id }) => id)).toEqual(ids)
})

test('a message whose acknowledgement was lost is not shown twice', async () => {
  let isLosing = true
  /** A socket that drops every `ack` while `isLosing` is set. */
  class LossySocket implements SocketLike {
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
  const [alice, bob] = [await joinRelay('alice', { WebSocket: LossySocket }), await joinRelay('bob')]
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

test('messages received before a crash are stored after it, and are confirmed', async () => {
  const folder = join(root, 'received')
  const [alice, bob] = [
    await joinRelay('alice'),
    await joinRelay('bob', { store: await FileStore.open(folder) }),
  ]
  await alice.befriend(bob)
  const texts = Array.from({ length: 300 }, (_, at) => `message ${at}`)
  for (const text of texts) await alice.client.send(bob.alias, text)
  await until('some messages have arrived', () => bob.heard.message.length > 50)
  // Copies the files while messages arrive, as a crash at this moment would leave them.
  const crashed = join(root, 'received-after')
  await cp(folder, crashed, { recursive: true, filter: (path) => !path.endsWith('lock') })
  const heardBefore = new Set(textsOf(bob))
  await bob.client.close()
  const again = await open('bob', { store: await FileStore.open(folder) })
  await again.connect()
  await untilAllDelivered(alice, again.alias)
  const stored = (await again.client.messages(alice.alias)).map(({ text }) => text)
  expect(stored).toEqual(texts)
  for (const text of textsOf(again)) expect(heardBefore.has(text)).toBe(false)
  const copy = await FileStore.open(crashed)
  const conversation = (await again.client.conversation(alice.alias)).conversationId
  // The copy contains the first messages, without a gap.
  const kept = (await copy.listMessages(conversation)).map(({ text }) => text)
  expect(kept).toEqual(texts.slice(0, kept.length))
  await copy.close()
})

test('messages to a full mailbox wait in order until it has room', async () => {
  await relay.stop()
  relay = await startRelay({ env: { LIMIT_MAILBOX_MESSAGES: '10', LIMIT_CONVERSATION_PERCENT: '100' } })
  const [alice, bob] = [await joinRelay('alice'), await joinRelay('bob')]
  await alice.befriend(bob)
  bob.client.disconnect()
  const texts = Array.from({ length: 25 }, (_, at) => `message ${at}`)
  for (const text of texts) await alice.client.send(bob.alias, text)
  await until('the relay has ten messages', async () => (await alice.store.listOutbox()).length === 15)
  await Bun.sleep(200)
  expect((await alice.client.messages(bob.alias)).filter(({ status }) => status === 'failed')).toEqual([])
  await bob.connect()
  await until('bob has all messages', () => bob.heard.message.length === texts.length)
  expect(textsOf(bob)).toEqual(texts)
})

test('the client replaces a revoked token and reconnects by itself', async () => {
  let token = ''
  const watch = async (url: string, init: RequestInit): Promise<Response> => {
    token = new Headers(init.headers).get('authorization') ?? token
    return fetch(url, init)
  }
  const [alice, bob] = [await joinRelay('alice', { fetch: watch }), await joinRelay('bob')]
  await alice.befriend(bob)
  const revoked = await fetch(`${relay.url}/api/v1/auth/logout`, {
    method: 'POST',
    headers: { authorization: token },
  })
  expect(revoked.status).toBe(200)
  await until('alice gets a goaway', () => alice.heard.goaway[0])
  expect(alice.heard.goaway).toEqual([{ reason: 'jwt_revoked' }])
  await until('alice is connected again', () => alice.client.networkState === 'connected')
  await alice.client.send(bob.alias, 'still here')
  await bob.receives('still here')
})

test('a relay that lost its data causes ACCOUNT_NOT_FOUND, and the device keeps its data', async () => {
  const [alice, bob] = [await joinRelay('alice'), await joinRelay('bob')]
  await alice.befriend(bob)
  await alice.client.send(bob.alias, 'kept')
  await relay.kill('SIGKILL')
  await rm(relay.dataDir, { recursive: true })
  await relay.start()
  expect(await failureOf(alice.client.restore())).toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
  expect(alice.client.identity?.nickname).toBe('alice')
  expect((await alice.client.messages(bob.alias)).map(({ text }) => text)).toEqual(['kept'])
})
