// HTTP calls: which calls the client retries, how long it waits before, and which answers it accepts.
import { expect, test } from 'bun:test'
import { accountEndpoints, channelEndpoints, errors, friendEndpoints, isErrorCode } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { settle, TestClock } from '../../test/fakes.ts'
import { ClientError } from '../client-error.ts'
import { decideOptions } from '../platform/options.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import { Http } from './http.ts'

const CHANNEL = `ch_${'a'.repeat(22)}`

interface Request {
  readonly url: string
  readonly init: RequestInit
}

/** An Http that gets these answers one after another, and the last one for every later request. */
function bench(...answers: (() => Response | Promise<Response>)[]) {
  const clock = new TestClock()
  const requests: Request[] = []
  const dropped: string[] = []
  let token = 1
  const http = new Http(
    decideOptions({
      relayUrl: 'http://localhost:8080',
      store: new MemoryStore(),
      clock,
      random: (length) => new Uint8Array(length).fill(255),
      WebSocket,
      fetch: async (url, init) => {
        requests.push({ url, init })
        const answer = answers.length > 1 ? answers.shift() : answers[0]
        if (!answer) throw new Error('no answer')
        return answer()
      },
    }),
  )
  http.useTokens({
    getToken: async () => `token${token}`,
    dropToken: (dead) => {
      dropped.push(dead)
      token += 1
    },
  })
  return { http, clock, requests, dropped }
}

/** Runs a call to its end, and advances the clock while it waits. */
async function outcome<T>(
  clock: TestClock,
  call: Promise<T>,
): Promise<{ value?: T; error?: unknown; waitedMs: number }> {
  const start = clock.now()
  let result: { value?: T; error?: unknown } | undefined
  call.then(
    (value) => {
      result = { value }
    },
    (error: unknown) => {
      result = { error }
    },
  )
  for (let turn = 0; turn < 100 && !result; turn += 1) {
    await Bun.sleep(0)
    await settle()
    if (!result) await clock.advance(clock.waits[0] ?? 0)
  }
  return { ...result, waitedMs: clock.now() - start }
}

const problem =
  (status: number, error: string, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ type: 'about:blank', title: error, status, error }, { status, headers })
const friends = () => Response.json([])
const broken = () => Promise.reject(new TypeError('connection refused'))

test('an answer that says nothing may be an empty object, as today, or empty, as of older relays', async () => {
  for (const answer of [() => Response.json({}), () => new Response(null, { status: 204 })]) {
    const { http } = bench(answer)
    expect(await http.call(friendEndpoints.removeFriend, { params: { id: 7 } })).toBeUndefined()
    expect(await http.call(channelEndpoints.subscribe, { params: { id: CHANNEL } })).toBeUndefined()
  }
})

test('a call is sent to the path in the table of endpoints, with token and body', async () => {
  const { http, requests } = bench(() => Response.json({ friendship_id: 7, status: 'pending' }))
  await http.call(friendEndpoints.requestFriend, { body: { to_alias_id: 'bob' } })
  const [request] = requests
  expect(request?.url).toBe('http://localhost:8080/api/v1/friends/request')
  expect(request?.init).toMatchObject({
    method: 'POST',
    body: '{"to_alias_id":"bob"}',
    redirect: 'error',
    credentials: 'omit',
  })
  expect(new Headers(request?.init.headers).get('authorization')).toBe('Bearer token1')
})

test('parameters are escaped', async () => {
  const { http, requests } = bench(problem(404, 'NOT_FOUND'))
  await http.call(accountEndpoints.lookUpUser, { params: { alias_id: '../me?x=1' } }).catch(() => {})
  expect(requests[0]?.url).toBe('http://localhost:8080/api/v1/users/..%2Fme%3Fx%3D1')
})

