// Two operations at the same time, or a store read that fails in the middle of one: the client loses nothing,
// and no identity overwrites another. A review found a defect for each test.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { ClientError, keyVault, MemoryStore, SottoClient } from '../src/client.ts'
import { TestClock } from './fakes.ts'
import { friendOf, makePeer } from './hostile-relay.ts'
import { HostileWorld, idOf, msg } from './hostile-world.ts'
import { Person, until } from './people.ts'
import { SlowStore } from './slow-store.ts'

setDefaultTimeout(240_000)
let world: HostileWorld
beforeEach(() => {
  world = new HostileWorld()
})
afterEach(() => world.stop())

const codeOf = (error: unknown): string => (error instanceof ClientError ? error.code : String(error))

test('after a failed read the client disconnects, and a later message does not confirm the failed one', async () => {
  const [store, bob] = [new SlowStore(), makePeer('bob')]
  const alice = await world.victim([bob], store)
  store.failsOnce = true
  world.relay.send(msg(bob, alice, 1, 'one'))
  world.relay.send(msg(bob, alice, 2, 'two'))
  await until('the application gets the error', () =>
    alice.heard.error.some(({ code }) => code === 'STORE_FAILED'),
  )
  await until('the relay has got everything that was sent', () => world.relay.connections === 0)
  expect(world.relay.framesOf('delivered')).toEqual([])
  expect(alice.client.networkState).toBe('disconnected')
})

test('of two create calls at once, the second fails', async () => {
  const { client } = await world.open(new SlowStore())
  const made = await Promise.allSettled([client.create({ nickname: 'a' }), client.create({ nickname: 'b' })])
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test('a late reply to a nickname change does not restore a replaced identity', async () => {
  const { store } = await world.victim([])
  const before = await store.getIdentity()
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const client = await SottoClient.open({
    relayUrl: world.relay.url,
    store,
    fetch: async (url, init) => {
      if (init.method !== 'PATCH') return fetch(url, init)
      await held
      return Response.json({
        uuid: world.relay.uuid,
        alias_id: 'u12345678',
        nickname: 'renamed',
        ed25519_public_key: before?.signingPublicKey,
        x25519_public_key: before?.ecdhPublicKey,
        created_at: '2026-01-01T00:00:00.000Z',
      })
    },
  })
  const renamed = client.setNickname('renamed').catch(codeOf)
  const made = await client.create({ nickname: 'fresh', replace: true })
  release()
  expect(await renamed).toBe('NO_IDENTITY')
  expect((await store.getIdentity())?.mnemonic).toBe(made.mnemonic)
  await client.close()
})

/** A store that reads the identity only when the test allows it. */
class HeldStore extends MemoryStore {
  readonly read = Promise.withResolvers<void>()
  isHeld = false
  override async getIdentity() {
    const identity = await super.getIdentity()
    if (this.isHeld) await this.read.promise
    return identity
  }
}

test.each<[string, (client: SottoClient, store: HeldStore, answer: () => Promise<void>) => Promise<void>]>([
  [
    'locked',
    async (client, _, answer) => {
      await client.lock()
      await answer()
    },
  ],
  [
    'locked and unlocked',
    async (client, _, answer) => {
      await client.lock()
      await client.unlock()
      await answer()
    },
  ],
  [
    'being unlocked',
    async (client, store, answer) => {
      await client.lock()
      store.isHeld = true
      const unlocked = client.unlock()
      await answer()
      store.read.resolve()
      await unlocked
    },
  ],
])('an account deleted while its client is %s leaves nothing behind', async (_, interrupt) => {
  const [store, answered] = [new HeldStore(), Promise.withResolvers<void>()]
  world.relay.friends = [friendOf(makePeer('bob'))]
  const client = await SottoClient.open({
    relayUrl: world.relay.url,
    store,
    secrets: keyVault(crypto.getRandomValues(new Uint8Array(32))),
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (init.method === 'DELETE') await answered.promise
      return response
    },
  })
  await client.create({ nickname: 'victim' })
  await client.syncFriends()
  const deleted = client.deleteAccount()
  await until('the client has requested the deletion', () => world.relay.called.includes('DELETE /me'))
  await interrupt(client, store, async () => {
    answered.resolve()
    // The relay answers this request after the pending one.
    await fetch(world.relay.url)
  })
  await deleted
  await client.unlock()
  expect(client.identity).toBeUndefined()
  expect([await store.getIdentity(), await store.listSessions(), await store.listFriends()]).toEqual([
    undefined,
    [],
    [],
  ])
  await client.close()
})

test('an identity created while the previous one is being unlocked replaces it', async () => {
  const [store, verified] = [new HeldStore(), Promise.withResolvers<void>()]
  let isVerifying = false
  const client = await SottoClient.open({
    relayUrl: world.relay.url,
    store,
    secrets: keyVault(crypto.getRandomValues(new Uint8Array(32))),
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (client.identity && url.endsWith('/auth/verify')) {
        isVerifying = true
        await verified.promise
      }
      return response
    },
  })
  await client.create({ nickname: 'before' })
  const making = client.create({ nickname: 'next', replace: true })
  await until('the client is about to create the identity', () => isVerifying)
  await client.lock()
  const reading = Promise.withResolvers<void>()
  const { listFriends } = store
  store.listFriends = async () => {
    // Only the first read waits; later ones return at once.
    store.listFriends = listFriends
    reading.resolve()
    await store.read.promise
    return []
  }
  const unlocked = client.unlock()
  await reading.promise
  verified.resolve()
  // The relay answers this request after the pending one.
  await fetch(world.relay.url)
  store.read.resolve()
  const [made] = await Promise.all([making, unlocked])
  expect(client.identity?.mnemonic).toBe(made.mnemonic)
  expect(client.identity?.nickname).toBe('next')
  await client.close()
})

