// Locking and unlocking a client, against a real relay: which keys it forgets, which calls it refuses, and
// that it loses no message.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { loadIdentity } from '../src/account/identity.ts'
import { keyVault, MemoryStore, SottoClient } from '../src/client.ts'
import { Engine } from '../src/engine.ts'
import { Emitter } from '../src/events/events.ts'
import { decideOptions } from '../src/platform/options.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { passphraseVault } from '../src/stores/passphrase-vault.ts'
import { Person, until } from './people.ts'

setDefaultTimeout(240_000)

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

test('a store with sealed fields and no vault record does not open without a vault', async () => {
  const sealed = new MemoryStore()
  const client = await SottoClient.open({ relayUrl: relay.url, store: sealed, secrets: keyVault(key()) })
  await client.create({ nickname: 'alice' })
  const stored = await sealed.getIdentity()
  if (!stored) throw new Error('no identity was stored')
  const store = new MemoryStore()
  await store.write([{ change: 'identity', identity: stored }])
  expect(await failureOf(SottoClient.open({ relayUrl: relay.url, store }))).toMatchObject({
    code: 'STORE_FAILED',
    message: 'the vault record of this store is gone',
  })
  await client.close()
})

test('the passphrase is checked without locking the client', async () => {
  const client = await SottoClient.open({
    relayUrl: relay.url,
    store: new MemoryStore(),
    secrets: [keyVault(key()), passphraseVault()],
  })
  await client.create({ nickname: 'alice' })
  expect(await failureOf(client.checkPassphrase('any'))).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'no passphrase is set',
  })
  await client.setPassphrase('seven quiet boats')
  expect(await failureOf(client.checkPassphrase('seven loud boats'))).toMatchObject({
    code: 'WRONG_PASSPHRASE',
  })
  await client.checkPassphrase('seven quiet boats')
  expect(client.isLocked).toBe(false)
  expect(await client.recoveryPhrase()).toMatch(/^(\w+ ){11}\w+$/)
  await client.lock()
  expect(await failureOf(client.checkPassphrase('seven quiet boats'))).toMatchObject(locked)
  await client.close()
})

test('a client with a passphrase stores its secrets only encrypted, from the first identity on', async () => {
  const folder = join(root, 'alice')
  const store = await FileStore.open(folder)
  const alice = await Person.open('alice', relay.url, { store, secrets: passphraseVault() })
  expect(alice.client.hasPassphrase).toBe(false)
  await alice.client.setPassphrase('correct horse battery staple')
  expect(alice.client.hasPassphrase).toBe(true)
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
  // Both sides have the same session key, so the test reads it from Bob's store.
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
  expect(await failureOf(again.unlock('correct horse'))).toMatchObject({ code: 'WRONG_PASSPHRASE' })
  expect(again.isLocked).toBe(true)
  await again.unlock('correct horse battery staple')
  expect(again.identity?.mnemonic).toBe(mnemonic)
  expect((await again.messages(conversationId)).map((message) => message.text)).toEqual(['hello alice'])

  await again.setPassphrase('another one')
  await again.lock()
  expect(await failureOf(again.unlock('correct horse battery staple'))).toMatchObject({
    code: 'WRONG_PASSPHRASE',
  })
  await again.unlock('another one')
  await again.close()
  await bob.client.close()
})

test('a locked client refuses every call that needs keys, from the start of lock()', async () => {
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
  for (const round of ['while it locks', 'after it has locked']) {
    for (const call of refused) expect(await failureOf((async () => call())())).toMatchObject(locked)
    expect([round, client.isLocked, client.identity]).toEqual([round, true, undefined])
    await locking
  }
  expect(client.networkState).toBe('disconnected')
  await client.lock()
  await client.unlock()
  expect(client.identity).toEqual(identity)
  await client.close()
  expect(await failureOf(client.unlock())).toMatchObject({ code: 'CLOSED' })
  expect(await failureOf(client.lock())).toMatchObject({ code: 'CLOSED' })
  await bob.client.close()
})

