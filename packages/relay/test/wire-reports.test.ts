// Reports by people to the operator.
import { expect, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { tellRelay } from '../src/operator.ts'
import { expectInvalidField, expectProblem } from './expect.ts'
import { onEveryEngine, type UsedRelay } from './use-relay.ts'
import { type WireAccount, wireAccount } from './wire.ts'

onEveryEngine((relay) => {
  test('a report reaches the operator, another one about the same thing replaces it, and it is done once', async () => {
    const [reporter, spammer] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const about = { about: 'friend_request', alias_id: spammer.alias }
    for (const reason of ['spam', 'much spam'])
      expect((await reporter.report({ ...about, reason, content: 'Buy now' })).status).toBe(200)
    const [first, ...others] = await openOf(relay, reporter)
    expect(others).toEqual([])
    expect(first).toMatchObject({
      object: spammer.alias,
      reason: 'much spam',
      has_content: true,
      done_at: null,
    })
    const id = first?.id
    expect(await ask(relay, 'reports.show', { id })).toMatchObject({ content: 'Buy now' })
    await ask(relay, 'reports.done', { id, who: 'op', why: 'Suspended' })
    expect(await ask(relay, 'reports.show', { id })).toMatchObject({
      content: null,
      done_at: expect.any(String),
    })
    expect(await openOf(relay, reporter)).toEqual([])
    const [deed] = await ask(relay, 'deeds.list', { object: `report ${id}` })
    expect(deed).toMatchObject({ what: 'reports.done', who: 'op', why: 'Suspended' })
    // What is reported again after it was done is open again.
    await reporter.report({ ...about, reason: 'again' })
    expect(await openOf(relay, reporter)).toMatchObject([{ id, reason: 'again', has_content: false }])
    expect((await reporter.bare('DELETE', '/me')).status).toBe(200)
    expect(String(await failureOf(ask(relay, 'reports.show', { id })))).toContain(`there is no report ${id}`)
  })

  test('a channel and a post are reported, and nothing that does not exist or is not named', async () => {
    const [reporter, owner] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const channel_id = (await owner.post('/channels', { name: 'Birds' })).body.channel_id
    const { post_id } = (await owner.post(`/channels/${channel_id}/posts`, { content: 'one' })).body
    const reason = 'spam'
    expect((await reporter.report({ about: 'channel', channel_id, reason })).status).toBe(200)
    expect((await reporter.report({ about: 'post', channel_id, post_id, reason })).status).toBe(200)
    expect((await openOf(relay, reporter)).map(({ object }) => object)).toEqual([
      `${channel_id} ${post_id}`,
      channel_id,
    ])
    const [ofPost] = await openOf(relay, reporter)
    expect(await ask(relay, 'reports.show', { id: ofPost?.id })).toMatchObject({ post: 'one', content: null })
    expect((await owner.bare('DELETE', `/channels/${channel_id}/posts/${post_id}`)).status).toBe(200)
    expect(await ask(relay, 'reports.show', { id: ofPost?.id })).toMatchObject({ post: null })
    const missing = `ch_${'x'.repeat(22)}`
    expectProblem(await reporter.report({ about: 'channel', channel_id: missing, reason }), 404, 'NOT_FOUND')
    const elsewhere = { about: 'post', channel_id: missing, post_id, reason }
    expectProblem(await reporter.report(elsewhere), 404, 'NOT_FOUND')
    const nobody = { about: 'account', alias_id: 'nobody_at_all', reason }
    expectProblem(await reporter.report(nobody), 404, 'NOT_FOUND')
    expectInvalidField(await reporter.report({ about: 'post', channel_id, reason }), 'post_id')
    expectInvalidField(await reporter.report({ about: 'account', reason }), 'alias_id')
    const long = { about: 'channel', channel_id, reason, content: 'x'.repeat(8193) }
    expectInvalidField(await reporter.report(long), 'content')
  })

  test('a report is erased after 180 days', async () => {
    const [reporter, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    await reporter.report({ about: 'account', alias_id: other.alias, reason: 'spam' })
    const [{ id } = { id: 0 }] = await openOf(relay, reporter)
    const day = 86_400_000
    await relay.process.letPass(179 * day)
    await relay.process.maintain()
    expect(await openOf(relay, reporter)).toMatchObject([{ id }])
    await relay.process.letPass(day)
    for (let isThere = true; isThere; ) {
      await relay.process.maintain()
      isThere = (await openOf(relay, reporter)).length > 0
    }
  })
})

function ask<Name extends Parameters<typeof tellRelay>[1]>(relay: UsedRelay, command: Name, input: object) {
  return tellRelay({ DATA_DIR: relay.process.dataDir }, command, input)
}

async function openOf(relay: UsedRelay, reporter: WireAccount) {
  return (await ask(relay, 'reports.list', {})).filter((each) => each.reporter === reporter.alias)
}
