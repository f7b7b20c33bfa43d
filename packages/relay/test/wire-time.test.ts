// Challenges, tickets, tokens and rejections expire. The relay runs in this process, so that the test can
// move its clock; everything else goes over the wire.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { type Relay, startRelay } from '../src/relay.ts'
import { expectProblem } from './expect.ts'
import { rawHttp, requestOf, UPGRADE } from './raw.ts'
import { call, post, solve, WireAccount, wireAccount } from './wire.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND

let ahead = 0
let folder: string
let relay: Relay
let url: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-time-'))
  const config = readConfig({ PORT: '0', DATA_DIR: folder, RATE_LIMITS: 'off', LIMIT_POW_DIFFICULTY: '1' })
  const startedAt = Date.now() // Only the tests move the clock, because a busy machine would add time.
  const clock = { now: () => startedAt + ahead, monotonic: () => performance.now() }
  relay = await startRelay(config, { clock, randomBytes: systemRandom, log: createLog('error') })
  url = `http://127.0.0.1:${relay.port}`
})

afterAll(async () => {
  await relay.stop()
  await rm(folder, { recursive: true, force: true })
})

function pass(ms: number): void {
  ahead += ms
}

test('a login challenge is valid for a minute', async () => {
  const account = await wireAccount(url)
  const login = async (waitMs: number) => {
    const { challenge } = (await post(account.api('/auth/challenge'), { user_uuid: account.uuid })).body
    pass(waitMs)
    return await post(account.api('/auth/verify'), {
      user_uuid: account.uuid,
      challenge,
      signature: account.sign(challenge),
    })
  }
  expect((await login(55 * SECOND)).status).toBe(200)
  expectProblem(await login(60 * SECOND), 401, 'CHALLENGE_INVALID')
})

test('a proof-of-work challenge is valid for five minutes', async () => {
  const register = async (waitMs: number, isNamed: boolean) => {
    const account = new WireAccount(url)
    const { body } = await call(account.api('/pow/challenge'), { method: 'POST' })
    pass(waitMs)
    return await post(account.api('/register'), {
      ed25519_public_key: account.ed25519,
      x25519_public_key: account.x25519,
      nickname: 'n',
      pow_nonce: solve(body.challenge_string, body.difficulty),
      ...(isNamed ? { pow_challenge: body.challenge_string } : {}),
    })
  }
  expect((await register(295 * SECOND, true)).status).toBe(201)
  for (const isNamed of [true, false])
    expectProblem(await register(301 * SECOND, isNamed), 400, 'POW_REQUIRED')
})

test('a ticket is valid for half a minute', async () => {
  const account = await wireAccount(url)
  const open = async (waitMs: number) => {
    const ticket = await account.ticket()
    pass(waitMs)
    return await rawHttp(url, requestOf(`GET /ws?user_uuid=${account.uuid}&ticket=${ticket}`, UPGRADE))
  }
  expect((await open(25 * SECOND)).status).toBe(101)
  const late = await open(30 * SECOND)
  expect([late.status, JSON.parse(late.body).error]).toEqual([401, 'TICKET_INVALID'])
})

test('a token is valid for a day; its expiry closes no open connection, and a new connection with it gets jwt_revoked', async () => {
  const account = await wireAccount(url)
  const { socket } = await account.online()
  pass(DAY - 60 * SECOND)
  expect((await account.get('/me')).status).toBe(200)
  const ticket = await account.ticket()
  pass(61 * SECOND)
  expectProblem(await account.get('/me'), 401, 'TOKEN_DEAD')
  expectProblem(await account.bare('POST', '/ws/ticket'), 401, 'TOKEN_DEAD')
  expect(await socket.untilPong()).toEqual([])

  const refused = await account.connectByToken()
  expect(await refused.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
  expect((await refused.closed).code).toBe(4401)
  expect(await socket.untilPong()).toEqual([]) // A connection with an expired token does not replace it.

  // The ticket that was issued in time has expired too: it is not valid longer than its token.
  const late = await rawHttp(url, requestOf(`GET /ws?user_uuid=${account.uuid}&ticket=${ticket}`, UPGRADE))
  expect(late.status).toBe(401)
  await account.login()
  expect((await account.get('/me')).status).toBe(200)
})

describe('a rejection', () => {
  test.each(['a repeated request', 'a withdrawn and new request', 'a request after it was removed'])(
    'is not undone by %s for 30 days, and no longer',
    async (how) => {
      const [alice, bob] = [await wireAccount(url), await wireAccount(url)]
      const ask = () => alice.post('/friends/request', { to_alias_id: bob.alias })
      const statusToBob = async () => (await bob.get('/friends')).body[0]?.status
      const again = async () => {
        const side = how === 'a withdrawn and new request' ? alice : bob
        if (how !== 'a repeated request')
          await side.bare('DELETE', `/friends/${(await side.get('/friends')).body[0].friendship_id}`)
        const asked = await ask()
        expect([asked.status, asked.body.status]).toEqual([200, 'pending'])
      }
      const { friendship_id: id } = (await ask()).body
      await bob.bare('POST', `/friends/${id}/reject`)
      const { socket } = await bob.online()
      for (const days of [1, 28]) {
        pass(days * DAY)
        await Promise.all([alice.login(), bob.login()])
        await again()
        expect(await statusToBob()).toBe('rejected')
        expect(await socket.untilPong()).toEqual([])
      }
      pass(DAY)
      await Promise.all([alice.login(), bob.login()])
      await again()
      expect(await statusToBob()).toBe('pending')
      expect(await socket.next()).toMatchObject({ type: 'friend_request', from: alice.alias })
    },
  )
})