test('the query is appended to the path, escaped and without undefined values', async () => {
  const { http, requests } = bench(() => Response.json([]))
  await http.call(channelEndpoints.searchChannels, { query: { q: 'tea & more?' } })
  await http.call(channelEndpoints.listPosts, {
    params: { id: CHANNEL },
    query: { limit: 10, before: undefined },
  })
  await http.call(channelEndpoints.myChannels, {})
  expect(requests.map(({ url }) => url.replace('http://localhost:8080/api/v1', ''))).toEqual([
    '/channels/search?q=tea+%26+more%3F',
    `/channels/${CHANNEL}/posts?limit=10`,
    '/channels/mine',
  ])
})

test('a call that is not idempotent is repeated only if the relay says that it did not carry the call out', async () => {
  const made = (): Response => Response.json({ channel_id: CHANNEL })
  const create = ({ http }: ReturnType<typeof bench>) =>
    http.call(channelEndpoints.createChannel, { body: { name: 'Tea' } })
  for (const answer of [broken, () => new Response('<html>', { status: 502 }), problem(500, 'INTERNAL')]) {
    const lost = bench(answer, made)
    expect((await outcome(lost.clock, create(lost))).error).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(lost.requests.length).toBe(1)
  }
  for (const answer of [
    problem(429, 'RATE_LIMITED', { 'retry-after': '1' }),
    problem(401, 'TOKEN_DEAD'),
    problem(503, 'SHUTTING_DOWN'),
  ]) {
    const refused = bench(answer, made)
    expect((await outcome(refused.clock, create(refused))).value).toMatchObject({ channel_id: CHANNEL })
    expect(refused.requests.length).toBe(2)
  }
})

test('after a network failure or a failure of the relay, a call is retried up to three times', async () => {
  const once = bench(
    broken,
    problem(503, 'SHUTTING_DOWN'),
    () => new Response('<html>', { status: 502 }),
    friends,
  )
  expect(await outcome(once.clock, once.http.call(friendEndpoints.listFriends, {}))).toMatchObject({
    value: [],
  })
  expect(once.requests.length).toBe(4)
  const always = bench(broken)
  expect(
    (await outcome(always.clock, always.http.call(friendEndpoints.listFriends, {}))).error,
  ).toMatchObject({
    code: 'NETWORK',
  })
  expect(always.requests.length).toBe(4)
})

test('a call is not retried if the registry says that a retry never helps, or if a list is full', async () => {
  for (const answer of [problem(404, 'NOT_FOUND'), problem(409, 'TOO_MANY_FRIENDS')]) {
    const { http, clock, requests } = bench(answer)
    expect((await outcome(clock, http.call(friendEndpoints.listFriends, {}))).error).toMatchObject({
      code: 'REFUSED',
    })
    expect(requests.length).toBe(1)
  }
})

test('a call waits if the relay asks for a short wait, and fails if the relay asks for a long one', async () => {
  const short = bench(problem(429, 'RATE_LIMITED', { 'retry-after': '3' }), friends)
  expect(await outcome(short.clock, short.http.call(friendEndpoints.listFriends, {}))).toEqual({
    value: [],
    waitedMs: 3000,
  })
  const long = bench(problem(429, 'RATE_LIMITED', { 'retry-after': '60' }))
  const { error } = await outcome(long.clock, long.http.call(friendEndpoints.listFriends, {}))
  expect(error).toMatchObject({ refusal: 'RATE_LIMITED', retryAfterMs: 60_000 })
})

test('a dead token is replaced once, and a second dead token fails the call', async () => {
  const one = bench(problem(401, 'TOKEN_DEAD'), friends)
  expect(await outcome(one.clock, one.http.call(friendEndpoints.listFriends, {}))).toMatchObject({
    value: [],
  })
  expect(one.dropped).toEqual(['token1'])
  const all = bench(problem(401, 'TOKEN_DEAD'))
  expect((await outcome(all.clock, all.http.call(friendEndpoints.listFriends, {}))).error).toMatchObject({
    refusal: 'TOKEN_DEAD',
  })
  expect(all.requests.length).toBe(2)
})

