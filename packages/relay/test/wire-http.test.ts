// HTTP in general: paths and methods, bodies, CORS, documents, and what no answer ever contains.
import { describe, expect, test } from 'bun:test'
import { expectInvalidField, expectJson, expectProblem } from './expect.ts'
import { rawHttp, requestOf } from './raw.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { type Answer, call, isSolution, post, solve, WireAccount, wireAccount } from './wire.ts'

const relay = useRelay()

test('a Host header that is no host is not used in the links of an answer', async () => {
  const account = await wireAccount(relay.url)
  const hosts = ['evil.example:99999', '1.2.3.4.5', '999.999.999.999', '[:::]', 'x'.repeat(300), 'a b']
  for (const host of hosts) {
    const headers = { ...account.authorized(), host }
    const { status, body } = await rawHttp(
      relay.url,
      requestOf('POST /api/v1/media/upload-url', { ...headers, 'content-length': '0' }),
    )
    expect([host, status]).toEqual([host, 200])
    expect(JSON.parse(body).upload_url).toStartWith('http://localhost/api/v1/media/links/')
  }
})

describe('paths and methods', () => {
  test('an unknown path answers 404; a wrong method on a known path answers 405 with the allowed methods', async () => {
    for (const path of [
      '/nope',
      '/api/v1',
      '/api/v1/',
      '/api/v2/me',
      '/api/v1/me/',
      '/api/v1/ME',
      '/API/v1/me',
      '/api/v1/nothing',
      '/favicon.ico',
    ]) {
      expectProblem(await call(relay.url + path), 404, 'NOT_FOUND')
    }
    for (const [method, path, allow] of [
      ['DELETE', '/health', 'GET'],
      ['POST', '/api/v1/me', 'GET, PATCH, DELETE'],
      ['GET', '/api/v1/register', 'POST'],
      ['GET', '/api/v1/friends/7/accept', 'PUT, POST'],
      ['PATCH', '/api/v1/friends/7', 'DELETE'],
      ['POST', '/api/v1/blocks/abc', 'PUT, DELETE'],
      ['GET', '/api/v1/channels', 'POST'],
    ] as const) {
      const answer = await call(relay.url + path, { method })
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED')
      expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted())
    }
  })

  test('no spelling of a path reaches another endpoint', async () => {
    const account = await wireAccount(relay.url)
    const headers = account.authorized()
    for (const path of [
      '/api/v1/users/../me',
      '/api/v1/users/%2e%2e%2fme',
      '/api/v1/users/..%2fme',
      '/api/v1/users/%252e%252e',
      '/api/v1/users/%zz',
      '/api/v1/users/%00',
      '/api/v1/users/u%F0%28',
      '/api/v1/users/',
      '/api/v1/users//',
      '/api/v1//me',
      '//api/v1/me',
      '//evil.example/api/v1/me',
      '/api/v1/me;x=1',
      '/api/v1/me%20',
      '/api/v1/friends//accept',
      '/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/api/v1/users/%3Cscript%3E',
      `/api/v1/users/${'a'.repeat(8000)}`,
      "/api/v1/users/'%20OR%201=1--",
    ]) {
      const answer = await rawHttp(relay.url, requestOf(`GET ${path}`, headers))
      expect([path.slice(0, 40), answer.status, JSON.parse(answer.body).error]).toEqual([
        path.slice(0, 40),
        404,
        'NOT_FOUND',
      ])
    }
    expect((await account.get('/me?x=%zz&y[]=1#z')).status).toBe(200)
  })

  test('an invalid Host header does no harm: the request is answered like any other, but nobody logs in under it', async () => {
    for (const host of [
      '',
      '[',
      'a b',
      'a/b?c#d',
      'x'.repeat(300),
      '<script>',
      "'",
      '[::1]:99999',
      '..',
      'ümlaut',
    ]) {
      const nowhere = await rawHttp(relay.url, requestOf('GET /nope', { host }))
      expect([host, nowhere.status]).toEqual([host, 404])
      const ws = await rawHttp(relay.url, requestOf('GET /ws?token=x', { host }))
      expect([host, ws.status]).toEqual([host, 426])
      const body = JSON.stringify({ user_uuid: crypto.randomUUID() })
      const login =
        requestOf('POST /api/v1/auth/challenge', { host, 'content-length': String(body.length) }) + body
      const answer = await rawHttp(relay.url, login)
      expect([host, answer.status, JSON.parse(answer.body).error]).toEqual([host, 421, 'HOST_UNKNOWN'])
    }
  })

  test('no request header gets into an answer, and no answer names the server software', async () => {
    const evil = 'x%0d%0aSet-Cookie:%20a=b'
    for (const path of [`/api/v1/users/${evil}`, `/ws?token=${evil}`, `/${evil}`, `/health?${evil}`]) {
      const { head } = await rawHttp(relay.url, requestOf(`GET ${path}`, { origin: 'https://evil.example' }))
      expect(head.toLowerCase()).not.toContain('set-cookie')
      expect(head).not.toContain('evil.example')
      expect(head).not.toMatch(/^(?:server|x-powered-by):/im)
    }
  })

  test('requests that break HTTP are refused and end only their own connection', async () => {
    for (const bytes of [
      'GET\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n',
      'GET /health HTTP/9.9\r\nhost: x\r\n\r\n',
      'POST /api/v1/register HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
      'POST /api/v1/register HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      `GET /health HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`,
      'GET /health HTTP/1.1\r\nhost: x\r\nx: a\u0000b\r\n\r\n',
    ]) {
      const answer = await rawHttp(relay.url, bytes)
      expect(answer.status === 0 || (answer.status >= 400 && answer.status < 600)).toBe(true)
    }
    expect((await call(`${relay.url}/health`)).status).toBe(200)
  })
})

