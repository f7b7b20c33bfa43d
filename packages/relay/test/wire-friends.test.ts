// Friendship, seen from outside: every transition, what each side sees of it, and what unfriending does.
import { describe, expect, test } from 'bun:test'
import { expectInvalidField, expectProblem, FORMS } from './expect.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, wireAccount, wireFriends } from './wire.ts'

function ask(from: WireAccount, to: WireAccount) {
  return from.post('/friends/request', { to_alias_id: to.alias })
}

async function rowOf(account: WireAccount, peer: WireAccount) {
  const { body } = await account.get('/friends')
  return body.find((row: { alias_id: string }) => row.alias_id === peer.alias)
}

onEveryEngine((relay) => {
  const two = async (): Promise<[WireAccount, WireAccount]> => [
    await wireAccount(relay.url),
    await wireAccount(relay.url),
  ]

  describe('a request', () => {
    test('appears on both lists as one row, with exactly the fields of a FriendProfile', async () => {
      const [alice, bob] = [await wireAccount(relay.url, 'Alice'), await wireAccount(relay.url, 'Bob')]
      expect((await alice.get('/friends')).body).toEqual([])
      const asked = await ask(alice, bob)
      expect([asked.status, asked.body]).toEqual([
        200,
        { friendship_id: expect.any(Number), status: 'pending' },
      ])
      const shared = {
        friendship_id: asked.body.friendship_id,
        status: 'pending',
        conversation_id: '',
        created_at: expect.stringMatching(FORMS.timestamp),
      }
      const keysOf = ({ x25519, ed25519, alias }: WireAccount) => ({
        alias_id: alias,
        x25519_public_key: x25519,
        ed25519_public_key: ed25519,
      })
      expect((await alice.get('/friends')).body).toEqual([
        { ...shared, ...keysOf(bob), nickname: 'Bob', direction: 'sent' },
      ])
      expect((await bob.get('/friends')).body).toEqual([
        { ...shared, ...keysOf(alice), nickname: 'Alice', direction: 'received' },
      ])
    })

    test('sent again while it is pending changes nothing and sends no frame', async () => {
      const [alice, bob] = await two()
      const { socket } = await bob.online()
      const first = await ask(alice, bob)
      expect(await socket.next()).toEqual({
        type: 'friend_request',
        friendship_id: first.body.friendship_id,
        from: alice.alias,
      })
      const before = await alice.get('/friends')
      expect((await ask(alice, bob)).body).toEqual(first.body)
      expect((await alice.get('/friends')).body).toEqual(before.body)
      expect(await socket.untilPong()).toEqual([])
    })

    test('to an unknown alias answers 404, to oneself 400, to a friend 409', async () => {
      const { alice, bob } = await wireFriends(relay.url)
      expectProblem(await alice.post('/friends/request', { to_alias_id: 'u00000000' }), 404, 'NOT_FOUND')
      expectProblem(await ask(alice, alice), 400, 'SELF_REQUEST')
      expectProblem(await ask(alice, bob), 409, 'ALREADY_FRIENDS')
      expectProblem(await ask(bob, alice), 409, 'ALREADY_FRIENDS')
    })

    test('with an invalid alias is refused with the name of the field', async () => {
      const alice = await wireAccount(relay.url)
      for (const to_alias_id of [
        undefined,
        null,
        7,
        '',
        'ab',
        'UPPER',
        'a b c',
        'a'.repeat(33),
        ['abc'],
        { a: 1 },
      ]) {
        expectInvalidField(await alice.post('/friends/request', { to_alias_id }), 'to_alias_id')
      }
    })

    test('to an account that has already sent one accepts that request and notifies its sender', async () => {
      const [alice, bob] = await two()
      const { socket } = await alice.online()
      const first = await ask(alice, bob)
      const mutual = await ask(bob, alice)
      expect(mutual.body).toEqual({ friendship_id: first.body.friendship_id, status: 'accepted' })
      const row = await rowOf(bob, alice)
      expect(row).toMatchObject({
        status: 'accepted',
        direction: 'received',
        conversation_id: expect.stringMatching(FORMS.uuid),
      })
      expect(await socket.next()).toEqual({
        type: 'friend_accepted',
        friendship_id: first.body.friendship_id,
        from: bob.alias,
        conv_id: row.conversation_id,
      })
    })

    test('that two accounts send each other at the same moment makes them friends, once', async () => {
      for (let round = 0; round < 3; round++) {
        const [alice, bob] = await two()
        const answers = await Promise.all([ask(alice, bob), ask(bob, alice)])
        expect(answers.map(({ body }) => body.status).toSorted()).toEqual(['accepted', 'pending'])
        const lists = await Promise.all([alice.get('/friends'), bob.get('/friends')])
        expect(lists.map(({ body }) => body.length)).toEqual([1, 1])
        expect(lists[0]?.body[0].conversation_id).toBe(lists[1]?.body[0].conversation_id)
      }
    })

    test('that is withdrawn disappears from both lists and can no longer be accepted', async () => {
      const [alice, bob] = await two()
      const { friendship_id: id } = (await ask(alice, bob)).body
      const answer = await alice.bare('DELETE', `/friends/${id}`)
      expect([answer.status, answer.text]).toEqual([200, '{}'])
      expect([(await alice.get('/friends')).body, (await bob.get('/friends')).body]).toEqual([[], []])
      expectProblem(await bob.bare('PUT', `/friends/${id}/accept`), 404, 'NOT_FOUND')
      expectProblem(await alice.bare('DELETE', `/friends/${id}`), 404, 'NOT_FOUND')
    })
  })

  describe('accepting', () => {
    for (const method of ['PUT', 'POST']) {
      test(`by ${method}, without a body or a content type, makes friends and notifies the requester`, async () => {
        const [alice, bob] = await two()
        const { socket } = await alice.online()
        const { friendship_id: id } = (await ask(alice, bob)).body
        const accepted = await bob.bare(method, `/friends/${id}/accept`)
        const conversation_id = accepted.body.conversation_id
        expect(accepted.status).toBe(200)
        expect(accepted.body).toEqual({
          friendship_id: id,
          conversation_id: expect.stringMatching(FORMS.uuid),
        })
        expect(await socket.next()).toEqual({
          type: 'friend_accepted',
          friendship_id: id,
          from: bob.alias,
          conv_id: conversation_id,
        })
        for (const [account, peer, direction] of [
          [alice, bob, 'sent'],
          [bob, alice, 'received'],
        ] as const) {
          expect(await rowOf(account, peer)).toMatchObject({ status: 'accepted', direction, conversation_id })
          expect((await account.get('/conversations/active')).body).toEqual({
            conversations: [{ conv_id: conversation_id, alias_id: peer.alias, last_seq: 0 }],
          })
        }
        // Accepting again gives the same answer and sends no frame.
        expect((await bob.bare(method, `/friends/${id}/accept`)).body).toEqual(accepted.body)
        expect(await socket.untilPong()).toEqual([])
      })
    }

    test('is allowed to the recipient only: others get NOT_FOUND', async () => {
      const [alice, bob] = await two()
      const eve = await wireAccount(relay.url)
      const { friendship_id: id } = (await ask(alice, bob)).body
      for (const account of [alice, eve]) {
        expectProblem(await account.bare('PUT', `/friends/${id}/accept`), 404, 'NOT_FOUND')
        expectProblem(await account.bare('POST', `/friends/${id}/reject`), 404, 'NOT_FOUND')
      }
      expectProblem(await eve.bare('DELETE', `/friends/${id}`), 404, 'NOT_FOUND')
      for (const wrong of [
        '0',
        '-1',
        '1.5',
        'abc',
        '1e3',
        '99999999999999999999',
        '9007199254740993',
        '%31%00',
        `0${id}`,
      ]) {
        expectProblem(await bob.bare('PUT', `/friends/${wrong}/accept`), 404, 'NOT_FOUND')
        expectProblem(await bob.bare('DELETE', `/friends/${wrong}`), 404, 'NOT_FOUND')
      }
      expect(await rowOf(bob, alice)).toMatchObject({ status: 'pending' })
    })

    test('notifies the requester before the first message of the conversation, also when they become friends again', async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
      for (let round = 0; round < 5; round++) {
        await alice.bare('DELETE', `/friends/${(await rowOf(alice, bob)).friendship_id}`)
        const { friendship_id: id } = (await ask(alice, bob)).body
        // Bob knows the conversation from before. He sends messages in it until the relay accepts one.
        const accepting = bob.bare('PUT', `/friends/${id}/accept`)
        for (let tries = 0; ; tries++) {
          bobs.send(message(alice.alias, conv, 'hi', `r${round}-${tries}`))
          let answer = await bobs.next()
          while (answer.type === 'friend_request') answer = await bobs.next()
          if (answer.type === 'ack') break
        }
        await accepting
        expect(await alices.take(2)).toMatchObject([
          { type: 'friend_accepted', conv_id: conv },
          { type: 'msg', conv_id: conv },
        ])
      }
    })
  })

  describe('rejecting', () => {
    test('is visible to the recipient only: the requester gets no frame and still sees pending', async () => {
      const [alice, bob] = await two()
      const { socket } = await alice.online()
      const { friendship_id: id } = (await ask(alice, bob)).body
      const before = await alice.get('/friends')
      const answer = await bob.bare('POST', `/friends/${id}/reject`)
      expect([answer.status, answer.text]).toEqual([200, '{}'])
      expect(await rowOf(bob, alice)).toMatchObject({
        friendship_id: id,
        status: 'rejected',
        direction: 'received',
        conversation_id: '',
      })
      expect((await alice.get('/friends')).body).toEqual(before.body)
      expect(await socket.untilPong()).toEqual([])
      expect((await bob.bare('POST', `/friends/${id}/reject`)).status).toBe(200)
    })

    test('is not undone by another request, which gets the same answer as before', async () => {
      const [alice, bob] = await two()
      const first = await ask(alice, bob)
      await bob.bare('POST', `/friends/${first.body.friendship_id}/reject`)
      const { socket } = await bob.online()
      expect((await ask(alice, bob)).body).toEqual(first.body)
      expect(await rowOf(bob, alice)).toMatchObject({ status: 'rejected' })
      expect(await socket.untilPong()).toEqual([])
    })

    test('is neither undone nor revealed when the requester withdraws the request and sends a new one', async () => {
      const [alice, bob] = await two()
      const carol = await wireAccount(relay.url)
      const first = await ask(alice, bob)
      await bob.bare('POST', `/friends/${first.body.friendship_id}/reject`)
      const { socket } = await bob.online()
      const seen: unknown[] = []
      for (const peer of [bob, carol]) {
        // Carol has rejected nothing. Alice must see the same of Bob and of Carol.
        const { friendship_id: id } = (await ask(alice, peer)).body
        const { status } = await alice.bare('DELETE', `/friends/${id}`)
        const again = await alice.bare('DELETE', `/friends/${id}`)
        const gone = await rowOf(alice, peer)
        const anotherRequest = await ask(alice, peer)
        const { direction, conversation_id } = await rowOf(alice, peer)
        seen.push([
          status,
          again.status,
          gone,
          anotherRequest.status,
          anotherRequest.body.status,
          anotherRequest.body.friendship_id > id,
          direction,
          conversation_id,
        ])
      }
      expect(seen[0]).toEqual(seen[1])
      expect(await socket.untilPong()).toEqual([])
      expect(await rowOf(bob, alice)).toMatchObject({ status: 'rejected' })
    })

    test('can be reversed by the recipient, who accepts or sends a request', async () => {
      for (const makeUp of ['accept', 'ask'] as const) {
        const [alice, bob] = await two()
        const { socket } = await alice.online()
        const { friendship_id: id } = (await ask(alice, bob)).body
        await bob.bare('POST', `/friends/${id}/reject`)
        const answer =
          makeUp === 'accept' ? await bob.bare('PUT', `/friends/${id}/accept`) : await ask(bob, alice)
        expect(answer.status).toBe(200)
        expect(await rowOf(alice, bob)).toMatchObject({ status: 'accepted' })
        expect(await socket.next()).toMatchObject({ type: 'friend_accepted', from: bob.alias })
      }
    })

    test('does not end a friendship: it answers NOT_FOUND', async () => {
      const { alice, bob } = await wireFriends(relay.url)
      const { friendship_id: id } = await rowOf(bob, alice)
      expectProblem(await bob.bare('POST', `/friends/${id}/reject`), 404, 'NOT_FOUND')
      expect(await rowOf(alice, bob)).toMatchObject({ status: 'accepted' })
    })
  })

  describe('unfriending', () => {
    test('by either friend removes the row from both lists and closes the conversation for both', async () => {
      for (const who of ['requester', 'recipient'] as const) {
        const { alice, bob, conv } = await wireFriends(relay.url)
        const by = who === 'requester' ? alice : bob
        const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
        const { friendship_id: id } = await rowOf(by, by === alice ? bob : alice)
        expect((await by.bare('DELETE', `/friends/${id}`)).status).toBe(200)
        for (const [account, peer, socket] of [
          [alice, bob, alices],
          [bob, alice, bobs],
        ] as const) {
          expect((await account.get('/friends')).body).toEqual([])
          expect((await account.get('/conversations/active')).body).toEqual({ conversations: [] })
          socket.send(message(peer.alias, conv, 'still there?', `to-${peer.alias}`))
          expect(await socket.next()).toMatchObject({
            type: 'error',
            error: 'NOT_FRIENDS',
            id: `to-${peer.alias}`,
          })
          socket.send({ type: 'typing', to: peer.alias, conv_id: conv })
          expect(await socket.next()).toMatchObject({ type: 'error', error: 'NOT_FRIENDS', conv_id: conv })
        }
      }
    })

    test('deletes undelivered messages between the two, and no others', async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const carol = await wireAccount(relay.url)
      const other = await befriend(carol, bob)
      const [{ socket: alices }, { socket: carols }] = [await alice.online(), await carol.online()]
      alices.send(message(bob.alias, conv, 'never seen', 'from-alice'))
      carols.send(message(bob.alias, other, 'seen', 'from-carol'))
      await alices.next('ack')
      await carols.next('ack')
      await alice.bare('DELETE', `/friends/${(await rowOf(alice, bob)).friendship_id}`)
      const { backlog } = await bob.online()
      expect(backlog).toMatchObject([
        { type: 'msg', id: 'from-carol' },
        { type: 'sync_end', count: 1 },
      ])
    })

    test('and becoming friends again keeps the conversation, and its numbers continue', async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const { socket: alices } = await alice.online()
      for (const id of ['one', 'two']) alices.send(message(bob.alias, conv, id, id))
      await alices.take(2, 'ack')
      await bob.bare('DELETE', `/friends/${(await rowOf(bob, alice)).friendship_id}`)
      expect(await befriend(bob, alice)).toBe(conv)
      expect((await bob.get('/conversations/active')).body).toEqual({
        conversations: [{ conv_id: conv, alias_id: alice.alias, last_seq: 2 }],
      })
      alices.send(message(bob.alias, conv, 'three', 'three'))
      expect(await alices.next('ack')).toMatchObject({ id: 'three', seq: 3 })
      const { backlog } = await bob.online()
      expect(backlog.map(({ id, seq, type }) => [id ?? type, seq])).toEqual([
        ['three', 3],
        ['sync_end', undefined],
      ])
    })
  })
})

describe('a full friend list', () => {
  const relay = useRelay({ LIMIT_FRIENDS: '2' })

  test('allows no more requests to be sent or accepted until a place is free', async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => wireAccount(relay.url)))
    const [alice, bob, carol, dave, eve] = accounts
    if (!alice || !bob || !carol || !dave || !eve) throw new Error('expected five accounts')
    await befriend(alice, bob)
    const pending = await ask(alice, carol)
    expectProblem(await ask(alice, dave), 409, 'TOO_MANY_FRIENDS')
    const { friendship_id: id } = (await ask(eve, alice)).body
    expectProblem(await alice.bare('PUT', `/friends/${id}/accept`), 409, 'TOO_MANY_FRIENDS')
    expectProblem(await ask(alice, eve), 409, 'TOO_MANY_FRIENDS')
    expect(await rowOf(alice, eve)).toMatchObject({ status: 'pending' })
    expect((await ask(alice, carol)).status).toBe(200) // A repeated request needs no place.

    await alice.bare('DELETE', `/friends/${pending.body.friendship_id}`)
    expect((await alice.bare('PUT', `/friends/${id}/accept`)).status).toBe(200)
  })
})
