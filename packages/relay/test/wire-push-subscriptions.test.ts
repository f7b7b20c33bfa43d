// Subscribing, registering and disabling push: what the relay accepts, which account owns a subscription, and
// how it ends.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expectInvalidField, expectProblem } from './expect.ts'
import { answer, startPushEndpoint } from './push-endpoint.ts'
import { subscriber } from './push-subscriber.ts'
import {
  letPassUntilPushesAreSent,
  settingsFor,
  sleeper,
  subscribed,
  textOf,
  untilRetryIsQueued,
} from './push-world.ts'
import { onEveryEngine, useRelay, useRelayWith } from './use-relay.ts'
import { call, wireAccount } from './wire.ts'

const service = await startPushEndpoint()
afterAll(() => service.stop())
const settings = { ...settingsFor(service), LIMIT_PUSH_MESSAGE_SECONDS: '1' }

onEveryEngine((relay) => {
  /** Lets time pass until the wake-ups for a message are due. */
  const letPass = (): Promise<number> => relay.process.letPass(1000)
  const let20SecondsPass = (): Promise<void> => letPassUntilPushesAreSent(relay, service, 20_000)

  beforeAll(() => relay.process.letPass(0))

  test('subscribing again changes nothing', async () => {
    const { send, path, bob, browser } = await sleeper(relay.url, service)
    await bob.post('/push/subscribe', browser.body)
    await bob.post('/push/subscribe', browser.body)
    await send()
    await letPass()
    await service.until(path)
    await let20SecondsPass()
    expect(service.at(path)).toHaveLength(1)
  })

  test('a push is encrypted with the keys of the browser’s latest subscription', async () => {
    const { send, path, bob } = await sleeper(relay.url, service)
    const again = await subscribed(bob, service, path)
    await send()
    await letPass()
    const [push] = await service.until(path)
    expect(await textOf(again, push)).toBe('{"type":"new_msg"}')
  })

  test('a browser in which another account logs in belongs to that account, and gets no pushes for the previous one', async () => {
    const before = await sleeper(relay.url, service)
    const after = await sleeper(relay.url, service)
    expect((await after.bob.post('/push/subscribe', before.browser.body)).status).toBe(200)
    await before.send()
    await let20SecondsPass()
    expect(service.at(before.path)).toEqual([])
    await after.send()
    await letPass()
    await service.until(before.path)
    await service.until(after.path)
  })

  test('a sixth browser replaces the oldest of five', async () => {
    const { send, path, bob, browser } = await sleeper(relay.url, service)
    const others = []
    for (let i = 0; i < 4; i++) {
      await relay.process.letPass(1) // A different time for each, so that one is the oldest.
      others.push(await subscribed(bob, service))
    }
    await relay.process.letPass(1)
    await bob.post('/push/subscribe', browser.body) // The first browser is the newest now.
    await relay.process.letPass(1)
    const [oldest, ...kept] = [...others, await subscribed(bob, service)]
    await send()
    await letPass()
    for (const each of [{ path }, ...kept]) await service.until(each.path)
    expect(service.at(oldest?.path ?? '')).toEqual([])
  })

  test('disabling ends all subscriptions of the account, and no others', async () => {
    const [off, on] = [await sleeper(relay.url, service), await sleeper(relay.url, service)]
    const second = await subscribed(off.bob, service)
    for (let times = 0; times < 2; times++) {
      const disabled = await off.bob.bare('POST', '/push/disable')
      expect([disabled.status, disabled.body]).toEqual([200, {}])
    }
    await Promise.all([off.send(), on.send()])
    await letPass()
    await service.until(on.path)
    await let20SecondsPass()
    expect([...service.at(off.path), ...service.at(second.path)]).toEqual([])
    await off.bob.post('/push/subscribe', off.browser.body)
    await off.send()
    await letPass()
    await service.until(off.path)
  })

  test('logging out ends no subscription: the account still gets messages', async () => {
    const { send, path, bob } = await sleeper(relay.url, service)
    expect((await bob.bare('POST', '/auth/logout')).status).toBe(200)
    await send()
    await letPass()
    await service.until(path)
  })

  test('a deleted account gets no more pushes, not even the queued ones', async () => {
    const { send, path, bob } = await sleeper(relay.url, service)
    service.on(path, answer(503))
    await send()
    await letPass()
    await service.until(path)
    expect((await bob.bare('DELETE', '/me')).status).toBe(200)
    service.on(path, answer(201))
    await let20SecondsPass()
    expect(service.at(path)).toHaveLength(1)
    expectProblem(
      await bob.post('/push/subscribe', (await subscriber(service.url('/late'))).body),
      401,
      'TOKEN_DEAD',
    )
  })
}, settings)

