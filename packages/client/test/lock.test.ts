// Locking and unlocking a client, against a real relay: what is put away, what is refused, and that nothing gets lost.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { keyVault, MemoryStore, SottoClient } from '../src/client.ts'
import { Engine } from '../src/engine.ts'
import { Emitter } from '../src/events.ts'
import { loadIdentity } from '../src/identity.ts'
import { decideOptions } from '../src/options.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { passphraseVault } from '../src/stores/passphrase-vault.ts'
import { Person, until } from './people.ts'

let relay: RelayProcess
let root: string

beforeAll(async () => {
  relay = await startRelay()
  root = await mkdtemp(join(tmpdir(), 'sotto-lock-'))
})
afterAll(async () => {
  await relay.stop()
  await rm(root, { recursive: true })
})

const locked = { code: 'LOCKED' }
const key = () => crypto.getRandomValues(new Uint8Array(32))

test('a client with a passphrase keeps its secrets sealed, from before its identity was made', async () => {
  const folder = join(root, 'alice')
  const store = await FileStore.open(folder)
  const alice = await Person.open('alice', relay.url, { store, secrets: passphraseVault() })
  await alice.client.setPassphrase('correct horse battery staple')
  await alice.client.create({ nickname: 'alice' })
  await alice.connect()
  const bob = await Person.join('bob', relay.url)
  const conversationId = await alice.befriend(bob)
  await bob.client.send(alice.alias, 'hello alice')
  await alice.receives('hello alice')

  const mnemonic = alice.client.identity?.mnemonic ?? ''
  const text = await readFile(join(folder, 'store.log'), 'utf8')
  const [session] = await bob.store.listSessions()
  const words = mnemonic.split(' ')
  expect(words.length).toBe(12)
  for (let at = 1; at < words.length; at += 1) expect(text).not.toContain(`${words[at - 1]} ${words[at]}`)
  // The two sides share the key; bob's store says which it is.
  expect(session?.sessionKeyBase64.length).toBe(44)
  expect(text).not.toContain(session?.sessionKeyBase64 ?? '')
  expect(text).toContain('hello alice')
  await alice.client.close()

  const again = await SottoClient.open({
    relayUrl: relay.url,
    store: await FileStore.open(folder),
    secrets: passphraseVault(),
  })
  expect([again.isSealed, again.isLocked, again.identity]).toEqual([true, true, undefined])
  await expect(again.unlock('correct horse')).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' })
  expect(again.isLocked).toBe(true)
  await again.unlock('correct horse battery staple')
  expect(again.identity?.mnemonic).toBe(mnemonic)
  expect((await again.messages(conversationId)).map((message) => message.text)).toEqual(['hello alice'])

  await again.setPassphrase('another one')
  await again.lock()
  await expect(again.unlock('correct horse battery staple')).rejects.toMatchObject({
    code: 'WRONG_PASSPHRASE',
  })
  await again.unlock('another one')
  await again.close()
  await bob.client.close()
}, 180_000)

test('everything that needs keys is refused while the client is locked, from the call on', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  const bob = await Person.join('bob', relay.url)
  const conversationId = await alice.befriend(bob)
  const { client } = alice
  const identity = client.identity
  const locking = client.lock()
  const refused: (() => unknown)[] = [
    () => client.connect(),
    () => client.friends(),
    () => client.securityCode(bob.alias),
    () => client.notifyTyping(bob.alias),
    () => client.send(bob.alias, 'text'),
    () => client.messages(conversationId),
    () => client.conversations(),
    () => client.conversation(bob.alias),
    () => client.markRead(bob.alias),
    () => client.retract(bob.alias, 'id'),
    () => client.syncFriends(),
    () => client.requestFriend('someone'),
    () => client.create({ nickname: 'other', replace: true }),
    () => client.recover({ mnemonic: identity?.mnemonic ?? '' }),
    () => client.restore(),
    () => client.setNickname('other'),
    () => client.deleteAccount(),
    () => client.setPassphrase('other'),
  ]
  for (const round of ['while it locks', 'once it has']) {
    for (const call of refused) await expect((async () => call())()).rejects.toMatchObject(locked)
    expect([round, client.isLocked, client.identity]).toEqual([round, true, undefined])
    await locking
  }
  expect(client.networkState).toBe('disconnected')
  await client.lock()
  await client.unlock()
  expect(client.identity).toEqual(identity)
  await client.close()
  await expect(client.unlock()).rejects.toMatchObject({ code: 'CLOSED' })
  await expect(client.lock()).rejects.toMatchObject({ code: 'CLOSED' })
  await bob.client.close()
})

