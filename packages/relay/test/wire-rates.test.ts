// Rates, seen from outside: HTTP refuses a request without any effect; the gateway makes frames wait and
// loses none.
import { describe, expect, test } from 'bun:test'
import { expectProblem } from './expect.ts'
import { rawHttp, requestOf, UPGRADE } from './raw.ts'
import { startRelay } from './relay-process.ts'
import { untilLogged } from './until-logged.ts'
import { useRelay } from './use-relay.ts'
import {
  type Answer,
  call,
  isSolution,
  message,
  post,
  solve,
  WireAccount,
  wireAccount,
  wireFriends,
} from './wire.ts'

/** Expects a 429 that names the rate and when to retry. */
function expectLimited(answer: Answer, limit: string, mostSeconds: number): void {
  expectProblem(answer, 429, 'RATE_LIMITED', { limit })
  const seconds = Number(answer.headers.get('retry-after'))
  expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= mostSeconds).toBe(true)
  expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after')
}

describe('HTTP', () => {
  const relay = useRelay({
    RATE_LIMITS: 'on',
    TRUST_PROXY: '1',
    RATE_POW: '2/600',
    RATE_REGISTER: '2/600',
    RATE_LOGIN: '4/600',
    RATE_LOOKUP: '2/600',
    RATE_UPGRADE: '2/600',
    RATE_FRIEND_REQUEST: '1/600',
    RATE_READ: '2/600',
    RATE_WRITE: '3/600',
  })
  /** Numbers the proxy's clients. Each client has a different address, and so separate counts. */
  let clients = 0
  const from = (address = `198.51.100.${++clients}`) => ({ 'x-forwarded-for': address })

  const pow = (headers: Record<string, string>) =>
    call(`${relay.url}/api/v1/pow/challenge`, { method: 'POST', headers })

  async function account(): Promise<WireAccount> {
    const made = new WireAccount(relay.url)
    const headers = from()
    const { body } = await pow(headers)
    const work = {
      pow_challenge: body.challenge_string,
      pow_nonce: solve(body.challenge_string, body.difficulty),
    }
    const keys = { ed25519_public_key: made.ed25519, x25519_public_key: made.x25519, nickname: 'n' }
    const registered = await post(made.api('/register'), { ...keys, ...work }, headers)
    made.uuid = registered.body.uuid
    made.alias = registered.body.alias_id
    const { challenge } = (await post(made.api('/auth/challenge'), { user_uuid: made.uuid }, headers)).body
    const login = { user_uuid: made.uuid, challenge, signature: made.sign(challenge) }
    made.token = (await post(made.api('/auth/verify'), login, headers)).body.token
    return made
  }

  test('challenges for registering are counted by address, and do not affect another address', async () => {
    const headers = from()
    expect([(await pow(headers)).status, (await pow(headers)).status]).toEqual([200, 200])
    expectLimited(await pow(headers), 'pow', 300)
    expect((await pow(from())).status).toBe(200)
  })

  test('a refused registration has no effect: its proof of work is accepted from another address', async () => {
    const headers = from()
    const made = new WireAccount(relay.url)
    const body = { ed25519_public_key: made.ed25519, x25519_public_key: made.x25519, nickname: 'n' }
    const { body: challenge } = await pow(headers)
    const work = {
      pow_challenge: challenge.challenge_string,
      pow_nonce: solve(challenge.challenge_string, 1),
    }
    const wrong =
      ['a', 'b', 'c', 'd', 'e'].find((nonce) => !isSolution(challenge.challenge_string, nonce, 1)) ?? ''
    for (let attempt = 0; attempt < 2; attempt++) {
      expectProblem(
        await post(made.api('/register'), { ...body, pow_nonce: wrong }, headers),
        400,
        'POW_INVALID',
      )
    }
    expectLimited(await post(made.api('/register'), { ...body, ...work }, headers), 'register', 300)
    expect((await post(made.api('/register'), { ...body, ...work }, from())).status).toBe(201)
  })

  test('recovering an account by its key counts like a registration', async () => {
    const made = await account()
    const headers = from()
    const body = { ed25519_public_key: made.ed25519, x25519_public_key: made.x25519, nickname: 'n' }
    for (let times = 0; times < 2; times++)
      expect((await post(made.api('/register'), body, headers)).status).toBe(409)
    expectLimited(await post(made.api('/register'), body, headers), 'register', 300)
  })

  test('login, lookup and upgrade are counted by address', async () => {
    const made = await account()
    const headers = from()
    for (let times = 0; times < 4; times++) {
      expect((await post(made.api('/auth/challenge'), { user_uuid: made.uuid }, headers)).status).toBe(200)
    }
    expectLimited(await post(made.api('/auth/challenge'), { user_uuid: made.uuid }, headers), 'login', 150)
    const lookUp = () =>
      call(made.api(`/users/${made.alias}`), { headers: { ...made.authorized(), ...headers } })
    expect([(await lookUp()).status, (await lookUp()).status]).toEqual([200, 200])
    expectLimited(await lookUp(), 'lookup', 300)
    // Neither can blocking tell which aliases exist once the lookups are used up.
    const block = (method: string, alias: string) =>
      call(made.api(`/blocks/${alias}`), { method, headers: { ...made.authorized(), ...headers } })
    for (const alias of [(await account()).alias, 'u00000000']) {
      expectLimited(await block('PUT', alias), 'lookup', 300)
      expect((await block('DELETE', alias)).status).toBe(200)
    }
    const upgrade = () => rawHttp(relay.url, requestOf(`GET /ws?token=x`, { ...UPGRADE, ...headers }))
    expect([(await upgrade()).status, (await upgrade()).status, (await upgrade()).status]).toEqual([
      401, 401, 429,
    ])
  })

  test('reads, writes and friend requests are counted by account, from any address; a refused request changes nothing', async () => {
    const [alice, bob, carol] = [await account(), await account(), await account()]
    const send = (method: string, path: string, body?: unknown) =>
      call(alice.api(path), {
        method,
        headers: { ...alice.authorized(), ...from() },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    expect([(await send('GET', '/me')).status, (await send('GET', '/friends')).status]).toEqual([200, 200])
    expectLimited(await send('GET', '/me'), 'read', 300)
    expect((await send('POST', '/friends/request', { to_alias_id: bob.alias })).status).toBe(200)
    expectLimited(await send('POST', '/friends/request', { to_alias_id: carol.alias }), 'friendRequest', 600)
    expect((await carol.get('/friends')).body).toEqual([])
    for (let times = 0; times < 3; times++)
      expect((await send('PATCH', '/me', { nickname: `n${times}` })).status).toBe(200)
    expectLimited(await send('PATCH', '/me', { nickname: 'too often' }), 'write', 200)
    expectLimited(await send('POST', '/ws/ticket'), 'write', 200)
    const asBobSees = await call(bob.api(`/users/${alice.alias}`), {
      headers: { ...bob.authorized(), ...from() },
    })
    expect(asBobSees.body.nickname).toBe('n2')
  })

  test('only the last address, which the proxy adds, counts; addresses that the client wrote before it are ignored', async () => {
    const address = `203.0.113.${++clients}`
    expect((await pow(from(`1.1.1.1, ${address}`))).status).toBe(200)
    expect((await pow(from(`2.2.2.2, ${address}`))).status).toBe(200)
    expectLimited(await pow(from(`3.3.3.3, ${address}`)), 'pow', 300)
  })

  test('an IPv6 address counts as its /64, and text that is not an address counts as the proxy’s address', async () => {
    expect((await pow(from('2001:db8:1:2::1'))).status).toBe(200)
    expect((await pow(from('2001:DB8:1:2:ffff::9'))).status).toBe(200)
    expectLimited(await pow(from('2001:db8:1:2:a:b:c:d')), 'pow', 300)
    expect((await pow(from('2001:db8:1:3::1'))).status).toBe(200)
    expect((await pow(from('[2001:db8:1:4::1]:5001'))).status).toBe(200)
    expect((await pow(from('unknown'))).status).toBe(200)
    expect((await pow(from('<script>'))).status).toBe(200)
    expectLimited(await pow(from('_hidden')), 'pow', 300)
  })

  test('the log says once that the proxy names no address', async () => {
    for (const address of ['unknown', '192.0.2.1:x']) await pow(from(address))
    await untilLogged(relay.process, 'client_address_missing')
    const lines = relay.process.errors().split('\n')
    expect(lines.filter((line) => line.includes('client_address_missing'))).toHaveLength(1)
  })
})

test('the log does not say that for a proxy that asks whether the relay is ready', async () => {
  const relay = await startRelay({ env: { TRUST_PROXY: '1' } })
  for (const path of ['/ready', '/health']) expect((await fetch(`${relay.url}${path}`)).status).toBe(200)
  await relay.kill('SIGTERM')
  const log = relay.errors()
  await relay.stop()
  expect(log).not.toContain('client_address_missing')
})

describe('long replies', () => {
  const relay = useRelay({ RATE_LIMITS: 'on', RATE_LONG_REPLY: '1000/3600' })

  test('are counted by their bytes, also those that are asked for at the same time', async () => {
    const alice = await wireAccount(relay.url)
    const { channel_id } = (await alice.post('/channels', { name: 'Long' })).body
    const posts = `/channels/${channel_id}/posts`
    expect((await alice.get(posts)).text).toBe('[]')
    await alice.post(posts, { content: 'x'.repeat(600) })
    const page = await alice.get(posts)
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      (await alice.get('/me')).headers.get('content-type'),
    ])
    const left = 1000 - '[]'.length - page.text.length
    expect(left).toBeGreaterThan(0)
    // The next reply is longer than what is left. It is given, and those after it are not.
    const answers = await Promise.all(Array.from({ length: 12 }, () => alice.get(posts)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const path of [posts, '/friends', '/blocks', '/channels/mine', '/vanity/orders'])
      expectLimited(await alice.get(path), 'longReply', Math.ceil((page.text.length - left) * 3.6))
    expect((await alice.get('/me')).status).toBe(200)
    const bob = await wireAccount(relay.url)
    expect((await bob.get(posts)).text).toBe(page.text)
  })
})

describe('IPv6 networks', () => {
  const relay = useRelay({ RATE_LIMITS: 'on', TRUST_PROXY: '1', RATE_LOGIN: '1/1000000' })
  const ask = (address: string) =>
    post(
      `${relay.url}/api/v1/auth/challenge`,
      { user_uuid: crypto.randomUUID() },
      { 'x-forwarded-for': address },
    )
  const all = (addresses: string[]) => Promise.all(addresses.map(ask))

  test('a /48 has sixteen times the rate of an address, and a /32 has 256 times', async () => {
    const networks = Array.from({ length: 17 }, (_, n) => n.toString(16))
    for (const answer of await all(networks.slice(0, 16).map((n) => `2001:db8:0:${n}::1`)))
      expect(answer.status).toBe(200)
    const refused = await ask('2001:db8:0:10::1')
    expectLimited(refused, 'login', 1_000_000 / 16 + 1)
    expect((await ask('2001:db9::1')).status).toBe(200)

    for (const site of networks.slice(1, 16))
      for (const answer of await all(networks.slice(0, 16).map((n) => `2001:db8:${site}:${n}::1`)))
        expect(answer.status).toBe(200)
    expectLimited(await ask('2001:db8:ffff::1'), 'login', 1_000_000 / 256 + 1)
    expect((await ask('2001:db9:1::1')).status).toBe(200)
    expect((await ask('192.0.2.1')).status).toBe(200)
  })
})

describe('without a trusted proxy', () => {
  const relay = useRelay({ RATE_LIMITS: 'on', RATE_POW: '2/600' })

  test('a client cannot escape a rate with X-Forwarded-For', async () => {
    const ask = (n: number) =>
      call(`${relay.url}/api/v1/pow/challenge`, {
        method: 'POST',
        headers: { 'x-forwarded-for': `198.51.100.${n}` },
      })
    expect([(await ask(1)).status, (await ask(2)).status]).toEqual([200, 200])
    expectLimited(await ask(3), 'pow', 300)
  })
})

describe('the gateway', () => {
  const paced = useRelay({ RATE_LIMITS: 'on', RATE_MESSAGE: '10/1', LIMIT_HELD_BYTES: String(256 * 1024) })

  test('makes messages wait that come too fast: none is refused, the order is kept, and pings are answered meanwhile', async () => {
    const { alice, bob, conv } = await wireFriends(paced.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const ids = Array.from({ length: 25 }, (_, n) => `m${n}`)
    for (const id of ids) alices.send(message(bob.alias, conv, id, id))
    alices.send({ type: 'typing', to: bob.alias, conv_id: conv }) // Waits behind the messages.
    alices.send({ type: 'ping' })
    while (alices.frames.every(({ type }) => type !== 'pong')) await Bun.sleep(5)
    const pongAt = alices.frames.findIndex(({ type }) => type === 'pong')
    expect(alices.frames.slice(0, pongAt).filter(({ type }) => type === 'ack').length).toBeLessThan(25)
    await alices.next('pong')
    expect((await alices.take(25)).map(({ type, id, seq }) => [type, id, seq])).toEqual(
      ids.map((id, n) => ['ack', id, n + 1]),
    )
    const seen = (await bobs.take(26)).map(({ type, id }) => id ?? type)
    expect(seen.filter((id) => id !== 'typing')).toEqual(ids)
    expect(seen.indexOf('typing')).toBeGreaterThan(9)
  })

  test('counts by account: a new connection has the same rate', async () => {
    const { alice, bob, conv } = await wireFriends(paced.url)
    const { socket: first } = await alice.online()
    const start = performance.now()
    for (let n = 0; n < 10; n++) first.send(message(bob.alias, conv, 'x'))
    await first.take(10, 'ack')
    const { socket: second } = await alice.online()
    for (let n = 0; n < 10; n++) second.send(message(bob.alias, conv, 'x'))
    await second.take(10, 'ack')
    // Twenty messages: ten are accepted at once, then ten a second.
    expect(performance.now() - start).toBeGreaterThan(900)
  })

  test('closes with 1013 and no goaway if more frames wait than it holds; acknowledged messages are stored, once', async () => {
    const { alice, bob, conv } = await wireFriends(paced.url)
    const { socket } = await alice.online()
    const payload = 'A'.repeat(20_000)
    for (let n = 0; n < 40; n++) socket.send({ ...message(bob.alias, conv, '', `m${n}`), payload })
    expect((await socket.closed).code).toBe(1013)
    expect(socket.frames.every(({ type }) => type === 'ack')).toBe(true)
    const acked = socket.frames.map(({ id }) => id)
    const { backlog } = await bob.online()
    const stored = backlog.slice(0, -1).map(({ id }) => id)
    expect(stored).toEqual(Array.from({ length: stored.length }, (_, n) => `m${n}`))
    expect(stored).toEqual(expect.arrayContaining(acked))
  })
})

test('a client that floods the relay with pings or refused frames is closed with 1013, since these do not wait for a rate', async () => {
  const relay = await startRelay({ env: { RATE_LIMITS: 'on', RATE_AT_ONCE: '20/3600' } })
  try {
    for (const flood of ['{"type":"ping"}', '{"type":"no_such_frame"}']) {
      const account = await wireAccount(relay.url)
      const socket = await account.connect()
      for (let n = 0; n < 40; n++) socket.send(flood)
      expect((await socket.closed).code).toBe(1013)
      expect(
        socket.frames.filter(({ type }) => type === 'pong' || type === 'error').length,
      ).toBeLessThanOrEqual(20)
    }
  } finally {
    await relay.stop()
  }
})

test('WebSocket pings are counted too, and receipts that wait do not delay the answer to a ping', async () => {
  const relay = await startRelay({
    env: { RATE_LIMITS: 'on', RATE_AT_ONCE: '20/3600', RATE_FRAME: '5/3600' },
  })
  try {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const sender = await alice.connect()
    sender.send(message(bob.alias, conv, 'hello'))
    const { seq } = await sender.next('ack')
    const reader = await bob.connect()
    await reader.next('msg')
    for (let n = 0; n < 10; n++) reader.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
    reader.send({ type: 'ping' })
    await reader.next('pong')
    for (let n = 0; n < 40; n++) sendWebSocketPing(reader.socket)
    expect((await reader.closed).code).toBe(1013)
  } finally {
    await relay.stop()
  }
})

test('with RATE_LIMITS=off nothing is limited', async () => {
  // All other wire tests use such a relay: they send hundreds of requests a second from one address.
  const relay = await startRelay({ env: { RATE_POW: '1/600' } })
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call(`${relay.url}/api/v1/pow/challenge`, { method: 'POST' })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect((await (await wireAccount(relay.url)).get('/me')).status).toBe(200)
  await relay.stop()
})

// Bun's WebSocket has ping(), which browsers and the standard type do not have.
function sendWebSocketPing(socket: WebSocket): void {
  if ('ping' in socket && typeof socket.ping === 'function') socket.ping()
}
