// Accounts of an older client, whose X25519 key is at another index of the phrase, and messages that only
// this device cannot decrypt: they are never confirmed.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { bytesToHex, deriveIdentityKeys, encodeBase64, generateMnemonic } from '@sotto/crypto'
import { AccountUuid, AliasId, check, PublicKey } from '@sotto/protocol'
import vectors from '../../../vectors/crypto.json'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { message, type WireAccount, wireAccount } from '../../relay/test/wire.ts'
import { type ClientOptions, keyVault, MemoryStore } from '../src/client.ts'
import { briefPauses } from './brief-pauses.ts'
import { makePeer, meOf, type Peer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()
let hostile: HostileWorld
beforeEach(() => {
  hostile = new HostileWorld()
})
afterEach(() => hostile.stop())

/** The account that an older client made of a phrase, with a friend. */
async function olderAccount(index: number, friend: Person): Promise<{ mnemonic: string; alias: string }> {
  const identity = vectors.identities[index]
  if (!identity) throw new Error(`no identity ${index}`)
  const account = await wireAccount(world.relay.url, 'older', {
    ed25519PrivateHex: identity.ed25519_private_hex,
    x25519: identity.x25519_index_1_public_b64,
  })
  await makeFriends(account, friend)
  return { mnemonic: identity.mnemonic, alias: account.alias }
}

async function makeFriends(account: WireAccount, friend: Person): Promise<void> {
  await account.post('/friends/request', { to_alias_id: friend.alias })
  const request = await until('the friend sees the request', () =>
    friend.heard.friend_request.find(({ alias_id }) => alias_id === account.alias),
  )
  await friend.client.acceptFriend(request.friendship_id)
}

test('an account of an older client is recovered with its key: codes agree, and both sides read each other', async () => {
  const ways: readonly ((person: Person, mnemonic: string) => Promise<unknown>)[] = [
    ({ client }, mnemonic) => client.recover({ mnemonic }),
    // Registering with a known phrase recovers the account, too.
    ({ client }, mnemonic) => client.create({ nickname: 'again', mnemonic }),
  ]
  for (const [index, enter] of ways.entries()) {
    const bob = await world.join('bob')
    const { mnemonic, alias } = await olderAccount(index, bob)
    await bob.client.send(alias, 'before the recovery')
    const store = new MemoryStore()
    let alice = await world.open('alice', { store })
    await enter(alice, mnemonic)
    expect(alice.client.identity?.nickname).toBe('older')
    await alice.connect()
    await alice.receives('before the recovery')
    // Later starts use the same key.
    await alice.client.close()
    store.reopen()
    alice = await world.open('alice', { store })
    await alice.client.restore()
    await alice.connect()
    const { fingerprintHex } = alice.client.securityCode(bob.alias)
    expect(fingerprintHex).toBe(bob.client.securityCode(alias).fingerprintHex)
    await bob.client.send(alias, 'after the recovery')
    await alice.receives('after the recovery')
    const { id } = await alice.client.send(bob.alias, 'an answer')
    await bob.receives('an answer')
    await alice.sees(bob.alias, id, 'delivered')
    // Recovering again on the same device keeps everything.
    await alice.client.recover({ mnemonic })
    expect(await alice.client.messages(bob.alias)).toHaveLength(3)
  }
})

test('an account whose key the phrase does not give is not recovered, and the device stays empty', async () => {
  const mnemonic = await generateMnemonic((length) => crypto.getRandomValues(new Uint8Array(length)))
  const { signing } = await deriveIdentityKeys(mnemonic)
  const ed25519PrivateHex = bytesToHex(signing.privateKey)
  const x25519 = makePeer('unused').x25519
  await wireAccount(world.relay.url, 'stranger', { ed25519PrivateHex, x25519 })
  const alice = await world.open('alice')
  const mismatch = { code: 'ACCOUNT_KEY_MISMATCH' }
  expect(await failureOf(alice.client.recover({ mnemonic }))).toMatchObject(mismatch)
  expect(await failureOf(alice.client.create({ nickname: 'a', mnemonic }))).toMatchObject(mismatch)
  expect(await alice.store.getIdentity()).toBeUndefined()
  // The client still works.
  await alice.client.create({ nickname: 'alice' })
})

test('a device with another key than the relay confirms nothing, says so, and reads all after a recovery', async () => {
  const bob = await world.join('bob')
  const { mnemonic, alias } = await olderAccount(2, bob)
  const sent = [await bob.client.send(alias, 'one'), await bob.client.send(alias, 'two')]
  const keys = await deriveIdentityKeys(mnemonic)
  const store = new MemoryStore()
  const other = await world.open('other')
  const { uuid } = await other.client.recover({ mnemonic })
  await other.client.close()
  await store.write([
    {
      change: 'identity',
      identity: {
        uuid: check(AccountUuid, uuid),
        aliasId: check(AliasId, alias),
        nickname: 'older',
        mnemonic,
        signingPublicKey: check(PublicKey, encodeBase64(keys.signing.publicKey)),
        ecdhPublicKey: check(PublicKey, encodeBase64(keys.agreement.publicKey)),
      },
    },
  ])
  const alice = await world.open('alice', { store })
  await alice.connect()
  await until('the application gets the error', () =>
    alice.heard.error.some(({ code }) => code === 'ACCOUNT_KEY_MISMATCH'),
  )
  expect(await failureOf(alice.client.restore())).toMatchObject({ code: 'ACCOUNT_KEY_MISMATCH' })
  expect(alice.heard.message).toEqual([])
  expect(alice.heard.error).toHaveLength(1)
  // What the device has stored belongs to the other key, so replacing it is the user's decision.
  expect(await failureOf(alice.client.recover({ mnemonic }))).toMatchObject({ code: 'IDENTITY_EXISTS' })
  expect((await bob.client.messages(alias)).map(({ status }) => status)).toEqual(['sent', 'sent'])
  await alice.client.recover({ mnemonic, replace: true })
  await alice.connect()
  await alice.receives('one')
  await alice.receives('two')
  for (const { id } of sent) await bob.sees(alias, id, 'delivered')
})

test('a message that its sender encrypted wrongly is stored and confirmed once the relay has named the own key', async () => {
  const store = new MemoryStore()
  let alice = await world.join('alice', { store })
  const bob = await wireAccount(world.relay.url, 'bob')
  await makeFriends(bob, alice)
  const { conversationId } = await until('they are friends', async () =>
    (await alice.client.conversations()).at(0),
  )
  const { socket } = await bob.online()
  const delivered = async (seq: number): Promise<void> => {
    socket.send(message(alice.alias, conversationId, `no ciphertext ${seq}`))
    expect(await socket.next('delivered')).toMatchObject({ conv_id: conversationId, seq })
  }
  // After a registration the key is known.
  await delivered(1)
  await alice.client.close()
  store.reopen()
  const recorder = new Recorder()
  alice = await world.open('alice', { store, fetch: recorder.fetch })
  await alice.connect()
  await delivered(2)
  await delivered(3)
  expect(recorder.callsOf('/api/v1/me')).toHaveLength(1)
  const messages = await alice.client.messages(conversationId)
  expect(messages.map(({ seq, msgType }) => [seq, msgType])).toEqual(
    [1, 2, 3].map((seq) => [seq, 'undecryptable']),
  )
  await socket.close()
})

test.each(['lock', 'close'] as const)(
  '%s does not wait for a login that the relay does not answer',
  async (end) => {
    const store = new MemoryStore()
    const secrets = keyVault(new Uint8Array(32).fill(7))
    let alice = await world.join('alice', { store, secrets })
    const bob = await wireAccount(world.relay.url, 'bob')
    await makeFriends(bob, alice)
    const { conversationId } = await until('they are friends', async () =>
      (await alice.client.conversations()).at(0),
    )
    await alice.client.close()
    store.reopen()
    const login = Promise.withResolvers<void>()
    let hasExpired = false
    alice = await world.open('alice', {
      ...{ store, secrets },
      clock: { ...briefPauses.clock, now: () => Date.now() + (hasExpired ? 30 * 86_400_000 : 0) },
      fetch: (url, init) => {
        if (!hasExpired || !url.includes('/auth/')) return fetch(url, init)
        login.resolve()
        return new Promise(() => {})
      },
    })
    await alice.connect()
    // As the message cannot be decrypted, the client requests its own key. It needs a token for that.
    hasExpired = true
    const { socket } = await bob.online()
    socket.send(message(alice.alias, conversationId, 'no ciphertext'))
    await login.promise
    await alice.client[end]()
    await socket.close()
  },
)

/** A client that has a peer as its friend, and asks the relay for the own key again. */
async function reopened(peer: Peer, options: Partial<ClientOptions> = {}): Promise<Person> {
  const store = new MemoryStore()
  await (await hostile.victim([peer], store)).client.close()
  store.reopen()
  const person = await hostile.open(store, options)
  await person.connect()
  return person
}

test('while the relay does not name the own key, an undecryptable message waits', async () => {
  const peer = makePeer('bob')
  const person = await reopened(peer)
  const { relay } = hostile
  const forged = msg(peer, person, 1, 'forged', { payload: 'AAAA'.repeat(20) })
  for (const times of [1, 2]) {
    relay.send(forged)
    await until('the answer is refused', () => person.heard.error.length === times)
    const synced = person.heard.synced.length
    relay.close(1012)
    await until('the client is connected again', () => person.heard.synced.length > synced)
  }
  expect(person.heard.error.map(({ code }) => code)).toEqual(['BAD_REPLY', 'BAD_REPLY'])
  expect([relay.framesOf('delivered'), person.heard.message]).toEqual([[], []])
  relay.answers['GET /me'] = () => meOf(person.client)
  relay.send(forged)
  await until('it is confirmed', () => relay.framesOf('delivered').some(({ seq }) => seq === 1))
  expect(person.heard.message).toMatchObject([{ msgType: 'undecryptable', seq: 1 }])
})

const refusal = { status: 405, body: { error: 'METHOD_NOT_ALLOWED', title: 'Not allowed.' } }

test('if the relay does not answer for the own key, the client connects again, after longer and longer waits', async () => {
  const peer = makePeer('bob')
  const waitsMs: number[] = []
  const after = (ms: number, run: () => void): (() => void) => {
    waitsMs.push(ms)
    return briefPauses.clock.after(ms, run)
  }
  const person = await reopened(peer, { clock: { ...briefPauses.clock, after } })
  const { relay } = hostile
  relay.answers['GET /me'] = () => refusal
  const forged = msg(peer, person, 1, 'forged', { payload: 'AAAA'.repeat(20) })
  // A relay sends again what was not confirmed.
  person.client.on('synced', () => relay.send(forged))
  relay.send(forged)
  await until('it was asked four times', () => person.heard.error.length === 4)
  expect(new Set(person.heard.error.map(({ code }) => code))).toEqual(new Set(['REFUSED']))
  // A sixteenth of 1, 2 and 8 s: see `briefPauses`.
  expect(waitsMs.filter((ms) => [62, 125, 501].includes(ms))).toEqual([62, 125, 501])
  expect([relay.framesOf('delivered'), person.heard.message]).toEqual([[], []])
  relay.answers['GET /me'] = () => meOf(person.client)
  await until('it is confirmed', () => relay.framesOf('delivered').some(({ seq }) => seq === 1))
  expect(person.heard.message).toMatchObject([{ msgType: 'undecryptable', seq: 1 }])
})

test('an answer that comes after the client has connected again does not make it connect once more', async () => {
  const peer = makePeer('bob')
  const person = await reopened(peer)
  const { relay } = hostile
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  relay.answers['GET /me'] = async () => {
    asked.resolve()
    await answered.promise
    relay.answers['GET /me'] = () => meOf(person.client)
    return refusal
  }
  relay.send(msg(peer, person, 1, 'forged', { payload: 'AAAA'.repeat(20) }))
  await asked.promise
  const states = person.heard.network_state.length
  relay.close(1012)
  await until('it is connected again', () => person.heard.network_state.length === states + 2)
  answered.resolve()
  // It is asked again, and what it answers then counts.
  await until('it is confirmed', () => relay.framesOf('delivered').some(({ seq }) => seq === 1))
  expect(person.heard.error.map(({ code }) => code)).toEqual(['REFUSED', 'UNDECRYPTABLE'])
  expect(person.heard.network_state.slice(states)).toEqual(['connecting', 'connected'])
})