test('unlocking brings the client back to where it was', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  const bob = await Person.join('bob', relay.url)
  await alice.befriend(bob)
  const { alias } = alice
  await alice.client.lock()
  await bob.client.send(alias, 'said to a locked client')
  expect(alice.heard.message).toEqual([])
  await alice.client.unlock()
  await alice.receives('said to a locked client')
  const sent = await alice.client.send(bob.alias, 'and back')
  await alice.sees(bob.alias, sent.id, 'delivered')

  // Not connected before, or told not to be: not connected after.
  alice.client.disconnect()
  await alice.client.lock()
  await alice.client.unlock()
  expect(alice.client.networkState).toBe('disconnected')
  alice.client.connect()
  await alice.client.lock()
  alice.client.disconnect()
  await alice.client.unlock()
  expect(alice.client.networkState).toBe('disconnected')
  await alice.client.close()
  await bob.client.close()
})

test('a client locked and unlocked again and again while messages come in loses and spoils none', async () => {
  const store = await FileStore.open(join(root, 'burst'))
  const alice = await Person.join('alice', relay.url, { store, secrets: keyVault(key()) })
  const bob = await Person.join('bob', relay.url)
  await alice.befriend(bob)
  const sent = 150
  const sending = (async () => {
    for (let at = 0; at < sent; at += 1) await bob.client.send(alice.alias, `message ${at}`)
  })()
  for (let round = 0; round < 12; round += 1) {
    await Bun.sleep(round * 7)
    // Also without waiting for one before the other.
    await Promise.all([
      alice.client.lock(),
      alice.client.unlock(),
      alice.client.lock(),
      alice.client.unlock(),
    ])
  }
  await sending
  await until('all of them', async () => (await alice.client.messages(bob.alias)).length >= sent, 20_000)
  const messages = await alice.client.messages(bob.alias)
  expect(messages.map((message) => message.text)).toEqual(
    Array.from({ length: sent }, (_, at) => `message ${at}`),
  )
  expect(messages.every((message) => message.msgType === 'text')).toBe(true)
  expect(alice.heard.error.map((error) => error.code)).toEqual([])
  await alice.client.close()
  await bob.client.close()
}, 90_000)

test('a message that is being looked up when the client is locked is stored with its text', async () => {
  // A disk that takes its time to answer.
  const store = new MemoryStore()
  let isAsked = false
  const slow = new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (typeof found !== 'function') return found
      return async (...args: unknown[]) => {
        if (name === 'hasNonce') {
          isAsked = true
          await Bun.sleep(100)
        }
        return Reflect.apply(found, target, args)
      }
    },
  })
  const alice = await Person.join('alice', relay.url, { store: slow, secrets: keyVault(key()) })
  const bob = await Person.join('bob', relay.url)
  const conversationId = await alice.befriend(bob)
  await bob.client.send(alice.alias, 'in the middle')
  await until('the store is asked', () => isAsked)
  await alice.client.lock()
  expect((await store.listMessages(conversationId)).map((message) => message.text)).toEqual(['in the middle'])
  expect(await store.countOfflineMessages()).toBe(0)
  await alice.client.close()
  await bob.client.close()
})

test('the keys of an identity are zeros once it was put away', async () => {
  const bob = await Person.join('bob', relay.url)
  const alice = await Person.join('alice', relay.url)
  await alice.befriend(bob)
  await alice.client.close()
  const { store } = alice
  if (store instanceof MemoryStore) store.reopen()
  const platform = decideOptions({ relayUrl: relay.url, store })
  const identity = await loadIdentity(platform)
  if (!identity) throw new Error('no identity')
  const engine = new Engine(platform, identity, new Emitter())
  await engine.load()
  const sessionKey = engine.sessions.keyOf(engine.sessions.get(bob.alias))
  const { signing, agreement } = identity.keys
  const secrets = [sessionKey, signing.privateKey, agreement.privateKey]
  for (const secret of secrets) expect(secret.some((byte) => byte !== 0)).toBe(true)
  await engine.stop()
  engine.forgetKeys()
  for (const secret of secrets) expect(secret.every((byte) => byte === 0)).toBe(true)
  expect(engine.sessions.list()).toEqual([])
  await expect(identity.login.getToken()).rejects.toMatchObject(locked)
  await bob.client.close()
})

