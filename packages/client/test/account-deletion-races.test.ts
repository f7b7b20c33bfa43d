// The account is deleted while something else is done: nothing of it is stored later, and no identity that
// was created meanwhile is lost.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { ClientError, keyVault, MemoryStore, SottoClient } from '../src/client.ts'
import { settle } from './fakes.ts'
import { friendOf, makePeer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { Person, until } from './people.ts'
import { SlowStore } from './slow-store.ts'

setDefaultTimeout(240_000)
let world: HostileWorld
beforeEach(() => {
  world = new HostileWorld()
})
afterEach(() => world.stop())

const codeOf = (error: unknown): string => (error instanceof ClientError ? error.code : String(error))

/** A store whose work for a read mark lasts until `ended` resolves. */
class GateStore extends MemoryStore {
  readonly #ended: Promise<void>
  constructor(ended: Promise<void>) {
    super()
    this.#ended = ended
  }
  override async latestPeerSeq(conversationId: string) {
    await this.#ended
    return super.latestPeerSeq(conversationId)
  }
}

test('a message being sent while the account is deleted is not stored', async () => {
  const [store, bob] = [new SlowStore(), makePeer('bob')]
  const alice = await world.victim([bob], store)
  let sending: Promise<unknown> | undefined
  world.relay.answers['DELETE /me'] = () => {
    sending = alice.client.send('bob', 'secret', { id: 'x' }).catch(codeOf)
    return { body: {} }
  }
  await alice.client.deleteAccount()
  await sending
  expect(await store.listOutbox()).toEqual([])
  expect(await store.listMessages(bob.conversationId)).toEqual([])
})

test('a retraction or read mark made while the account is deleted is not stored', async () => {
  const [store, bob] = [new SlowStore(), makePeer('bob')]
  const alice = await world.victim([bob], store)
  world.relay.send(msg(bob, alice, 1, 'read me'))
  await alice.receives('read me')
  const sent = await alice.client.send('bob', 'take me back')
  const begun: Promise<unknown>[] = []
  world.relay.answers['DELETE /me'] = () => {
    begun.push(alice.client.retract('bob', sent.id).catch(codeOf), alice.client.markRead('bob').catch(codeOf))
    return { body: {} }
  }
  await alice.client.deleteAccount()
  await Promise.all(begun)
  expect(begun.length).toBe(2)
  expect(await store.listRetractIntents()).toEqual([])
  expect(await store.listReadMarks()).toEqual([])
  expect(await store.listMessages(bob.conversationId)).toEqual([])
})

test('deleting an account does not delete an identity created meanwhile', async () => {
  const { store } = await world.victim([])
  const made = Promise.withResolvers<void>()
  const client = await SottoClient.open({
    relayUrl: world.relay.url,
    store,
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (init.method === 'DELETE') await made.promise
      return response
    },
  })
  const deleted = client.deleteAccount().catch(codeOf)
  const next = await client.create({ nickname: 'next', replace: true })
  made.resolve()
  expect(await deleted).toBe('NO_IDENTITY')
  expect((await store.getIdentity())?.mnemonic).toBe(next.mnemonic)
  await client.close()
})

test('deleting an account does not delete an identity created while pending store work ends', async () => {
  const [ended, bob] = [Promise.withResolvers<void>(), makePeer('bob')]
  const store = new GateStore(ended.promise)
  const { client } = await world.victim([bob], store)
  const reading = client.markRead('bob')
  const deleted = client.deleteAccount()
  await until('the client has no identity', () => client.identity === undefined)
  const made = client.create({ nickname: 'next', replace: true })
  // A client that did not wait would have registered by now. Nothing can be awaited, because nothing happens:
  // a machine that is busy for longer only lets such a client pass.
  await Bun.sleep(300)
  ended.resolve()
  await Promise.all([reading, deleted])
  const next = await made
  expect((await store.getIdentity())?.mnemonic).toBe(next.mnemonic)
  expect(client.identity?.mnemonic).toBe(next.mnemonic)
})

test('lock() during an account deletion keeps the keys until the client’s store work has ended', async () => {
  const [ended, bob] = [Promise.withResolvers<void>(), makePeer('bob')]
  const person = await Person.open('victim', world.relay.url, {
    store: new GateStore(ended.promise),
    secrets: keyVault(crypto.getRandomValues(new Uint8Array(32))),
  })
  const { client } = person
  world.relay.friends = [friendOf(bob)]
  await client.create({ nickname: 'victim' })
  await client.syncFriends()
  const reading = client.markRead('bob')
  const deleted = client.deleteAccount()
  await until('the client has no identity', () => client.identity === undefined)
  let isLocked = false
  const locked = client.lock().then(() => {
    isLocked = true
  })
  await settle()
  expect(isLocked).toBe(false)
  ended.resolve()
  await Promise.all([reading, deleted, locked])
  await client.close()
})
