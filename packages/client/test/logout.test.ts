// Tokens that end: of an account that logs out everywhere, and of an identity that another one replaces.
import { expect, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

const world = new PeopleWorld()

/** A fetch that keeps the tokens it was used with, in order and each once. */
function watching(): { fetch: (url: string, init: RequestInit) => Promise<Response>; tokens: string[] } {
  const tokens: string[] = []
  const watch = (url: string, init: RequestInit): Promise<Response> => {
    const token = new Headers(init.headers).get('authorization')
    if (token !== null && !tokens.includes(token)) tokens.push(token)
    return fetch(url, init)
  }
  return { fetch: watch, tokens }
}

async function statusOf(token: string | undefined): Promise<number> {
  const headers = { authorization: token ?? '' }
  return (await fetch(`${world.relay.url}/api/v1/me`, { headers })).status
}

test('logOutEverywhere ends every token of the account, and all its devices log in again', async () => {
  const watch = watching()
  const [alice, bob] = await world.friends({ fetch: watch.fetch })
  const [token] = watch.tokens
  expect(await statusOf(token)).toBe(200)
  const synced = alice.heard.synced.length
  await alice.client.logOutEverywhere()
  expect(await statusOf(token)).toBe(401)
  await until('alice is connected again', () => alice.heard.synced.length > synced)
  expect(alice.heard.goaway).toEqual([{ reason: 'jwt_revoked' }])
  await alice.client.send(bob.alias, 'still here')
  await bob.receives('still here')
  expect(bob.heard.goaway).toEqual([])
  expect(await statusOf(watch.tokens.at(-1))).toBe(200)
}, 120_000)

test('logOut ends the token of this device only, and the device logs in again when it connects', async () => {
  const [watch, otherWatch] = [watching(), watching()]
  const [alice, bob] = await world.friends({ fetch: watch.fetch })
  const other = await world.open('other', { fetch: otherWatch.fetch })
  await other.client.recover({ mnemonic: alice.client.identity?.mnemonic ?? '' })
  const [token, othersToken] = [watch.tokens.at(-1), otherWatch.tokens.at(-1)]
  expect([await statusOf(token), await statusOf(othersToken)]).toEqual([200, 200])
  await alice.client.logOut()
  expect([await statusOf(token), await statusOf(othersToken)]).toEqual([401, 200])
  expect([alice.client.networkState, alice.heard.goaway]).toEqual(['disconnected', []])
  await alice.client.send(bob.alias, 'later')
  await alice.connect()
  await bob.receives('later')
}, 120_000)

test('logOut with erase leaves nothing on the device, and the phrase leads back to the account', async () => {
  const watch = watching()
  const [alice, bob] = await world.friends({ fetch: watch.fetch })
  await alice.client.send(bob.alias, 'a secret')
  await bob.receives('a secret')
  const { mnemonic = '', uuid = '' } = alice.client.identity ?? {}
  await alice.client.logOut({ erase: true })
  expect(alice.client.identity).toBeUndefined()
  expect(alice.heard.identity_changed.at(-1)).toEqual({ identity: undefined })
  const { store } = alice
  expect([await store.getIdentity(), await store.listSessions(), await store.listFriends()]).toEqual([
    ...[undefined, [], []],
  ])
  expect(await statusOf(watch.tokens.at(-1))).toBe(401)
  expect(await failureOf(alice.client.logOut())).toMatchObject({ code: 'NO_IDENTITY' })
  expect(await alice.client.recover({ mnemonic })).toMatchObject({ uuid: uuid as never })
  await alice.connect()
  await alice.client.syncFriends()
  await alice.client.send(bob.alias, 'back again')
  await bob.receives('back again')
}, 120_000)

test('without a network logOut does the rest, and says that the token was not ended', async () => {
  let isDown = false
  const watch = watching()
  const alice = await world.join('alice', {
    fetch: (url, init) => (isDown ? Promise.reject(new TypeError('no network')) : watch.fetch(url, init)),
  })
  isDown = true
  expect(await failureOf(alice.client.logOut())).toMatchObject({ code: 'NETWORK' })
  isDown = false
  // The token lives until it expires, but this device does not use it any more.
  const [token] = watch.tokens
  await alice.client.syncFriends()
  expect([watch.tokens.at(-1) === token, await statusOf(token)]).toEqual([false, 200])
  isDown = true
  const failure = await failureOf(alice.client.logOut({ erase: true }))
  expect(failure).toMatchObject({ code: 'NETWORK' })
  expect([alice.client.identity, await alice.store.getIdentity()]).toEqual([undefined, undefined])
}, 120_000)

test('logOut of a token that has already ended is done', async () => {
  const [alice, other] = [await world.join('alice'), await world.open('other')]
  await other.client.recover({ mnemonic: alice.client.identity?.mnemonic ?? '' })
  alice.client.disconnect()
  await other.client.logOutEverywhere()
  await alice.client.logOut()
  expect(alice.client.identity).toBeDefined()
}, 120_000)

test('the token of an identity that another one replaces is logged out, and the new one is not', async () => {
  const watch = watching()
  const alice = await world.join('alice', { fetch: watch.fetch })
  const former = watch.tokens.at(-1)
  expect(await statusOf(former)).toBe(200)
  await alice.client.create({ nickname: 'another', replace: true })
  await until('the former token is dead', async () => (await statusOf(former)) === 401)
  await alice.connect()
  await alice.client.setNickname('still logged in')
  expect(alice.heard.goaway).toEqual([])
}, 120_000)

test('recovering the same account again logs nothing out', async () => {
  const watch = watching()
  const alice = await world.join('alice', { fetch: watch.fetch })
  const { mnemonic = '' } = alice.client.identity ?? {}
  const former = watch.tokens.at(-1)
  await alice.client.recover({ mnemonic })
  await alice.client.syncIdentity()
  expect(await statusOf(former)).toBe(200)
}, 120_000)

test('an identity is replaced although the relay does not answer the logout', async () => {
  const watch = watching()
  const logouts: string[] = []
  const alice = await world.open('alice', {
    fetch: async (url, init) => {
      if (!url.endsWith('/auth/logout')) return watch.fetch(url, init)
      logouts.push(url)
      throw new TypeError('no network')
    },
  })
  const first = await alice.client.create({ nickname: 'first' })
  const second = await alice.client.create({ nickname: 'second', replace: true })
  expect(second.uuid).not.toBe(first.uuid)
  await until('it tried', () => logouts.length > 0)
  await alice.connect()
  expect(alice.heard.error).toEqual([])
}, 120_000)