test('a passphrase can be taken away again, and set again', async () => {
  const folder = join(root, 'taken-away')
  const open = async () =>
    SottoClient.open({ relayUrl: relay.url, store: await FileStore.open(folder), secrets: passphraseVault() })
  const first = await open()
  await first.setPassphrase('plum otter canyon velvet')
  const { mnemonic } = await first.create({ nickname: 'alice' })
  await first.setPassphrase(undefined)
  expect([first.isSealed, first.isLocked, first.identity?.mnemonic]).toEqual([false, false, mnemonic])
  await expect(first.lock()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await first.setNickname('Alice B.')
  await first.close()

  const second = await open()
  expect([second.isLocked, second.identity?.mnemonic]).toEqual([false, mnemonic])
  await second.setPassphrase('another one')
  await second.close()
  expect(await readFile(join(folder, 'store.log'), 'utf8')).not.toContain(mnemonic)
  const third = await open()
  await expect(third.setPassphrase(undefined)).rejects.toMatchObject({ code: 'LOCKED' })
  await third.unlock('another one')
  expect(third.identity).toMatchObject({ mnemonic, nickname: 'Alice B.' })
  await expect(third.setPassphrase('')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await third.close()
}, 90_000)

test('the secrets go from one vault to another and back, and open by whichever has them', async () => {
  const folder = join(root, 'two-vaults')
  const secrets = [keyVault(key()), passphraseVault()]
  const open = async () =>
    SottoClient.open({ relayUrl: relay.url, store: await FileStore.open(folder), secrets })
  const kindOf = async () => /"kind":"(\w+)"/.exec(await readFile(join(folder, 'store.log'), 'utf8'))?.[1]
  const first = await open()
  const { mnemonic } = await first.create({ nickname: 'alice' })
  expect([first.isSealed, await kindOf()]).toEqual([true, 'key'])
  await first.setPassphrase('plum otter canyon velvet')
  expect(await kindOf()).toBe('passphrase')
  await first.close()

  const second = await open()
  expect(second.isLocked).toBe(true)
  await second.unlock('plum otter canyon velvet')
  await second.setPassphrase(undefined)
  expect([second.isSealed, await kindOf()]).toEqual([true, 'key'])
  await second.lock()
  await second.unlock()
  await second.close()

  const third = await open()
  expect([third.isLocked, third.identity?.mnemonic]).toEqual([false, mnemonic])
  await third.close()
  expect(await readFile(join(folder, 'store.log'), 'utf8')).not.toContain(mnemonic)
  const store = await FileStore.open(folder)
  const wrong = SottoClient.open({ relayUrl: relay.url, store, secrets: passphraseVault() })
  await expect(wrong).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await store.close()
}, 90_000)

test('what waits to be sent is counted while the client is locked, too', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  const bob = await Person.join('bob', relay.url)
  await alice.befriend(bob)
  alice.client.disconnect()
  await alice.client.send(bob.alias, 'one')
  await alice.client.send(bob.alias, 'two')
  await alice.client.lock()
  expect(await alice.client.countUnsent()).toBe(2)
  await alice.client.close()
  await expect(alice.client.countUnsent()).rejects.toMatchObject({ code: 'CLOSED' })
  await bob.client.close()
})

test('locking and unlocking are told, and so is what identity there is', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  const { mnemonic: _, ...identity } = alice.client.identity ?? { mnemonic: '' }
  expect(alice.heard.identity_changed).toEqual([{ identity: identity as never }])
  const locking = alice.client.lock()
  // From the call on, as everything else.
  expect(alice.heard.lock_state).toEqual(['locked'])
  await locking
  await alice.client.unlock()
  await alice.client.unlock()
  expect(alice.heard.lock_state).toEqual(['locked', 'unlocked'])
  await alice.client.setNickname('Alice B.')
  expect(alice.heard.identity_changed.map((event) => event.identity?.nickname)).toEqual([
    'alice',
    undefined,
    'alice',
    'Alice B.',
  ])
  expect(JSON.stringify(alice.heard.identity_changed)).not.toContain('mnemonic')
  await alice.client.close()
})

test('a store without a vault cannot be locked, and one with a vault is not opened without it', async () => {
  const alice = await Person.join('alice', relay.url)
  expect(alice.client.isSealed).toBe(false)
  await expect(alice.client.lock()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(alice.client.isLocked).toBe(false)
  await alice.client.close()
  const { store } = alice
  if (store instanceof MemoryStore) store.reopen()

  // What was stored plain is sealed on opening with a vault; from then on there is no way in without.
  const secrets = keyVault(key())
  const sealed = await Person.open('alice', relay.url, { store, secrets })
  expect([sealed.client.isSealed, sealed.alias]).toEqual([true, alice.alias])
  expect((await store.getIdentity())?.mnemonic).toStartWith('sealed:1:')
  await sealed.client.close()
  if (store instanceof MemoryStore) store.reopen()
  await expect(SottoClient.open({ relayUrl: relay.url, store })).rejects.toMatchObject(locked)
  await expect(
    SottoClient.open({ relayUrl: relay.url, store, secrets: keyVault(key()) }),
  ).rejects.toMatchObject({ code: 'STORE_FAILED' })
})

test('a deleted account leaves the vault, and the next identity is sealed by it', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  await alice.client.deleteAccount()
  expect(await alice.store.getIdentity()).toBeUndefined()
  await alice.client.create({ nickname: 'alice again' })
  expect((await alice.store.getIdentity())?.mnemonic).toStartWith('sealed:1:')
  await alice.client.lock()
  await alice.client.unlock()
  expect(alice.client.identity?.nickname).toBe('alice again')
  await alice.client.close()
})
