// Channels, seen from outside: seats, permissions, search, posts and their pages, and who receives a post.
import { describe, expect, test } from 'bun:test'
import { expectFields, expectInvalidField, expectProblem, FORMS } from './expect.ts'
import { onEveryEngine } from './use-relay.ts'
import { type WireAccount, wireAccount } from './wire.ts'

const CHANNEL_ID = /^ch_[\w-]{22}$/
const POST_ID = /^p_[0-9a-f]{12}[\w-]{16}$/
const UNKNOWN_CHANNEL = `ch_${'A'.repeat(22)}`

onEveryEngine((relay) => {
  const newAccount = (name?: string): Promise<WireAccount> => wireAccount(relay.url, name)
  const make = async (owner: WireAccount, name = 'News', more: object = {}): Promise<string> => {
    const made = await owner.post('/channels', { name, ...more })
    expect(made.status).toBe(200)
    return made.body.channel_id
  }
  const postIn = async (owner: WireAccount, channel: string, content: string, type?: string) => {
    const made = await owner.post(`/channels/${channel}/posts`, { content, ...(type ? { type } : {}) })
    expect(made.status).toBe(200)
    return made.body.post_id as string
  }
  const patch = (account: WireAccount, path: string, body: object) =>
    fetch(account.api(path), {
      method: 'PATCH',
      headers: { ...account.authorized(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(async (response) => ({ status: response.status, body: await response.json() }))

  describe('a channel', () => {
    test('takes one of its owner’s three seats; a fourth channel answers QUOTA_EXCEEDED', async () => {
      const owner = await newAccount()
      const ids = [await make(owner, 'one'), await make(owner, 'two'), await make(owner, 'three')]
      for (const id of ids) expect(id).toMatch(CHANNEL_ID)
      expectProblem(await owner.post('/channels', { name: 'four' }), 403, 'QUOTA_EXCEEDED')
      expect((await owner.bare('DELETE', `/channels/${ids[1]}`)).status).toBe(200)
      await make(owner, 'four')
    })

    test('is not made beyond the number of seats, even when many are requested at once', async () => {
      const owner = await newAccount()
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => owner.post('/channels', { name: `n${n}` })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
      expect((await owner.get('/channels/mine')).body).toHaveLength(3)
    })

    test('shows the account’s role in it', async () => {
      const [owner, other] = [await newAccount(), await newAccount()]
      const id = await make(owner, 'Role', { description: 'who am I' })
      const shared = { id, name: 'Role', description: 'who am I', for_sale: false }
      expect((await owner.get(`/channels/${id}`)).body).toEqual({
        ...shared,
        role: 'owner',
        is_subscribed: false,
      })
      expect((await other.get(`/channels/${id}`)).body).toEqual({ ...shared, is_subscribed: false })
      await other.bare('POST', `/channels/${id}/subscribe`)
      const subscribed = { ...shared, role: 'subscriber', is_subscribed: true }
      expect((await other.get(`/channels/${id}`)).body).toEqual(subscribed)
      expect((await other.get('/channels/mine')).body).toEqual([subscribed])
    })

    test('can be edited, deleted and posted to only by its owner', async () => {
      const [owner, other] = [await newAccount(), await newAccount()]
      const id = await make(owner, 'Mine')
      const post = await postIn(owner, id, 'hello')
      expect(await patch(other, `/channels/${id}`, { name: 'Yours' })).toMatchObject({
        status: 403,
        body: { error: 'NOT_CHANNEL_OWNER' },
      })
      for (const answer of [
        await other.bare('DELETE', `/channels/${id}`),
        await other.post(`/channels/${id}/posts`, { content: 'x' }),
        await other.bare('DELETE', `/channels/${id}/posts/${post}`),
        await other.post('/vanity/list-channel', { channel_id: id, price_usdt: 5 }),
        await other.bare('DELETE', `/channels/${id}/listing`),
      ]) {
        expectProblem(answer, 403, 'NOT_CHANNEL_OWNER')
      }
      const edited = await patch(owner, `/channels/${id}`, { description: 'new', is_public: false })
      expect(edited).toMatchObject({ status: 200, body: { name: 'Mine', description: 'new' } })
      expect((await owner.bare('DELETE', `/channels/${id}`)).status).toBe(200)
      expectProblem(await owner.get(`/channels/${id}`), 404, 'NOT_FOUND')
      expectProblem(await owner.get(`/channels/${id}/posts`), 404, 'NOT_FOUND')
    })

    test('that does not exist answers 404 to every request', async () => {
      const account = await newAccount()
      for (const id of [UNKNOWN_CHANNEL, 'ch_', 'nonsense', '%00']) {
        for (const [method, path] of [
          ['GET', `/channels/${id}`],
          ['DELETE', `/channels/${id}`],
          ['POST', `/channels/${id}/subscribe`],
          ['DELETE', `/channels/${id}/subscribe`],
          ['GET', `/channels/${id}/posts`],
          ['DELETE', `/channels/${id}/listing`],
        ] as const) {
          expectProblem(await account.bare(method, path), 404, 'NOT_FOUND')
        }
      }
      const answer = await account.post('/vanity/list-channel', {
        channel_id: UNKNOWN_CHANNEL,
        price_usdt: 1,
      })
      expectProblem(answer, 404, 'NOT_FOUND')
    })

    test('can be listed for sale at a whole price, shows the price while it is listed, and can be unlisted', async () => {
      const [owner, other] = [await newAccount(), await newAccount()]
      const id = await make(owner)
      for (const price of [0, -1, 1.5, '5', null, 1e12, undefined]) {
        const answer = await owner.post('/vanity/list-channel', { channel_id: id, price_usdt: price })
        expectInvalidField(answer, 'price_usdt')
      }
      const listed = await owner.post('/vanity/list-channel', { channel_id: id, price_usdt: 40 })
      expect([listed.status, listed.body]).toEqual([200, {}])
      expect((await other.get(`/channels/${id}`)).body).toMatchObject({ for_sale: true, sale_price: 40 })
      await owner.post('/vanity/list-channel', { channel_id: id, price_usdt: 41 })
      expect((await other.get(`/channels/${id}`)).body.sale_price).toBe(41)
      expect((await owner.bare('DELETE', `/channels/${id}/listing`)).status).toBe(200)
      const { body } = await other.get(`/channels/${id}`)
      expect(body.for_sale).toBe(false)
      expect(body).not.toHaveProperty('sale_price')
    })

    test('with an invalid name or description is refused and not made', async () => {
      const account = await newAccount()
      for (const name of ['', ' ', '\u200b', 'x'.repeat(65), 7, null, '\ud800']) {
        expectInvalidField(await account.post('/channels', { name }), 'name')
      }
      for (const description of ['x'.repeat(1025), '\ud800', 3]) {
        expectInvalidField(await account.post('/channels', { name: 'n', description }), 'description')
      }
      expectInvalidField(await account.post('/channels', { name: 'n', is_public: 'yes' }), 'is_public')
      expect((await account.get('/channels/mine')).body).toEqual([])
      await make(account, '😀'.repeat(64), { description: 'two\nlines' })
    })

    test('loses control, bidirectional and invisible characters of its name and description', async () => {
      const account = await newAccount()
      const id = await make(account, '\u202eBintu\u0000ro\u200bng\n', {
        description: 'two\n\u2066lines\u0007',
      })
      const shown = { name: 'Binturong', description: 'two\nlines' }
      expect((await account.get(`/channels/${id}`)).body).toMatchObject(shown)
      expect((await account.get('/channels/search?q=binturong')).body).toMatchObject([shown])
      const changed = { name: '\u2067Tea \u200f👩‍💻', description: '\ufeffgreen' }
      expect((await patch(account, `/channels/${id}`, changed)).body).toMatchObject({
        name: 'Tea 👩‍💻',
        description: 'green',
      })
    })
  })

  describe('search', () => {
    const search = async (account: WireAccount, q: string): Promise<string[]> =>
      (await account.get(`/channels/search?q=${encodeURIComponent(q)}`)).body.map(
        ({ name }: { name: string }) => name,
      )

    test('matches words and prefixes; names rank above descriptions, whole words above prefixes', async () => {
      const [one, two] = [await newAccount(), await newAccount()]
      await make(one, 'Zebrafish', { description: 'a beginning' })
      await make(one, 'Aquarium', { description: 'where a zebra swims' })
      await make(two, 'Zebra crossing')
      await make(two, 'Nothing of it')
      expect(await search(one, 'zebra')).toEqual(['Zebra crossing', 'Zebrafish', 'Aquarium'])
      expect(await search(one, 'ZÉBRA swims')).toEqual(['Aquarium'])
      expect(await search(one, 'swims where zebra a')).toEqual(['Aquarium'])
      expect(await search(one, 'zebra unheard-of')).toEqual([])
    })

    test('ranks the channel with more subscribers first if they are otherwise equal', async () => {
      const [one, two] = [await newAccount(), await newAccount()]
      await make(one, 'Quokka')
      const liked = await make(two, 'Quokka')
      await one.bare('POST', `/channels/${liked}/subscribe`)
      const { body } = await one.get('/channels/search?q=quokka')
      expect(body.map(({ id }: { id: string }) => id)[0]).toBe(liked)
      expect(body[0]).toMatchObject({ role: 'subscriber', is_subscribed: true })
    })

    test('shows no channel that is private, renamed to something else or deleted', async () => {
      const owner = await newAccount()
      await make(owner, 'Wombat hidden', { is_public: false })
      const edited = await make(owner, 'Wombat edited')
      const deleted = await make(owner, 'Wombat deleted')
      await patch(owner, `/channels/${edited}`, { name: 'Something else' })
      await owner.bare('DELETE', `/channels/${deleted}`)
      expect(await search(owner, 'wombat')).toEqual([])
      expect(await search(owner, 'something else')).toEqual(['Something else'])
    })

    test('accepts any text', async () => {
      const account = await newAccount()
      await make(account, '東京タワー')
      expect(await search(account, '東京')).toEqual(['東京タワー'])
      for (const q of ['', ' ', '%', "'; DROP TABLE channels; --", '\u0000', '"', '*', 'a b c d e f g h']) {
        expect(await search(account, q)).toEqual([])
      }
      expect((await account.get('/channels/search')).body).toEqual([])
      expectInvalidField(await account.get(`/channels/search?q=${'x'.repeat(257)}`), 'q')
    })
  })

  describe('posts', () => {
    test('reach connected subscribers and nobody else', async () => {
      const [owner, reader, stranger] = [await newAccount(), await newAccount(), await newAccount()]
      const id = await make(owner)
      await reader.bare('POST', `/channels/${id}/subscribe`)
      const [readers, strangers] = [(await reader.online()).socket, (await stranger.online()).socket]
      await readers.untilPong()
      const postId = await postIn(owner, id, 'first')
      const frame = await readers.next('channel_post')
      const post = {
        id: postId,
        type: 'text',
        content: 'first',
        created_at: expect.stringMatching(FORMS.timestamp),
        author_alias_id: owner.alias,
      }
      const { type: post_type, ...rest } = post
      expect(frame).toEqual({
        type: 'channel_post',
        channel_id: id,
        conv_id: id,
        ...rest,
        post_type,
        post,
      })
      expect(postId).toMatch(POST_ID)
      expect(await strangers.untilPong()).toEqual([])
    })

    test('reach a client that subscribes while it is connected, until it unsubscribes', async () => {
      const [owner, reader] = [await newAccount(), await newAccount()]
      const id = await make(owner)
      const { socket } = await reader.online()
      await reader.bare('POST', `/channels/${id}/subscribe`)
      await reader.bare('POST', `/channels/${id}/subscribe`)
      await postIn(owner, id, 'one')
      expect((await socket.next('channel_post')).content).toBe('one')
      await reader.bare('DELETE', `/channels/${id}/subscribe`)
      await reader.bare('DELETE', `/channels/${id}/subscribe`)
      await postIn(owner, id, 'two')
      expect(await socket.untilPong()).toEqual([])
    })

    test('are read in pages, the newest first', async () => {
      const [owner, reader] = [await newAccount(), await newAccount()]
      const id = await make(owner)
      const ids: string[] = []
      for (let n = 0; n < 7; n++)
        ids.unshift(await postIn(owner, id, `post ${n}`, n % 2 ? 'image' : undefined))
      const page = async (query: string): Promise<{ id: string; type: string }[]> =>
        (await reader.get(`/channels/${id}/posts${query}`)).body
      const idsOf = (posts: { id: string }[]): string[] => posts.map((post) => post.id)
      expect(idsOf(await page(''))).toEqual(ids)
      expect(idsOf(await page('?limit=3'))).toEqual(ids.slice(0, 3))
      expect(idsOf(await page(`?limit=3&before=${ids[2]}`))).toEqual(ids.slice(3, 6))
      expect(idsOf(await page(`?before=${ids[6]}`))).toEqual([])
      const [newest, second] = await page('?limit=2')
      expect([newest?.type, second?.type]).toEqual(['text', 'image'])
      expectFields(newest, ['id', 'type', 'content', 'created_at', 'author_alias_id'])
      expect(
        ids
          .toSorted()
          .toReversed()
          .map((each) => each.slice(0, 14)),
      ).toEqual(ids.map((each) => each.slice(0, 14)))
      for (const query of ['?limit=0', '?limit=x', '?limit=-1', '?limit=1.5']) {
        expectInvalidField(await reader.get(`/channels/${id}/posts${query}`), 'limit')
      }
      expectInvalidField(await reader.get(`/channels/${id}/posts?before=nonsense`), 'before')
      expectProblem(await reader.get(`/channels/${id}/posts?before=p_${'A'.repeat(28)}`), 404, 'NOT_FOUND')
    })

    test('are read in pages of limited size, even if the posts are large', async () => {
      const owner = await newAccount()
      const id = await make(owner)
      const ids: string[] = []
      for (let n = 0; n < 20; n++) ids.unshift(await postIn(owner, id, 'x'.repeat(60_000)))
      const seen: string[] = []
      for (let before = ''; ; ) {
        const { body, text } = await owner.get(`/channels/${id}/posts${before}`)
        expect(text.length).toBeLessThan(700_000)
        if (body.length === 0) break
        for (const post of body) seen.push(post.id)
        before = `?before=${seen.at(-1)}`
      }
      expect(seen).toEqual(ids)
    })

    test('are deleted by their channel’s owner', async () => {
      const owner = await newAccount()
      const [id, other] = [await make(owner), await make(owner)]
      const [kept, gone] = [await postIn(owner, id, 'kept'), await postIn(owner, id, 'gone')]
      expectProblem(await owner.bare('DELETE', `/channels/${other}/posts/${gone}`), 404, 'NOT_FOUND')
      expect((await owner.bare('DELETE', `/channels/${id}/posts/${gone}`)).status).toBe(200)
      expectProblem(await owner.bare('DELETE', `/channels/${id}/posts/${gone}`), 404, 'NOT_FOUND')
      const { body } = await owner.get(`/channels/${id}/posts`)
      expect(body.map((post: { id: string }) => post.id)).toEqual([kept])
    })

    test('hold 64 KiB of UTF-8, even if JSON escapes make the request larger', async () => {
      const owner = await newAccount()
      const id = await make(owner)
      await postIn(owner, id, '"'.repeat(65_536))
      await postIn(owner, id, '€'.repeat(21_845))
      // Some JSON writers escape every non-ASCII character, as six characters.
      const escaped = `{"content":"${'\\u0436'.repeat(32_768)}"}`
      const headers = { ...owner.authorized(), 'content-type': 'application/json' }
      const made = await fetch(owner.api(`/channels/${id}/posts`), { method: 'POST', headers, body: escaped })
      expect(made.status).toBe(200)
      for (const content of ['x'.repeat(65_537), '€'.repeat(21_846), '', 5, '\ud800', 'a\u0000b', '\u0007']) {
        expectInvalidField(await owner.post(`/channels/${id}/posts`, { content }), 'content')
      }
      for (const type of ['', 'Text', 'x'.repeat(33), 1]) {
        expectInvalidField(await owner.post(`/channels/${id}/posts`, { content: 'x', type }), 'type')
      }
      const huge = await owner.post(`/channels/${id}/posts`, { content: 'x'.repeat(600_000) })
      expectProblem(huge, 413, 'PAYLOAD_TOO_LARGE')
      expect((await owner.get(`/channels/${id}/posts`)).body).toHaveLength(3)
    })
  })

  test('deleting an account deletes its channels and its subscriptions', async () => {
    const [owner, reader] = [await newAccount(), await newAccount()]
    const [own, others] = [await make(reader, 'Echidna'), await make(owner)]
    await reader.bare('POST', `/channels/${others}/subscribe`)
    await owner.bare('POST', `/channels/${own}/subscribe`)
    await postIn(reader, own, 'x')
    await reader.bare('DELETE', '/me')
    expectProblem(await owner.get(`/channels/${own}`), 404, 'NOT_FOUND')
    expect((await owner.get('/channels/search?q=echidna')).body).toEqual([])
    expect((await owner.get('/channels/mine')).body).toHaveLength(1)
  })

  test('accounts that subscribe to each other’s channels can all be deleted at once, and nothing of them remains', async () => {
    const accounts = await Promise.all(Array.from({ length: 8 }, () => newAccount()))
    const stays = await newAccount()
    const ids = await Promise.all(accounts.map((account) => make(account, 'Numbat')))
    for (const account of [...accounts, stays]) {
      await Promise.all(ids.map((id) => account.bare('POST', `/channels/${id}/subscribe`)))
    }
    const gone = await Promise.all(accounts.map((account) => account.bare('DELETE', '/me')))
    expect(gone.map(({ status }) => status)).toEqual(gone.map(() => 200))
    expect((await stays.get('/channels/mine')).body).toEqual([])
    expect((await stays.get('/channels/search?q=numbat')).body).toEqual([])
  })

  test('without a token, every channel request answers 401', async () => {
    for (const path of ['/channels/mine', '/channels/search?q=x', `/channels/${UNKNOWN_CHANNEL}`]) {
      const response = await fetch(`${relay.url}/api/v1${path}`)
      expect(response.status).toBe(401)
    }
  })
})

describe('a subscription beyond the limit', () => {
  onEveryEngine(
    (relay) => {
      test('is refused; subscribing again to the same channel is not', async () => {
        const [owner, reader] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const ids: string[] = []
        for (const name of ['a', 'b', 'c'])
          ids.push((await owner.post('/channels', { name })).body.channel_id)
        const subscribe = (id = '') => reader.bare('POST', `/channels/${id}/subscribe`)
        expect([(await subscribe(ids[0])).status, (await subscribe(ids[1])).status]).toEqual([200, 200])
        expectProblem(await subscribe(ids[2]), 409, 'TOO_MANY_SUBSCRIPTIONS')
        expect((await subscribe(ids[1])).body).toEqual({})
      })
    },
    { LIMIT_SUBSCRIPTIONS: '2' },
  )
})

describe('a full channel', () => {
  onEveryEngine(
    (relay) => {
      test('removes its oldest posts', async () => {
        const owner = await wireAccount(relay.url)
        const { body } = await owner.post('/channels', { name: 'Long' })
        for (let n = 0; n < 13; n++)
          await owner.post(`/channels/${body.channel_id}/posts`, { content: `${n}` })
        const page = await owner.get(`/channels/${body.channel_id}/posts?limit=100`)
        const contents = page.body.map(({ content }: { content: string }) => content)
        expect(contents).toEqual(['12', '11', '10', '9', '8', '7', '6', '5', '4', '3'])
      })
    },
    { LIMIT_CHANNEL_POSTS: '10' },
  )
})
