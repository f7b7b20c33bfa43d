// Opening WebSockets: the accepted credentials, and the rule that an account's newest connection replaces the
// older one.
import { describe, expect, test } from 'bun:test'
import { expectProblem } from './expect.ts'
import { rawHttp, requestOf, UPGRADE } from './raw.ts'
import { useRelay } from './use-relay.ts'
import { call, message, wireAccount, wireFriends } from './wire.ts'

const relay = useRelay()

describe('an upgrade', () => {
  test('is accepted with a ticket, with a token in the URL, or with an Authorization header', async () => {
    const account = await wireAccount(relay.url)
    const urls = [
      `/ws?user_uuid=${account.uuid}&ticket=${await account.ticket()}`,
      `/ws?user_uuid=${account.uuid}&token=${account.token}`,
      `/ws?token=${account.token}`,
    ]
    for (const url of urls) {
      expect((await rawHttp(relay.url, requestOf(`GET ${url}`, UPGRADE))).status).toBe(101)
    }
    const byHeader = requestOf(`GET /ws?user_uuid=${account.uuid}`, { ...UPGRADE, ...account.authorized() })
    expect((await rawHttp(relay.url, byHeader)).status).toBe(101)
  })

  test('ignores an Authorization header that is meant for a proxy', async () => {
    const account = await wireAccount(relay.url)
    for (const query of [`ticket=${await account.ticket()}`, `token=${account.token}`]) {
      const headers = { ...UPGRADE, authorization: 'Basic cHJveHk6cHJveHk=' }
      const answer = await rawHttp(
        relay.url,
        requestOf(`GET /ws?user_uuid=${account.uuid}&${query}`, headers),
      )
      expect(answer.status).toBe(101)
    }
  })

  test('negotiates no compression', async () => {
    const account = await wireAccount(relay.url)
    const headers = { ...UPGRADE, 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' }
    const answer = await rawHttp(
      relay.url,
      requestOf(`GET /ws?user_uuid=${account.uuid}&token=${account.token}`, headers),
    )
    expect(answer.status).toBe(101)
    expect(answer.head.toLowerCase()).not.toContain('sec-websocket-extensions')
  })

  test('is refused with 401 without valid credentials, or with another account’s', async () => {
    const [account, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    for (const query of [
      '',
      `?user_uuid=${account.uuid}`,
      `?user_uuid=${account.uuid}&token=`,
      `?user_uuid=${account.uuid}&token=a.b.c`,
      `?user_uuid=${account.uuid}&token=%00%ff`,
      `?user_uuid=${other.uuid}&token=${account.token}`,
      `?user_uuid=&token=${account.token}`,
    ]) {
      const answer = await rawHttp(relay.url, requestOf(`GET /ws${query}`, UPGRADE))
      expect([answer.status, JSON.parse(answer.body).error]).toEqual([401, 'UNAUTHENTICATED'])
    }
  })

  test('is answered 426 if it is a plain request, and 405 if it is not a GET', async () => {
    const account = await wireAccount(relay.url)
    const plain = await call(`${relay.url}/ws?user_uuid=${account.uuid}&token=${account.token}`)
    expectProblem(plain, 426, 'UPGRADE_REQUIRED')
    expect(plain.headers.get('upgrade')).toBe('websocket')
    const posted = await call(`${relay.url}/ws`, { method: 'POST' })
    expectProblem(posted, 405, 'METHOD_NOT_ALLOWED')
    expect(posted.headers.get('allow')).toBe('GET')
  })

  test('without a key, or for another version, is answered 426, and the answer names version 13', async () => {
    const account = await wireAccount(relay.url)
    const path = `GET /ws?user_uuid=${account.uuid}&token=${account.token}`
    const { 'sec-websocket-key': _, ...keyless } = UPGRADE
    expect((await rawHttp(relay.url, requestOf(path, keyless))).status).toBe(426)
    const old = await rawHttp(relay.url, requestOf(path, { ...UPGRADE, 'sec-websocket-version': '8' }))
    expect([old.status, old.head.toLowerCase().includes('sec-websocket-version: 13')]).toEqual([426, true])
  })
})

describe('the origin of a page that opens a WebSocket', () => {
  const narrow = useRelay({
    CORS_ORIGINS: 'https://app.example,https://other.example',
    PUBLIC_URL: 'https://relay.example',
  })

  test('must be one of the operator’s, or the relay’s own; programs without an origin are not affected', async () => {
    const account = await wireAccount(narrow.url)
    const upgrade = async (headers: Record<string, string>) => {
      const path = `/ws?user_uuid=${account.uuid}&ticket=${await account.ticket()}`
      return await rawHttp(narrow.url, requestOf(`GET ${path}`, { ...UPGRADE, ...headers }))
    }
    for (const origin of ['https://app.example', 'https://other.example', 'https://relay.example'])
      expect([origin, (await upgrade({ origin })).status]).toEqual([origin, 101])
    expect((await upgrade({})).status).toBe(101)
    for (const origin of ['https://evil.example', 'https://app.example.evil.example', 'null', '']) {
      const { status, body } = await upgrade({ origin })
      expect([origin, status, JSON.parse(body).error]).toEqual([origin, 403, 'ORIGIN_REFUSED'])
    }
    await (await account.connect()).close()
  })

  test('is not looked at by default', async () => {
    const account = await wireAccount(relay.url)
    const path = `/ws?user_uuid=${account.uuid}&ticket=${await account.ticket()}`
    const request = requestOf(`GET ${path}`, { ...UPGRADE, origin: 'https://any.example' })
    expect((await rawHttp(relay.url, request)).status).toBe(101)
  })
})

describe('one connection per account', () => {
  test('a new connection with the same token closes the older one with 4409 and no goaway: the client reconnected', async () => {
    const account = await wireAccount(relay.url)
    const { socket: older } = await account.online()
    const newer = await account.connectByToken()
    expect((await older.closed).code).toBe(4409)
    expect(older.frames).toEqual([])
    expect(await newer.next()).toEqual({ type: 'sync_end', count: 0 })
    expect(await newer.untilPong()).toEqual([])
    // The token is still valid.
    const third = await account.connectByToken()
    expect(await third.next()).toEqual({ type: 'sync_end', count: 0 })
  })

  test('of two connections opened at once with the same token, one stays and the other is closed with 4409 and no goaway', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: sender } = await alice.online()
    for (let round = 0; round < 3; round++) {
      const sockets = await Promise.all([bob.connectByToken(), bob.connectByToken()])
      const loser = await Promise.race(sockets.map(async (socket) => ({ ...(await socket.closed), socket })))
      expect(loser.code).toBe(4409)
      expect(loser.socket.frames.filter(({ type }) => type === 'goaway')).toEqual([])
      const winner = sockets.find((socket) => socket !== loser.socket)
      sender.send(message(bob.alias, conv, 'hello', `round-${round}`))
      expect(await winner?.next('msg')).toMatchObject({ id: `round-${round}` })
      winner?.send({ type: 'delivered', conv_id: conv, seq: round + 1, to: alice.alias })
      await sender.next('delivered')
      await winner?.close()
    }
  })

  test('another device replaces the connection: goaway new_device_login, 4409, and the replaced token opens no WebSocket', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: older } = await bob.online()
    const olderToken = bob.token
    await bob.login()
    const { socket: newer } = await bob.online()
    expect(await older.next()).toEqual({ type: 'goaway', reason: 'new_device_login' })
    expect((await older.closed).code).toBe(4409)
    expect(older.frames).toEqual([])

    const newerToken = bob.token
    bob.token = olderToken
    expect((await bob.get('/me')).status).toBe(200) // It is still valid for HTTP.
    for (const open of [() => bob.connect(), () => bob.connectByToken()]) {
      const refused = await open() // Neither the token nor a ticket made with it opens a WebSocket.
      expect(await refused.next()).toEqual({ type: 'goaway', reason: 'new_device_login' })
      expect((await refused.closed).code).toBe(4409)
    }
    bob.token = newerToken

    const { socket: sender } = await alice.online()
    sender.send(message(bob.alias, conv, 'for the newer one', 'm'))
    expect(await newer.next()).toMatchObject({ type: 'msg', id: 'm' })
  })

  test('a replaced token that is logged out gets jwt_revoked from then on', async () => {
    const account = await wireAccount(relay.url)
    await account.online()
    const olderToken = account.token
    await account.login()
    const { socket: newer } = await account.online()
    account.token = olderToken
    expect((await account.bare('POST', '/auth/logout')).status).toBe(200)
    const refused = await account.connectByToken()
    expect(await refused.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
    expect((await refused.closed).code).toBe(4401)
    expect(await newer.untilPong()).toEqual([]) // The logout does not affect the newer connection.
  })

  test('messages that the older connection did not confirm go to the newer one', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: sender } = await alice.online()
    const { socket: older } = await bob.online()
    for (const id of ['one', 'two']) sender.send(message(bob.alias, conv, id, id))
    await older.take(2, 'msg')
    await bob.login()
    const { backlog } = await bob.online()
    expect(backlog.map(({ type, id }) => id ?? type)).toEqual(['one', 'two', 'sync_end'])
  })
})
