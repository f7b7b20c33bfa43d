// Tokens that end: of an account that logs out everywhere, and of an identity that another one replaces.
import { expect, test } from 'bun:test'
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
}, 60_000)

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
}, 60_000)

test('recovering the same account again logs nothing out', async () => {
  const watch = watching()
  const alice = await world.join('alice', { fetch: watch.fetch })
  const { mnemonic = '' } = alice.client.identity ?? {}
  const former = watch.tokens.at(-1)
  await alice.client.recover({ mnemonic })
  await alice.client.syncIdentity()
  expect(await statusOf(former)).toBe(200)
}, 60_000)

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
}, 60_000)
