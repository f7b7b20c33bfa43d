// Rotating the relay's keys while it runs: what was signed before stays valid, or ends at once if the
// operator says so.
import { afterAll, describe, expect, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { OperatorError, tellRelay } from '../src/operator.ts'
import { expectInvalidField, expectProblem } from './expect.ts'
import { type PushEndpoint, startPushEndpoint } from './push-endpoint.ts'
import { readVapid, subscriber } from './push-subscriber.ts'
import { settingsFor, sleeper, type Woken } from './push-world.ts'
import { onEveryEngine, type UsedRelay } from './use-relay.ts'
import { call, post, type WireAccount, WireSocket, wireAccount } from './wire.ts'

const service: PushEndpoint = await startPushEndpoint()
afterAll(() => service.stop())

function rotate(relay: UsedRelay, purpose: string, drop_old = false) {
  return tellRelay({ DATA_DIR: relay.process.dataDir }, 'keys.rotate', { purpose, drop_old })
}

function kidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
}

async function vapidKeyOf(relay: UsedRelay): Promise<string> {
  return (await call(`${relay.url}/api/v1/push/vapid-key`)).body.vapid_public_key
}

/** The key that a push was signed with. */
async function signerOf({ path }: Pick<Woken, 'path'>, count: number): Promise<string> {
  const pushes = await service.until(path, count)
  return (await readVapid(pushes[count - 1]?.headers.authorization ?? '')).key
}