describe('every answer', () => {
  const secure = useRelay({ PUBLIC_URL: 'https://relay.example' })
  const answers = async (url: string): Promise<Answer[]> => {
    const account = await wireAccount(url)
    return await Promise.all([
      call(`${url}/`),
      call(`${url}/health`),
      call(`${url}/openapi.json`),
      call(`${url}/nope`),
      call(`${url}/health`, { method: 'DELETE' }),
      call(`${url}/api/v1/me`, { method: 'OPTIONS' }),
      call(`${url}/ws`),
      account.get('/me'),
      account.get('/users/NOT%20AN%20ALIAS'),
      call(`${url}/api/v1/media/m_${'A'.repeat(22)}`),
      account.bare('POST', '/auth/logout'),
    ])
  }

  test('keeps browsers from rendering it, sniffing its type, storing it, framing it and telling its address', async () => {
    for (const { headers } of await answers(relay.url)) {
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
      )
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('strict-transport-security')).toBeNull()
    }
  })

  test('is JSON, except the page at / and the answer to a preflight request', async () => {
    const [page, ...others] = await answers(relay.url)
    expect(page?.headers.get('content-type')).toMatch(/^text\/plain; ?charset=utf-8$/i)
    for (const answer of others) {
      if (answer.status === 204) expect(answer.text).toBe('')
      else expectJson(answer)
    }
    expect(others.filter(({ status }) => status === 204)).toHaveLength(1)
  })

  test('tells browsers to stay with https for a year, if PUBLIC_URL is https', async () => {
    for (const { headers } of await answers(secure.url))
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  })
})

test('TRACE and CONNECT are not served, and nothing of the request is repeated', async () => {
  for (const line of ['TRACE /', 'TRACE /api/v1/me', 'TRACE /nope', 'CONNECT /health']) {
    const { status, head, body } = await rawHttp(relay.url, requestOf(line, { 'x-secret': 'of-the-request' }))
    expect([line, status >= 400 && status < 500]).toEqual([line, true])
    expect(head + body).not.toContain('of-the-request')
  }
})

