// Channels that the operator closes, opens and deletes, posts that it removes, and ids that it frees.
import { expect, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { tellRelay } from '../src/operator.ts'
import { expectProblem } from './expect.ts'
import { onEveryEngine, type UsedRelay } from './use-relay.ts'
import { call, type WireAccount, wireAccount } from './wire.ts'

const WHY = 'Against the rules'

onEveryEngine(
  (relay) => {
    test('a closed channel takes nothing and says why, no search finds it, and opening it loses nothing', async () => {
      const [owner, reader] = [await wireAccount(relay.url), await wireAccount(relay.url)]
      const id = await channelOf(owner, 'Zebra news')
      await reader.bare('POST', `/channels/${id}/subscribe`)
      const first = (await owner.post(`/channels/${id}/posts`, { content: 'one' })).body.post_id
      expect(await foundBy(reader)).toEqual([id])
      await ask(relay, 'channels.close', { channel_id: id, who: 'op', why: WHY })
      const closed = { detail: WHY }
      expectProblem(
        await owner.post(`/channels/${id}/posts`, { content: 'two' }),
        403,
        'CHANNEL_CLOSED',
        closed,
      )
      const renamed = await call(owner.api(`/channels/${id}`), {
        method: 'PATCH',
        headers: { ...owner.authorized(), 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Zebra 2' }),
      })
      expect([renamed.status, renamed.body.error]).toEqual([403, 'CHANNEL_CLOSED'])
      const offered = await owner.post('/vanity/list-channel', { channel_id: id, price_usdt: 5 })
      expectProblem(offered, 403, 'CHANNEL_CLOSED', closed)
      expect(await foundBy(reader)).toEqual([])
      expect(await postsOf(reader, id)).toEqual([first])
      expect((await ask(relay, 'channels.find', { closed: true })).map((each) => each.closed_for)).toEqual([
        WHY,
      ])
      await ask(relay, 'channels.open', { channel_id: id, who: 'op' })
      expect((await owner.post(`/channels/${id}/posts`, { content: 'two' })).status).toBe(200)
      expect(await foundBy(reader)).toEqual([id])
      expect(await postsOf(reader, id)).toHaveLength(2)
      await ask(relay, 'channels.delete', { channel_id: id, who: 'op', why: WHY })
    })

    test('a removed post and a deleted channel are gone for everybody, and every deed is recorded', async () => {
      const owner = await wireAccount(relay.url)
      const id = await channelOf(owner, 'Birds')
      const [kept, removed] = await Promise.all(
        ['kept', 'removed'].map(
          async (content) => (await owner.post(`/channels/${id}/posts`, { content })).body.post_id,
        ),
      )
      await ask(relay, 'channels.remove-post', { channel_id: id, post_id: removed, who: 'op', why: WHY })
      expect(await postsOf(owner, id)).toEqual([kept])
      const shown = await ask(relay, 'channels.show', { channel_id: id })
      expect(shown).toMatchObject({ owner: owner.alias, posts: 1, post_bytes: 4, closed_for: null })
      const again = ask(relay, 'channels.remove-post', {
        channel_id: id,
        post_id: removed,
        who: 'op',
        why: WHY,
      })
      expect(String(await failureOf(again))).toContain(`${id} has no post ${removed}`)
      await ask(relay, 'channels.delete', { channel_id: id, who: 'op', why: WHY })
      expectProblem(await owner.get(`/channels/${id}`), 404, 'NOT_FOUND')
      expect(String(await failureOf(ask(relay, 'channels.show', { channel_id: id })))).toContain(
        'there is no channel',
      )
      const deeds = [
        ...(await ask(relay, 'deeds.list', { object: id })),
        ...(await ask(relay, 'deeds.list', { object: removed })),
      ]
      expect(deeds.map(({ what, who, why }) => [what, who, why])).toEqual([
        ['channels.delete', 'op', WHY],
        ['channels.remove-post', 'op', WHY],
      ])
    })

    test('an id that an unpaid order holds is freed, and one of an account is not', async () => {
      const [first, second] = [await wireAccount(relay.url), await wireAccount(relay.url)]
      const ordered = await first.post('/vanity/purchase', { alias_id: 'zebra77' })
      expect(ordered.status).toBe(200)
      expectProblem(await second.post('/vanity/purchase', { alias_id: 'zebra77' }), 409, 'ALIAS_TAKEN')
      await ask(relay, 'ids.free', { alias_id: 'zebra77', who: 'op', why: WHY })
      expect((await second.post('/vanity/purchase', { alias_id: 'zebra77' })).status).toBe(200)
      const own = await failureOf(ask(relay, 'ids.free', { alias_id: first.alias, who: 'op' }))
      expect(String(own)).toContain(`${first.alias} belongs to the account ${first.alias}`)
      const free = await failureOf(ask(relay, 'ids.free', { alias_id: 'nobody_77', who: 'op' }))
      expect(String(free)).toContain('no order holds nobody_77')
    })
  },
  { PAYMENTS: 'manual', MANUAL_PAY_TO: 'the till' },
)

function ask<Name extends Parameters<typeof tellRelay>[1]>(relay: UsedRelay, command: Name, input: object) {
  return tellRelay({ DATA_DIR: relay.process.dataDir }, command, input)
}

async function channelOf(owner: WireAccount, name: string): Promise<string> {
  return (await owner.post('/channels', { name, is_public: true })).body.channel_id
}

async function foundBy(reader: WireAccount): Promise<string[]> {
  return (await reader.get('/channels/search?q=zebra')).body.map(({ id }: { id: string }) => id)
}

async function postsOf(reader: WireAccount, id: string): Promise<string[]> {
  return (await reader.get(`/channels/${id}/posts`)).body.map((post: { id: string }) => post.id)
}
