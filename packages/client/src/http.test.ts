// Which calls are made again, after what wait, and what an answer has to be.
import { expect, test } from 'bun:test'
import { accountEndpoints, channelEndpoints, errors, friendEndpoints, isErrorCode } from '@sotto/protocol'
import { settle, TestClock } from '../test/fakes.ts'
import { ClientError } from './client-error.ts'
import { Http } from './http.ts'
import { decideOptions } from './options.ts'
import { MemoryStore } from './stores/memory-store.ts'

const CHANNEL = `ch_${'a'.repeat(22)}`

interface Request {
  readonly url: string
  readonly init: RequestInit
}

/** An Http that gets these answers, one after another, the last for good. */
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

/** Runs a call to its end, moving time on for as long as it waits. */
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

test('a call goes where the table of endpoints says, with token and body', async () => {
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

test('a query goes behind the path, escaped, without what was not given', async () => {
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

test('what is done twice when asked twice is asked once, unless the relay says that it was not done', async () => {
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

test('a broken network and a failing relay are tried again, a few times', async () => {
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

test('what the registry says can never help is not tried again, nor is a full list', async () => {
  for (const answer of [problem(404, 'NOT_FOUND'), problem(409, 'TOO_MANY_FRIENDS')]) {
    const { http, clock, requests } = bench(answer)
    expect((await outcome(clock, http.call(friendEndpoints.listFriends, {}))).error).toMatchObject({
      code: 'REFUSED',
    })
    expect(requests.length).toBe(1)
  }
})

test('a short wait is waited out, a long one is told', async () => {
  const short = bench(problem(429, 'RATE_LIMITED', { 'retry-after': '3' }), friends)
  expect(await outcome(short.clock, short.http.call(friendEndpoints.listFriends, {}))).toEqual({
    value: [],
    waitedMs: 3000,
  })
  const long = bench(problem(429, 'RATE_LIMITED', { 'retry-after': '60' }))
  const { error } = await outcome(long.clock, long.http.call(friendEndpoints.listFriends, {}))
  expect(error).toMatchObject({ refusal: 'RATE_LIMITED', retryAfterMs: 60_000 })
})

test('a dead token is replaced once', async () => {
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

test('an answer that takes longer than 15 seconds is given up', async () => {
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

test('an answer without end is cut off', async () => {
  const { http } = bench(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
        }),
      ),
  )
  await expect(http.call(friendEndpoints.listFriends, {})).rejects.toMatchObject({ code: 'BAD_REPLY' })
})

test('an address that is none is refused before anything is called', () => {
  for (const relayUrl of ['', 'localhost:8080', 'ftp://x', 'http://user:word@host', 'javascript:alert(1)']) {
    expect(() => decideOptions({ relayUrl, store: new MemoryStore(), WebSocket })).toThrow('looks like')
  }
})

test('every code of the registry is tried again, or not, by the word it has there', async () => {
  for (const code of Object.keys(errors)) {
    if (!isErrorCode(code)) throw new Error(code)
    const { status, retry } = errors[code]
    const { http, clock, requests, dropped } = bench(problem(status, code, { 'retry-after': '1' }), friends)
    const { value, error, waitedMs } = await outcome(clock, http.call(friendEndpoints.listFriends, {}))
    // What stays as it is while a caller waits is told at once, with the registry's word for the caller to go by.
    const isForCaller = retry === 'never' || (retry === 'later' && status < 500)
    expect([code, requests.length]).toEqual([code, isForCaller ? 1 : 2])
    if (isForCaller) expect(error).toMatchObject({ code: 'REFUSED', refusal: code, retry })
    else expect([code, value]).toEqual([code, []])
    expect([code, dropped.length]).toEqual([code, retry === 'login' ? 1 : 0])
    if (retry === 'after') expect(waitedMs).toBe(1000)
  }
})

test('a signal ends a call: before it, during it, and in the wait for the next attempt', async () => {
  const early = bench(friends)
  const call = early.http.call(friendEndpoints.listFriends, {}, { signal: AbortSignal.abort('enough') })
  await expect(call).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' })
  expect(early.requests.length).toBe(0)

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
  await expect(during).rejects.toMatchObject({ code: 'ABORTED' })

  const again = new AbortController()
  const waiting = bench(broken)
  const wait = waiting.http.call(friendEndpoints.listFriends, {}, { signal: again.signal })
  await settle()
  again.abort()
  await expect(wait).rejects.toBeInstanceOf(ClientError)
  expect(waiting.requests.length).toBe(1)
  expect(waiting.clock.waits).toEqual([])
})