describe('bodies', () => {
  const url = () => `${relay.url}/api/v1/auth/challenge`

  test('may have any content type; a missing or blank body counts as an empty object', async () => {
    const body = JSON.stringify({ user_uuid: crypto.randomUUID() })
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'x/y; charset=latin1',
      '',
    ]) {
      expect((await call(url(), { method: 'POST', body, headers: { 'content-type': type } })).status).toBe(
        200,
      )
    }
    for (const blank of [undefined, '', ' \n\t', '{}']) {
      const answer = await call(url(), { method: 'POST', ...(blank === undefined ? {} : { body: blank }) })
      expectInvalidField(answer, 'user_uuid', /missing/)
    }
  })

  test('that are not JSON objects are INVALID_JSON', async () => {
    const bodies = [
      '{',
      '[]',
      '[{}]',
      'null',
      '7',
      '"x"',
      'true',
      '{"a":1}}',
      "{'a':1}",
      'undefined',
      '\u0000',
      '['.repeat(30_000),
    ]
    for (const body of bodies) expectProblem(await call(url(), { method: 'POST', body }), 400, 'INVALID_JSON')
    for (const body of [
      Buffer.of(0xff, 0xfe),
      Buffer.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d),
      Buffer.of(0xc3),
    ]) {
      expectProblem(await call(url(), { method: 'POST', body }), 400, 'INVALID_JSON')
    }
  })

  test('with __proto__ or similar fields are read as if those fields were unknown', async () => {
    const uuid = crypto.randomUUID()
    const traps = `{"__proto__":{"user_uuid":"${uuid}"},"constructor":{"prototype":{"x":1}},"toString":1}`
    expectInvalidField(await call(url(), { method: 'POST', body: traps }), 'user_uuid', /missing/)
    const twice = `{"user_uuid":7,"user_uuid":"${uuid}"}`
    expect((await call(url(), { method: 'POST', body: twice })).status).toBe(200)
    const deep = `{"user_uuid":"${uuid}","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expect([200, 400]).toContain((await call(url(), { method: 'POST', body: deep })).status)
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('that are too large answer 413, whether the length is announced or found while reading; the relay does not wait for the rest', async () => {
    expectProblem(await call(url(), { method: 'POST', body: ' '.repeat(65_537) }), 413, 'PAYLOAD_TOO_LARGE')
    expectInvalidField(await call(url(), { method: 'POST', body: ' '.repeat(65_536) }), 'user_uuid')
    for (const length of [65_537, 40_000_000, 999_999_999_999]) {
      const headers = { 'content-length': String(length) }
      const announced = await rawHttp(relay.url, `${requestOf('POST /api/v1/auth/challenge', headers)}{`)
      expect([announced.status, JSON.parse(announced.body).error]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    }
    const chunk = `1000\r\n${' '.repeat(4096)}\r\n`
    const chunked =
      requestOf('POST /api/v1/auth/challenge', { 'transfer-encoding': 'chunked' }) + chunk.repeat(17)
    const found = await rawHttp(relay.url, chunked)
    expect([found.status, JSON.parse(found.body).error]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })
})

describe('cross-origin calls', () => {
  const narrow = useRelay({ CORS_ORIGINS: 'https://app.example,https://other.example' })

  test('are allowed from every origin by default, for errors too, and never with credentials', async () => {
    for (const path of ['/health', '/api/v1/me', '/nope']) {
      const { headers } = await call(relay.url + path, { headers: { origin: 'https://any.example' } })
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test('get an answer to a browser’s preflight request on every path', async () => {
    for (const path of ['/api/v1/register', '/api/v1/friends/7/accept', '/api/v1/me', '/ws']) {
      const answer = await call(relay.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'authorization',
        },
      })
      expect([answer.status, answer.text]).toEqual([204, ''])
      const allowed = answer.headers.get('access-control-allow-methods')?.split(', ').toSorted()
      expect(allowed).toEqual(['DELETE', 'GET', 'PATCH', 'POST', 'PUT'])
      expect(answer.headers.get('access-control-allow-headers')).toBe(
        'authorization, content-type, range, if-range, if-none-match',
      )
      expect(Number(answer.headers.get('access-control-max-age'))).toBeGreaterThan(0)
    }
  })

  test('can be limited to the operator’s origins', async () => {
    for (const [origin, allowed] of [
      ['https://app.example', 'https://app.example'],
      ['https://other.example', 'https://other.example'],
      ['https://evil.example', null],
      ['https://app.example.evil.example', null],
      ['null', null],
    ] as const) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await call(`${narrow.url}/health`, { method, headers: { origin } })
        expect(headers.get('access-control-allow-origin')).toBe(allowed)
        expect(headers.get('vary')).toBe('Origin')
      }
    }
  })
})

test('the documents, health and readiness are served outside /api/v1', async () => {
  const health = await call(`${relay.url}/health`)
  expect(health.body).toEqual({ status: 'ok', version: expect.any(String), registration: 'open' })
  const ready = await call(`${relay.url}/ready`)
  expect([ready.status, ready.body.status, ready.body.storage]).toEqual([200, 'ready', 'ok'])
  expect((await call(`${relay.url}/openapi.json`)).body.openapi).toBe('3.1.0')
  expect((await call(`${relay.url}/asyncapi.json`)).body.asyncapi).toBe('3.0.0')
  expect((await call(`${relay.url}/health`, { method: 'HEAD' })).text).toBe('')
})

describe('text that a database could fail on', () => {
  onEveryEngine((engine) => {
    test('NUL characters, lone surrogates and quotes in any text field are refused or stored, and never cause an internal error', async () => {
      const account = await wireAccount(engine.url)
      const texts = [
        '\u0000',
        'a\u0000b',
        '\ud800',
        '\udc00x',
        "'; DROP TABLE accounts; --",
        '"',
        '\\',
        '%',
        '\u202e',
        '𝒜',
      ]
      for (const text of texts) {
        const fresh = new WireAccount(engine.url)
        const body = await challengeNotSolvedBy(text, fresh)
        const keys = { ed25519_public_key: fresh.ed25519, x25519_public_key: fresh.x25519, nickname: 'n' }
        const work = {
          pow_nonce: solve(body.challenge_string, body.difficulty),
          pow_challenge: body.challenge_string,
        }
        const answers = [
          await post(fresh.api('/register'), { ...keys, pow_nonce: work.pow_nonce, pow_challenge: text }),
          await post(fresh.api('/register'), { ...keys, ...work, pow_nonce: text }),
          await post(fresh.api('/register'), { ...keys, ...work, ed25519_public_key: text }),
          await post(fresh.api('/auth/challenge'), { user_uuid: text }),
          await post(fresh.api('/auth/verify'), {
            user_uuid: account.uuid,
            challenge: text,
            signature: account.sign('x'),
          }),
          await account.post('/friends/request', { to_alias_id: text }),
          await call(account.api('/me'), {
            headers: { authorization: `Bearer ${encodeURIComponent(text.toWellFormed())}.a.b` },
          }),
          await account.get(`/users/${encodeURIComponent(text.toWellFormed())}`),
          await call(
            `${engine.url}/ws?user_uuid=${account.uuid}&ticket=${encodeURIComponent(text.toWellFormed())}`,
          ),
        ]
        expect(answers.map(({ status }) => status).filter((status) => status >= 500 || status < 400)).toEqual(
          [],
        )
        const named = await call(account.api('/me'), {
          method: 'PATCH',
          headers: account.authorized(),
          body: JSON.stringify({ nickname: text }),
        })
        // The relay takes these characters out, and refuses a name of which nothing is left.
        const kept = text.replaceAll(/[\0\u202e]/g, '')
        expect(named.status).toBe(kept === '' || !kept.isWellFormed() ? 400 : 200)
        if (named.status === 200) expect(named.body.nickname).toBe(kept)
      }
    })
  })
})

// The difficulty is low, so one nonce in sixteen solves a challenge by chance.
async function challengeNotSolvedBy(nonce: string, account: WireAccount): Promise<Answer['body']> {
  for (;;) {
    const { body } = await call(account.api('/pow/challenge'), { method: 'POST' })
    if (!isSolution(body.challenge_string, nonce, body.difficulty)) return body
  }
}
