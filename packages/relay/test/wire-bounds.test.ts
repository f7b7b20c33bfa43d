// What one account can store or receive, seen from outside: new message ids, posts, friend requests.
import { describe, expect, test } from 'bun:test'
import { expectInvalidField, expectProblem } from './expect.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { call, message, WireAccount, wireAccount, wireFriends } from './wire.ts'

const DAY_MS = 86_400_000

function ask(from: WireAccount, to: WireAccount) {
  return from.post('/friends/request', { to_alias_id: to.alias })
}

describe('new message ids', () => {
  const relay = useRelay({ LIMIT_SENT_IDS_PER_DAY: '100' })

  test('are refused beyond those of a day, with the time to wait; repeats are answered', async () => {
    // A day has just begun, so that it does not end before the test.
    await relay.process.letPass(DAY_MS - ((await relay.process.letPass(0)) % DAY_MS))
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    for (let n = 1; n <= 101; n++) socket.send(message(bob.alias, conv, 'x', `m${n}`))
    await socket.take(100, 'ack')
    const refused = await socket.next()
    expect(refused).toMatchObject({ type: 'error', error: 'RATE_LIMITED', id: 'm101', conv_id: conv })
    expect(refused.retry_after_ms > 0 && refused.retry_after_ms <= 86_400_000).toBe(true)
    socket.send(message(bob.alias, conv, 'x', 'm7'))
    expect(await socket.next()).toMatchObject({ type: 'ack', id: 'm7', seq: 7 })
    expect(await relay.process.kill('SIGTERM')).toBe(0)
    await relay.process.start()
    const again = await alice.online()
    again.socket.send(message(bob.alias, conv, 'x', 'm101'))
    expect(await again.socket.next()).toMatchObject({ type: 'error', error: 'RATE_LIMITED', id: 'm101' })
  })
})

describe('channels full of bytes', () => {
  const relay = useRelay({ LIMIT_CHANNEL_BYTES: String(1024 * 1024) })

  test('take no more posts of their owner, and no subscriber is told of a refused one', async () => {
    const [owner, reader] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const ids: string[] = []
    for (const name of ['a', 'b']) ids.push((await owner.post('/channels', { name })).body.channel_id)
    const content = 'x'.repeat(65_536)
    for (let n = 0; n < 16; n++)
      expect((await owner.post(`/channels/${ids[n % 2]}/posts`, { content })).status).toBe(200)
    await reader.bare('POST', `/channels/${ids[0]}/subscribe`)
    const { socket } = await reader.online()
    for (const id of ids)
      expectProblem(await owner.post(`/channels/${id}/posts`, { content: 'x' }), 403, 'STORAGE_FULL')
    const [newest] = (await owner.get(`/channels/${ids[1]}/posts?limit=1`)).body
    expect(newest.content).toBe(content)
    expect(await socket.untilPong()).toEqual([])
    expect((await owner.bare('DELETE', `/channels/${ids[1]}/posts/${newest.id}`)).status).toBe(200)
    expect((await owner.post(`/channels/${ids[0]}/posts`, { content })).status).toBe(200)
    expect(await socket.next('channel_post')).toMatchObject({ content })
  })
})

describe('a page of posts', () => {
  const relay = useRelay()

  test('has at most 100, however many were asked for', async () => {
    const owner = await wireAccount(relay.url)
    const { body } = await owner.post('/channels', { name: 'long' })
    for (let n = 1; n <= 101; n++) await owner.post(`/channels/${body.channel_id}/posts`, { content: `${n}` })
    for (const limit of ['100', '101', '500', '9'.repeat(400)]) {
      const page = await owner.get(`/channels/${body.channel_id}/posts?limit=${limit}`)
      expect(page.body).toHaveLength(100)
      expect([page.body[0].content, page.body[99].content]).toEqual(['101', '2'])
    }
  })
})