test('after a reconnect the client confirms a message only once it is on the disk', async () => {
  const [bob, disk] = [makePeer('bob'), Promise.withResolvers<void>()]
  class SlowDisk extends MemoryStore {
    isSlow = false
    override async write(changes: Parameters<MemoryStore['write']>[0]): Promise<void> {
      await super.write(changes)
      if (this.isSlow) await disk.promise
    }
  }
  const store = new SlowDisk()
  const alice = await world.victim([bob], store)
  store.isSlow = true
  world.relay.send(msg(bob, alice, 1, 'not on the disk yet'))
  await until('the store has the message', async () => (await store.latestPeerSeq(bob.conversationId)) === 1)
  const marked = alice.client.markRead('bob')
  const states = alice.heard.network_state.length
  world.relay.close(1012)
  await until('alice has reconnected', () =>
    Bun.deepEquals(alice.heard.network_state.slice(states), ['connecting', 'connected']),
  )
  // What the client sent after the reconnect came before this.
  alice.client.notifyTyping('bob')
  await until('the relay has it', () => world.relay.framesOf('typing').length === 1)
  expect([...world.relay.framesOf('read'), ...world.relay.framesOf('delivered')]).toEqual([])
  disk.resolve()
  await marked
  await until('alice has sent the read receipt', () =>
    world.relay.framesOf('read').some(({ seq }) => seq === 1),
  )
})

test('the id of an unsent message to one contact is refused for another contact', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const alice = await world.victim([bob, carol])
  alice.client.disconnect()
  await alice.client.send('bob', 'to bob', { id: 'x' })
  expect(await alice.client.send('carol', 'to carol', { id: 'x' }).catch(codeOf)).toBe('INVALID_ARGUMENT')
  expect((await alice.store.listOutbox()).map(({ text }) => text)).toEqual(['to bob'])
})

test('a client that disconnects on the event of a lost connection stays disconnected', async () => {
  const [store, clock] = [new MemoryStore(), new TestClock()]
  await (await world.victim([], store)).client.close()
  store.reopen()
  const alice = await Person.open('victim', world.relay.url, { store, clock })
  await alice.connect()
  const undo = alice.client.on('network_state', () => {
    undo()
    alice.client.disconnect()
  })
  const called = world.relay.called.length
  world.relay.close(1001)
  await until('alice’s application gets the event', () => alice.heard.network_state.includes('disconnected'))
  await clock.advance(120_000)
  expect(alice.client.networkState).toBe('disconnected')
  await alice.client.close()
  expect(world.relay.called.slice(called)).not.toContain('POST /ws/ticket')
})

test('a message that is retracted while it becomes readable is not shown', async () => {
  const bob = makePeer('bob')
  const store = new SlowStore()
  const alice = await world.victim([], store)
  world.relay.send(msg(bob, alice, 1, 'a slip'))
  await until('the message waits for a session', async () => (await alice.store.countOfflineMessages()) === 1)
  // The client calls this before it shows a message, and never when it retracts one.
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  store.hasNonce = async () => {
    asked.resolve()
    await answered.promise
    return false
  }
  world.relay.friends = [friendOf(bob)]
  const synced = alice.client.syncFriends()
  await until('alice has a session', async () => (await alice.store.listSessions()).length === 1)
  const { conversationId: conv_id } = bob
  const names = { to: alice.alias, from: 'bob', conv_id }
  world.relay.send({ type: 'retract', id: idOf('a slip'), ...names, seq: 2, at: 1002 })
  // Invalid frames are reported at once, so the retraction has arrived then.
  world.relay.send('no frame')
  await asked.promise
  await until('the retraction has arrived', () => alice.heard.error.some(({ code }) => code === 'BAD_REPLY'))
  answered.resolve()
  await synced
  await world.settled(alice)
  const texts = (await alice.store.listMessages(conv_id)).map(({ text }) => text)
  expect(texts).not.toContain('a slip')
  expect(await alice.store.countOfflineMessages()).toBe(0)
})