describe('subscribing is refused', () => {
  const relay = useRelay(settings)

  test('without a token', async () => {
    const { body } = await subscriber(service.url('/x'))
    const headers = { 'content-type': 'application/json' }
    for (const [path, sent] of [
      ['subscribe', body],
      ['register', { token: 't', platform: 'android' }],
      ['disable', {}],
    ]) {
      const url = `${relay.url}/api/v1/push/${path}`
      const refused = await call(url, { method: 'POST', headers, body: JSON.stringify(sent) })
      expectProblem(refused, 401, 'UNAUTHENTICATED')
    }
  })

  test('for a forbidden endpoint, with the name of the field', async () => {
    const account = await wireAccount(relay.url)
    const { body } = await subscriber('')
    for (const endpoint of [
      ...[
        undefined,
        null,
        7,
        '',
        'x',
        'http://push.example.org/x',
        'https://push.example.org/ x',
        'https://[/',
      ],
      ...['https://10.0.0.1/', 'https://[::1]:8443/', 'https://127.0.0.2:8443/', 'https://169.254.169.254/'],
      ...['https://router/', 'https://a:b@push.example.org/', 'https://push.example.org:25/'],
      `https://push.example.org/${'x'.repeat(2048)}`,
    ]) {
      expectInvalidField(await account.post('/push/subscribe', { ...body, endpoint }), 'endpoint')
    }
  })

  test('for invalid keys, with the name of the field', async () => {
    const account = await wireAccount(relay.url)
    const { body } = await subscriber('https://push.example.org/x')
    const { p256dh, auth } = body.keys
    const noPoint = Buffer.alloc(65, 7)
    noPoint[0] = 4
    for (const bad of [undefined, 7, '', 'B', `${p256dh}=`, p256dh.slice(1), noPoint.toString('base64url')]) {
      const refused = await account.post('/push/subscribe', { ...body, keys: { p256dh: bad, auth } })
      expectInvalidField(refused, 'keys.p256dh')
    }
    for (const bad of [undefined, null, '', `${auth}==`, auth.slice(1), `+/${auth.slice(2)}`]) {
      expectInvalidField(
        await account.post('/push/subscribe', { ...body, keys: { p256dh, auth: bad } }),
        'keys.auth',
      )
    }
    expectInvalidField(await account.post('/push/subscribe', { endpoint: body.endpoint }), 'keys')
    expect((await account.post('/push/subscribe', body)).status).toBe(200)
  })

  test('for a device if the relay has no service to reach it', async () => {
    const account = await wireAccount(relay.url)
    const refused = await account.post('/push/register', { token: 'token', platform: 'android' })
    expectProblem(refused, 503, 'PUSH_UNAVAILABLE')
    expectInvalidField(await account.post('/push/register', { token: '', platform: 'android' }), 'token')
    expectInvalidField(await account.post('/push/register', { token: 'a b', platform: 'android' }), 'token')
    expectInvalidField(
      await account.post('/push/register', { token: 'token', platform: 'Android!' }),
      'platform',
    )
  })
})