describe('texts of people', () => {
  const relay = useRelay({
    LIMIT_NICKNAME_CHARACTERS: '10',
    LIMIT_CHANNEL_NAME_CHARACTERS: '8',
    LIMIT_CHANNEL_DESCRIPTION_CHARACTERS: '20',
    LIMIT_POST_BYTES: '256',
  })

  test('are refused beyond the relay’s settings, with the field and the rule', async () => {
    const register = (nickname: string) => new WireAccount(relay.url).register(nickname)
    expectInvalidField(await register('x'.repeat(11)), 'nickname', 'must be at most 10 characters')
    // Characters count, not units of a string, and only those that are kept.
    expect((await register(`${'𝒜'.repeat(10)}\u202e`)).status).toBe(201)

    const owner = await wireAccount(relay.url)
    const patch = (path: string, body: object) =>
      call(owner.api(path), { method: 'PATCH', headers: owner.authorized(), body: JSON.stringify(body) })
    expectInvalidField(await patch('/me', { nickname: 'x'.repeat(11) }), 'nickname', /10 characters$/)
    expect((await patch('/me', { nickname: 'x'.repeat(10) })).status).toBe(200)

    const long = { name: 'x'.repeat(9), description: 'x'.repeat(21) }
    const fits = { name: '𝒜'.repeat(8), description: '𝒜'.repeat(20) }
    const { channel_id: id } = (await owner.post('/channels', fits)).body
    for (const [field, rule] of [
      ['name', 'must be at most 8 characters'],
      ['description', 'must be at most 20 characters'],
    ] as const) {
      const wrong = { ...fits, [field]: long[field] }
      expectInvalidField(await owner.post('/channels', wrong), field, rule)
      expectInvalidField(await patch(`/channels/${id}`, wrong), field, rule)
    }
    expect((await patch(`/channels/${id}`, fits)).body).toMatchObject(fits)
    const post = (content: string) => owner.post(`/channels/${id}/posts`, { content })
    expectInvalidField(await post('é'.repeat(129)), 'content', 'must be at most 256 bytes of UTF-8')
    expect((await post('é'.repeat(128))).status).toBe(200)
  })
})

describe('an account that many have asked', () => {
  onEveryEngine(
    (relay) => {
      test('receives no more requests until it answers one, and reads them in pages or at once', async () => {
        const bob = await wireAccount(relay.url)
        const strangers = [await wireAccount(relay.url), await wireAccount(relay.url)]
        for (const stranger of strangers) expect((await ask(stranger, bob)).status).toBe(200)
        const late = await wireAccount(relay.url)
        const { socket } = await bob.online()
        expectProblem(await ask(late, bob), 409, 'REQUESTS_FULL')
        expect(await socket.untilPong()).toEqual([])
        expect((await late.get('/friends')).body).toEqual([])

        const { body: whole } = await bob.get('/friends')
        expect(whole.map(({ alias_id }: { alias_id: string }) => alias_id)).toEqual(
          strangers.map(({ alias }) => alias),
        )
        const { body: first } = await bob.get('/friends?limit=1')
        const { body: second } = await bob.get(`/friends?limit=1&after=${first[0].friendship_id}`)
        expect([...first, ...second]).toEqual(whole)
        expect((await bob.get(`/friends?after=${second[0].friendship_id}`)).body).toEqual([])
        expect((await bob.get('/friends?after=0')).body).toEqual(whole)

        await bob.bare('POST', `/friends/${first[0].friendship_id}/reject`)
        expect((await ask(late, bob)).body.status).toBe('pending')
        expect(await socket.next()).toMatchObject({ type: 'friend_request', from: late.alias })
      })

      test('gets an error that names the field if a page is not one', async () => {
        const alice = await wireAccount(relay.url)
        for (const limit of ['0', '501', '-1', '1.5', 'x', ''])
          expectInvalidField(await alice.get(`/friends?limit=${limit}`), 'limit')
        for (const after of ['-1', '01', 'x', '', '99999999999999999'])
          expectInvalidField(await alice.get(`/friends?after=${after}`), 'after')
      })
    },
    { LIMIT_FRIEND_REQUESTS: '2' },
  )
})