onEveryEngine((relay) => {
  describe('a new token key', () => {
    test('signs new tokens, and those of the old key stay valid', async () => {
      const account = await wireAccount(relay.url)
      const [old, { socket }] = [account.token, await account.online()]
      const [key] = await rotate(relay, 'token')
      await account.login()
      expect(kidOf(account.token)).toBe(key?.kid ?? '')
      expect(kidOf(old)).not.toBe(kidOf(account.token))
      for (const token of [old, account.token]) {
        const answer = await call(account.api('/me'), { headers: { authorization: `Bearer ${token}` } })
        expect(answer.status).toBe(200)
      }
      expect(await socket.untilPong()).toEqual([])
      await socket.close()
    })

    test('with --drop-old ends every token and every connection of the old key', async () => {
      const [account, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
      const [first, second] = [await account.online(), await other.online()]
      const ticket = await account.ticket()
      await rotate(relay, 'token', true)
      for (const { socket } of [first, second]) {
        expect(await socket.next('goaway')).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
        expect((await socket.closed).code).toBe(4401)
      }
      expectProblem(await account.get('/me'), 401, 'UNAUTHENTICATED')
      const late = await WireSocket.open(`${account.wsUrl()}?user_uuid=${account.uuid}&ticket=${ticket}`)
      expect(await late.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
      await account.login()
      const { socket } = await account.online()
      expect(await socket.untilPong()).toEqual([])
      // A rotation that drops nothing leaves this connection alone.
      await rotate(relay, 'token')
      expect(await socket.untilPong()).toEqual([])
      await socket.close()
    })
  })

  describe('a new challenge key', () => {
    const challengeFor = async (account: WireAccount): Promise<string> =>
      (await post(account.api('/auth/challenge'), { user_uuid: account.uuid })).body.challenge
    const verify = (account: WireAccount, challenge: string) =>
      post(account.api('/auth/verify'), {
        user_uuid: account.uuid,
        challenge,
        signature: account.sign(challenge),
      })

    test('leaves logins alone that have begun, and with --drop-old they begin again', async () => {
      const account = await wireAccount(relay.url)
      const begun = await challengeFor(account)
      await rotate(relay, 'challenge')
      expect((await verify(account, begun)).status).toBe(200)
      const dropped = await challengeFor(account)
      await rotate(relay, 'challenge', true)
      expectProblem(await verify(account, dropped), 401, 'CHALLENGE_INVALID')
      expect((await verify(account, await challengeFor(account))).status).toBe(200)
    })
  })

  describe('a new media key', () => {
    test('leaves links alone, and with --drop-old they end', async () => {
      const account = await wireAccount(relay.url)
      const { body } = await account.post('/media/upload-url', { size: 5 })
      const upload = await call(body.upload_url, { method: 'PUT', body: 'bytes' })
      expect(upload.status).toBe(200)
      const link = async (): Promise<string> =>
        (await account.get(`/media/download-url?key=${body.media_key}`)).body.download_url
      const before = await link()
      await rotate(relay, 'media')
      expect((await call(before)).text).toBe('bytes')
      const dropped = await link()
      await rotate(relay, 'media', true)
      expectProblem(await call(dropped), 404, 'NOT_FOUND')
      expect((await call(await link())).text).toBe('bytes')
    })
  })

  describe('a new VAPID key', () => {
    test('is the one that browsers subscribe with, and the old one serves its subscriptions', async () => {
      const old = await vapidKeyOf(relay)
      const before = await sleeper(relay.url, service)
      await rotate(relay, 'vapid')
      const current = await vapidKeyOf(relay)
      expect(current).not.toBe(old)
      const after = await sleeper(relay.url, service)
      for (const each of [before, after]) await each.send()
      expect(await signerOf(before, 1)).toBe(old)
      expect(await signerOf(after, 1)).toBe(current)
      // The same browser again, as published clients send it whenever they start: it is still the old key's.
      const counts = await subscriptionsByKey(relay)
      expect((await before.bob.post('/push/subscribe', before.browser.body)).status).toBe(200)
      expect(await subscriptionsByKey(relay)).toEqual(counts)
    })

    test('does not confuse a browser that names the key that it has subscribed with', async () => {
      const [old, account] = [await vapidKeyOf(relay), await wireAccount(relay.url)]
      const late = await subscriber(service.url(`/${crypto.randomUUID()}`))
      await rotate(relay, 'vapid')
      const [newest = 0, replaced = 0] = await subscriptionsByKey(relay)
      const named = { ...late.body, vapid_public_key: old }
      expect((await account.post('/push/subscribe', named)).status).toBe(200)
      expect((await subscriptionsByKey(relay)).slice(0, 2)).toEqual([newest, replaced + 1])
      const renewed = { ...late.body, vapid_public_key: await vapidKeyOf(relay) }
      expect((await account.post('/push/subscribe', renewed)).status).toBe(200)
      expect((await subscriptionsByKey(relay)).slice(0, 2)).toEqual([newest + 1, replaced])
      const foreign = { ...late.body, vapid_public_key: late.body.keys.p256dh }
      expectInvalidField(await account.post('/push/subscribe', foreign), 'vapid_public_key')
    })

    test('with --drop-old ends the subscriptions of the old key', async () => {
      const before = await sleeper(relay.url, service)
      const [key] = await rotate(relay, 'vapid', true)
      const after = await sleeper(relay.url, service)
      await before.send()
      await after.send()
      expect(await signerOf(after, 1)).toBe(await vapidKeyOf(relay))
      // Its push was due before.
      expect(service.at(before.path)).toEqual([])
      expect(await keysOf(relay, 'vapid')).toEqual([
        {
          purpose: 'vapid',
          kid: key?.kid ?? '',
          created_at: expect.any(String),
          state: 'signs',
          subscriptions: 1,
        },
      ])
    })
  })

  test('the list shows every key, without its secret', async () => {
    await rotate(relay, 'media')
    const keys = await keysOf(relay, 'media')
    expect(keys.length).toBeGreaterThan(1)
    const [newest, ...older] = keys.map(({ state }) => state)
    expect([newest, new Set(older)]).toEqual(['signs', new Set(['verifies'])])
    for (const key of keys)
      expect(Object.keys(key).sort()).toEqual(['created_at', 'kid', 'purpose', 'state', 'subscriptions'])
    const wrong = await failureOf(rotate(relay, 'reserve'))
    expect(wrong).toBeInstanceOf(OperatorError)
    expect(String(wrong)).toContain('purpose')
  })
}, settingsFor(service))

async function keysOf(relay: UsedRelay, purpose: string) {
  const keys = await tellRelay({ DATA_DIR: relay.process.dataDir }, 'keys.list', {})
  return keys.filter((key) => key.purpose === purpose)
}

/** How many subscriptions were made with each VAPID key, the newest first. */
async function subscriptionsByKey(relay: UsedRelay) {
  return (await keysOf(relay, 'vapid')).map(({ subscriptions }) => subscriptions ?? 0)
}