test('unlocking a client restores its connection state', async () => {
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

  // A client that was disconnected before the lock, or during it, stays disconnected.
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

test('a client that is locked and unlocked repeatedly while messages arrive loses no message and can read all', async () => {
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
    // The calls do not wait for each other.
    await Promise.all([
      alice.client.lock(),
      alice.client.unlock(),
      alice.client.lock(),
      alice.client.unlock(),
    ])
  }
  await sending
  await until('all messages are stored', async () => (await alice.client.messages(bob.alias)).length >= sent)
  const messages = await alice.client.messages(bob.alias)
  expect(messages.map((message) => message.text)).toEqual(
    Array.from({ length: sent }, (_, at) => `message ${at}`),
  )
  expect(messages.every((message) => message.msgType === 'text')).toBe(true)
  expect(alice.heard.error.map((error) => error.code)).toEqual([])
  await alice.client.close()
  await bob.client.close()
})

test('a message that the client is processing when it is locked is stored with its text', async () => {
  // A store whose nonce lookup is slow.
  const store = new MemoryStore()
  let isLookedUp = false
  const slow = new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (typeof found !== 'function') return found
      return async (...args: unknown[]) => {
        if (name === 'hasNonce') {
          isLookedUp = true
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
  await until('the client looks up the nonce', () => isLookedUp)
  await alice.client.lock()
  expect((await store.listMessages(conversationId)).map((message) => message.text)).toEqual(['in the middle'])
  expect(await store.countOfflineMessages()).toBe(0)
  await alice.client.close()
  await bob.client.close()
})

test('forgetting the keys of an identity overwrites them with zeros', async () => {
  const bob = await Person.join('bob', relay.url)
  const alice = await Person.join('alice', relay.url)
  await alice.befriend(bob)
  await alice.client.close()
  const { store } = alice
  if (store instanceof MemoryStore) store.reopen()
  const platform = decideOptions({ relayUrl: relay.url, store })
  const identity = await loadIdentity(platform)
  if (!identity) throw new Error('no identity')
  const engine = new Engine(platform, identity, new Emitter(), { early: [] })
  await engine.load()
  const sessionKey = engine.sessions.keyOf(engine.sessions.get(bob.alias))
  const { signing, agreement } = identity.keys
  const secrets = [sessionKey, signing.privateKey, agreement.privateKey]
  for (const secret of secrets) expect(secret.some((byte) => byte !== 0)).toBe(true)
  await engine.stop()
  engine.forgetKeys()
  for (const secret of secrets) expect(secret.every((byte) => byte === 0)).toBe(true)
  expect(engine.sessions.list()).toEqual([])
  expect(await failureOf(identity.login.getToken())).toMatchObject(locked)
  await bob.client.close()
})

test('a passphrase can be removed and set again', async () => {
  const folder = join(root, 'taken-away')
  const open = async () =>
    SottoClient.open({ relayUrl: relay.url, store: await FileStore.open(folder), secrets: passphraseVault() })
  const first = await open()
  await first.setPassphrase('plum otter canyon velvet')
  const { mnemonic } = await first.create({ nickname: 'alice' })
  await first.setPassphrase(undefined)
  expect([first.isSealed, first.isLocked, first.identity?.mnemonic]).toEqual([false, false, mnemonic])
  expect(await failureOf(first.lock())).toMatchObject({ code: 'INVALID_ARGUMENT' })
  await first.setNickname('Alice B.')
  await first.close()

  const second = await open()
  expect([second.isLocked, second.identity?.mnemonic]).toEqual([false, mnemonic])
  await second.setPassphrase('another one')
  await second.close()
  expect(await readFile(join(folder, 'store.log'), 'utf8')).not.toContain(mnemonic)
  const third = await open()
  expect(await failureOf(third.setPassphrase(undefined))).toMatchObject({ code: 'LOCKED' })
  await third.unlock('another one')
  expect(third.identity).toMatchObject({ mnemonic, nickname: 'Alice B.' })
  expect(await failureOf(third.setPassphrase(''))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  await third.close()
})

test('the secrets can move from one vault to another and back, and the client opens them with the right vault', async () => {
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
  expect(await failureOf(wrong)).toMatchObject({ code: 'STORE_FAILED' })
  await store.close()
})

test('a locked client counts its unsent messages', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  const bob = await Person.join('bob', relay.url)
  await alice.befriend(bob)
  alice.client.disconnect()
  await alice.client.send(bob.alias, 'one')
  await alice.client.send(bob.alias, 'two')
  await alice.client.lock()
  expect(await alice.client.countUnsent()).toBe(2)
  await alice.client.close()
  expect(await failureOf(alice.client.countUnsent())).toMatchObject({ code: 'CLOSED' })
  await bob.client.close()
})

test('the client sends events when it locks, unlocks or changes its identity', async () => {
  const alice = await Person.join('alice', relay.url, { secrets: keyVault(key()) })
  const { mnemonic: _, ...identity } = alice.client.identity ?? { mnemonic: '' }
  expect(alice.heard.identity_changed).toEqual([{ identity: identity as never }])
  const locking = alice.client.lock()
  // The event comes when lock() is called, before locking has ended.
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

test('a client without a vault cannot lock, and a store sealed by a vault does not open without it', async () => {
  const alice = await Person.join('alice', relay.url)
  expect(alice.client.isSealed).toBe(false)
  expect(await failureOf(alice.client.lock())).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(alice.client.isLocked).toBe(false)
  await alice.client.close()
  const { store } = alice
  if (store instanceof MemoryStore) store.reopen()

  // Opening with a vault encrypts the secrets that were stored plain. After that the store needs this vault.
  const secrets = keyVault(key())
  const sealed = await Person.open('alice', relay.url, { store, secrets })
  expect([sealed.client.isSealed, sealed.alias]).toEqual([true, alice.alias])
  expect((await store.getIdentity())?.mnemonic).toStartWith('sealed:1:')
  await sealed.client.close()
  if (store instanceof MemoryStore) store.reopen()
  expect(await failureOf(SottoClient.open({ relayUrl: relay.url, store }))).toMatchObject(locked)
  expect(
    await failureOf(SottoClient.open({ relayUrl: relay.url, store, secrets: keyVault(key()) })),
  ).toMatchObject({ code: 'STORE_FAILED' })
})

test('deleting an account keeps the vault, and the vault encrypts the next identity', async () => {
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