test('a call fails if the answer takes longer than 15 seconds', async () => {
  const clock = new TestClock()
  const hanging = decideOptions({
    relayUrl: 'http://localhost:8080',
    store: new MemoryStore(),
    clock,
    WebSocket,
    fetch: (_, init) =>
      new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
  })
  const { error, waitedMs } = await outcome(
    clock,
    new Http(hanging).call(accountEndpoints.powChallenge, {}, { retry: 'none' }),
  )
  expect(error).toMatchObject({ code: 'NETWORK' })
  expect(waitedMs).toBe(15_000)
})

test('a call with an endless answer fails', async () => {
  const { http } = bench(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
        }),
      ),
  )
  expect(await failureOf(http.call(friendEndpoints.listFriends, {}))).toMatchObject({ code: 'BAD_REPLY' })
})

test('an invalid relay address is refused before any call', () => {
  for (const relayUrl of ['', 'localhost:8080', 'ftp://x', 'http://user:word@host', 'javascript:alert(1)']) {
    expect(() => decideOptions({ relayUrl, store: new MemoryStore(), WebSocket })).toThrow('looks like')
  }
})

test('for every error code, the registry decides whether a call is retried', async () => {
  for (const code of Object.keys(errors)) {
    if (!isErrorCode(code)) throw new Error(code)
    const { status, retry } = errors[code]
    const { http, clock, requests, dropped } = bench(problem(status, code, { 'retry-after': '1' }), friends)
    const { value, error, waitedMs } = await outcome(clock, http.call(friendEndpoints.listFriends, {}))
    // If a short wait cannot change the refusal, the call fails at once and gives the caller the retry rule.
    const isForCaller = retry === 'never' || (retry === 'later' && status < 500)
    expect([code, requests.length]).toEqual([code, isForCaller ? 1 : 2])
    if (isForCaller) expect(error).toMatchObject({ code: 'REFUSED', refusal: code, retry })
    else expect([code, value]).toEqual([code, []])
    expect([code, dropped.length]).toEqual([code, retry === 'login' ? 1 : 0])
    if (retry === 'after') expect(waitedMs).toBe(1000)
  }
})

test('a signal aborts a call before the request, in the login before it, during it, and in the wait for the next attempt', async () => {
  const early = bench(friends)
  const call = early.http.call(friendEndpoints.listFriends, {}, { signal: AbortSignal.abort('enough') })
  expect(await failureOf(call)).toMatchObject({ code: 'ABORTED', cause: 'enough' })
  expect(early.requests.length).toBe(0)

  const atLogin = new AbortController()
  const loggingIn = bench(friends)
  loggingIn.http.useTokens({ getToken: () => new Promise(() => {}), dropToken: () => {} })
  const login = loggingIn.http.call(friendEndpoints.listFriends, {}, { signal: atLogin.signal })
  atLogin.abort('enough')
  expect(await failureOf(login)).toMatchObject({ code: 'ABORTED', cause: 'enough' })
  expect(loggingIn.requests.length).toBe(0)

  const abort = new AbortController()
  const hanging = bench(
    () =>
      new Promise<Response>((_, reject) =>
        hanging.requests[0]?.init.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
      ),
  )
  const during = hanging.http.call(friendEndpoints.listFriends, {}, { signal: abort.signal })
  await settle()
  abort.abort()
  expect(await failureOf(during)).toMatchObject({ code: 'ABORTED' })

  const again = new AbortController()
  const waiting = bench(broken)
  const wait = waiting.http.call(friendEndpoints.listFriends, {}, { signal: again.signal })
  await settle()
  again.abort()
  expect(await failureOf(wait)).toBeInstanceOf(ClientError)
  expect(waiting.requests.length).toBe(1)
  expect(waiting.clock.waits).toEqual([])
})