describe('Firebase Cloud Messaging', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = join(service.authorityFile, '..', 'service-account.json')
  const tokenUrl = service.url('/token')
  const fcm = { ...settings, FCM_SERVICE_ACCOUNT: file, FCM_API_URL: service.url('/fcm') }
  const sends = '/fcm/v1/projects/sotto-tests/messages:send'
  const sent = () =>
    service.at(sends).map(({ headers, body }) => ({
      authorization: headers.authorization,
      message: JSON.parse(Buffer.from(body).toString()).message,
    }))
  const sentTo = (token: string) => sent().filter(({ message }) => message.token === token)
  const until = async (token: string, count: number) => {
    for (const late = performance.now() + 45_000; sentTo(token).length < count; await Bun.sleep(20)) {
      if (performance.now() > late)
        throw new Error(`${sentTo(token).length} of ${count} pushes arrived for ${token}`)
    }
    return sentTo(token)
  }
  service.on('/token', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ access_token: 'ya29.test', expires_in: 3599, token_type: 'Bearer' }))
  })
  const written = writeFile(
    file,
    JSON.stringify({
      ...{ type: 'service_account', project_id: 'sotto-tests', private_key_id: 'k' },
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'relay@sotto-tests.iam.gserviceaccount.com',
      token_uri: tokenUrl,
    }),
  )
  const relay = useRelayWith(async () => {
    await written
    return fcm
  })

  async function phone() {
    const { bob, ...rest } = await sleeper(relay.url, service)
    // Ends the browser's subscription: these tests are about the phone.
    await bob.bare('POST', '/push/disable')
    const token = `phone:${crypto.randomUUID()}`
    const registered = await bob.post('/push/register', { token, platform: 'android' })
    expect([registered.status, registered.body]).toEqual([200, {}])
    return { ...rest, bob, token }
  }

  /** Lets time pass until a failed push is retried. */
  async function letRetry(token: string): Promise<void> {
    await untilRetryIsQueued(relay.process.dataDir, token, await relay.process.letPass(0))
    await relay.process.letPass(6250)
  }

  test('wakes a phone, with an access token requested with the service account’s signature', async () => {
    const [first, second] = [await phone(), await phone()]
    await Promise.all([first.send(), second.send()])
    await relay.process.letPass(1000)
    expect(await until(first.token, 1)).toEqual([
      {
        authorization: 'Bearer ya29.test',
        message: {
          token: first.token,
          data: { type: 'new_msg', conv_id: '' },
          android: { priority: 'HIGH', ttl: '604800s', collapse_key: 'message' },
        },
      },
    ])
    await until(second.token, 1)
    const [asked, ...more] = service.at('/token')
    expect(more).toEqual([])
    const form = new URLSearchParams(Buffer.from(asked?.body ?? []).toString())
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    expect(
      verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url')),
    ).toBe(true)
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toMatchObject({ alg: 'RS256' })
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'relay@sotto-tests.iam.gserviceaccount.com',
      aud: tokenUrl,
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
    })
  })

  test('forgets a phone that is unregistered, but no phone if the project is not found', async () => {
    const { send, token } = await phone()
    const notFound = (errorCode: string) =>
      service.on(sends, (response) => {
        response.writeHead(404).end(JSON.stringify({ error: { code: 404, details: [{ errorCode }] } }))
      })
    notFound('NOT_FOUND')
    await send()
    await relay.process.letPass(1000)
    await until(token, 1)
    notFound('UNREGISTERED')
    await letRetry(token)
    await until(token, 2)
    service.on(sends, answer(200))
    await letPassUntilPushesAreSent(relay, service, 1000)
    await send()
    await letPassUntilPushesAreSent(relay, service, 20_000)
    expect(sentTo(token)).toHaveLength(2)
  })

  test('gets a new access token if the current one is refused', async () => {
    const { send, token } = await phone()
    const before = service.at('/token').length
    service.on(sends, answer(401))
    await send()
    await relay.process.letPass(1000)
    await until(token, 1)
    service.on(sends, answer(200))
    await letRetry(token)
    await until(token, 2)
    expect(service.at('/token')).toHaveLength(before + 1)
  })
})
