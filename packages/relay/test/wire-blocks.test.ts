// Blocks, seen from outside: a blocked account sees exactly what an unfriended account sees.
import { describe, expect, test } from 'bun:test'
import { expectProblem, FORMS } from './expect.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, wireAccount, wireFriends } from './wire.ts'

function ask(from: WireAccount, to: WireAccount) {
  return from.post('/friends/request', { to_alias_id: to.alias })
}

function block(by: WireAccount, whom: WireAccount) {
  return by.bare('PUT', `/blocks/${whom.alias}`)
}

onEveryEngine((relay) => {
  test('the block list has exactly its fields, and blocking or unblocking twice changes nothing', async () => {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url, 'Bob')]
    expect((await alice.get('/blocks')).body).toEqual([])
    const answers = [await block(alice, bob), await block(alice, bob)]
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, '{}'],
      [200, '{}'],
    ])
    expect((await alice.get('/blocks')).body).toEqual([
      { alias_id: bob.alias, nickname: 'Bob', created_at: expect.stringMatching(FORMS.timestamp) },
    ])
    expect((await bob.get('/blocks')).body).toEqual([])
    for (let count = 0; count < 2; count++) {
      expect((await alice.bare('DELETE', `/blocks/${bob.alias}`)).status).toBe(200)
      expect((await alice.get('/blocks')).body).toEqual([])
    }
  })

  test('an account cannot block itself or an unknown alias', async () => {
    const alice = await wireAccount(relay.url)
    expectProblem(await block(alice, alice), 400, 'SELF_REQUEST')
    for (const alias of ['u00000000', 'UPPER', 'ab', '%2e%2e']) {
      expectProblem(await alice.bare('PUT', `/blocks/${alias}`), 404, 'NOT_FOUND')
    }
  })

  test('lifting a block does not tell whether an alias exists', async () => {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const answers = [
      await alice.bare('DELETE', `/blocks/${bob.alias}`),
      await alice.bare('DELETE', '/blocks/u00000000'),
    ]
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, '{}'],
      [200, '{}'],
    ])
    for (const alias of ['UPPER', 'ab', '%2e%2e'])
      expectProblem(await alice.bare('DELETE', `/blocks/${alias}`), 404, 'NOT_FOUND')
  })

  test('a friend who is blocked sees the same as a friend who is unfriended', async () => {
    const seen = await Promise.all(
      (['unfriend', 'block'] as const).map(async (how) => {
        const { alice, bob, conv } = await wireFriends(relay.url)
        const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
        alices.send(message(bob.alias, conv, 'seen', 'before'))
        await bobs.next('msg')
        const [row] = (await bob.get('/friends')).body
        if (how === 'block') await block(bob, alice)
        else await bob.bare('DELETE', `/friends/${row.friendship_id}`)

        const pushed = await alices.take(1, 'ack')
        const friends = await alice.get('/friends')
        const active = await alice.get('/conversations/active')
        const lookup = await alice.get(`/users/${bob.alias}`)
        alices.send(message(bob.alias, conv, 'gone?', 'after'))
        const refused = await alices.next()
        alices.send({ type: 'typing', to: bob.alias, conv_id: conv })
        const typing = await alices.next()
        alices.send({ type: 'retract', id: 'before', to: bob.alias, conv_id: conv })
        const retract = await alices.next()
        const asked = await ask(alice, bob)
        const again = await ask(alice, bob)
        const [pending] = (await alice.get('/friends')).body
        const hidden = [...alices.frames, ...(await alices.untilPong())]
        await alices.close()
        const reconnected = await alice.online()
        const fields = [
          lookup.status,
          asked.status,
          asked.body.status,
          again.body.friendship_id === asked.body.friendship_id,
        ]
        return JSON.stringify([
          pushed.length,
          friends.body,
          active.body,
          fields,
          refused,
          typing,
          retract,
          pending.status,
          pending.direction,
          pending.conversation_id,
          hidden,
          reconnected.backlog,
        ]).replaceAll(conv, 'conv')
      }),
    )
    expect(seen[0]).toBe(seen[1] ?? '')
  })

  test('a friend request from a blocked account stays pending and is hidden from the recipient until the block is removed', async () => {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    await block(bob, alice)
    const { socket } = await bob.online()
    const asked = await ask(alice, bob)
    expect(asked.body.status).toBe('pending')
    expect((await bob.get('/friends')).body).toEqual([])
    expect(await socket.untilPong()).toEqual([])
    const { friendship_id: id } = asked.body
    expectProblem(await bob.bare('PUT', `/friends/${id}/accept`), 404, 'NOT_FOUND')
    expectProblem(await ask(bob, alice), 409, 'UNBLOCK_FIRST')
    expect((await alice.get('/friends')).body).toMatchObject([{ status: 'pending', direction: 'sent' }])

    await bob.bare('DELETE', `/blocks/${alice.alias}`)
    expect((await bob.get('/friends')).body).toMatchObject([
      { friendship_id: id, status: 'pending', direction: 'received' },
    ])
    expect((await bob.bare('PUT', `/friends/${id}/accept`)).status).toBe(200)
  })

  test('a block removes a pending request from both lists', async () => {
    for (const who of ['requester', 'recipient'] as const) {
      const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
      const { friendship_id: id } = (await ask(alice, bob)).body
      await (who === 'requester' ? block(alice, bob) : block(bob, alice))
      expect([(await alice.get('/friends')).body, (await bob.get('/friends')).body]).toEqual([[], []])
      expectProblem(await bob.bare('PUT', `/friends/${id}/accept`), 404, 'NOT_FOUND')
    }
  })

  test('a block deletes undelivered messages between the two; after it is removed, new friends get the same conversation back', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    socket.send(message(bob.alias, conv, 'never seen', 'm'))
    await socket.next('ack')
    await block(bob, alice)
    expect((await bob.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
    await bob.bare('DELETE', `/blocks/${alice.alias}`)
    expect((await bob.get('/friends')).body).toEqual([])
    expect(await befriend(alice, bob)).toBe(conv)
    socket.send(message(bob.alias, conv, 'seen', 'n'))
    expect(await socket.next('ack')).toMatchObject({ id: 'n', seq: 2 })
  })
})

describe('a full block list', () => {
  const relay = useRelay({ LIMIT_FRIENDS: '1' })

  test('accepts no other account, and accepts the one it already holds again', async () => {
    const alice = await wireAccount(relay.url)
    const [bob, carol] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    expect((await block(alice, bob)).status).toBe(200)
    expectProblem(await block(alice, carol), 409, 'TOO_MANY_FRIENDS')
    expect((await block(alice, bob)).status).toBe(200)
  })
})
