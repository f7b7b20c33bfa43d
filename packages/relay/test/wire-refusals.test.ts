// Valid frames that the relay refuses: with which code, and that it then stores and forwards nothing.
import { describe, expect, test } from 'bun:test'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, type WireSocket, wireAccount, wireFriends } from './wire.ts'

/** Expects the next frame to be a refusal with exactly these fields. */
async function expectRefusal(
  socket: WireSocket,
  error: string,
  names: { id?: string; conv_id?: string },
): Promise<void> {
  const waits = error === 'MAILBOX_FULL' ? { retry_after_ms: 3000 } : {}
  expect(await socket.next()).toEqual({
    type: 'error',
    error,
    message: expect.stringMatching(/./),
    ...names,
    ...waits,
  })
}

onEveryEngine((relay) => {
  test('frames between accounts that are not friends are refused, and the refusal does not reveal which accounts exist', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [eve, pending] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    await eve.post('/friends/request', { to_alias_id: pending.alias })
    const [{ socket: eves }, { socket: bobs }] = [await eve.online(), await bob.online()]
    const fresh = crypto.randomUUID()
    const attempts: [string, string][] = [
      [bob.alias, conv], // Another account’s conversation.
      [alice.alias, conv],
      [bob.alias, fresh],
      ['u00000000', fresh], // An unknown alias.
      ['u00000000', conv],
      [eve.alias, fresh], // Oneself.
      [eve.alias, conv],
      [pending.alias, fresh], // Requested, not accepted.
    ]
    for (const [to, where] of attempts) {
      eves.send(message(to, where, 'let me in', 'intrusion'))
      await expectRefusal(eves, 'NOT_FRIENDS', { id: 'intrusion', conv_id: where })
      eves.send({ type: 'retract', id: 'intrusion', to, conv_id: where })
      await expectRefusal(eves, 'NOT_FRIENDS', { id: 'intrusion', conv_id: where })
      eves.send({ type: 'typing', to, conv_id: where })
      await expectRefusal(eves, 'NOT_FRIENDS', { conv_id: where })
    }
    expect(await bobs.untilPong()).toEqual([])
    expect((await alice.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
    // The refusals did not use up the id.
    const own = await befriend(eve, bob)
    eves.send(message(bob.alias, own, 'invited', 'intrusion'))
    expect(await eves.next('ack')).toMatchObject({ id: 'intrusion', seq: 1 })
  })

  test('a message to a friend is accepted only in the conversation with that friend', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const carol = await wireAccount(relay.url)
    const other = await befriend(alice, carol)
    const { socket } = await alice.online()
    const attempts: [WireAccount, string][] = [
      [carol, conv],
      [bob, other],
      [bob, crypto.randomUUID()],
    ]
    for (const [to, where] of attempts) {
      socket.send(message(to.alias, where, 'astray', 'm'))
      await expectRefusal(socket, 'WRONG_CONVERSATION', { id: 'm', conv_id: where })
    }
    for (const account of [bob, carol])
      expect((await account.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
    // The refused messages used no number.
    socket.send(message(bob.alias, conv, 'right', 'm'))
    expect(await socket.next()).toMatchObject({ type: 'ack', seq: 1 })
  })

  test('a refused frame does not affect the other frames or their order', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    socket.send(message(bob.alias, conv, 'x', 'one'))
    socket.send(message('u00000000', conv, 'x', 'bad'))
    socket.send({ ...message(bob.alias, conv, 'x', 'worse'), payload: 'not base64' })
    socket.send(message(bob.alias, conv, 'x', 'two'))
    expect((await socket.take(2, 'ack')).map(({ id, seq }) => [id, seq])).toEqual([
      ['one', 1],
      ['two', 2],
    ])
    const refused = await socket.take(2, 'error')
    expect(refused.map(({ error, id }) => [error, id]).toSorted()).toEqual([
      ['INVALID_FIELD', 'worse'],
      ['NOT_FRIENDS', 'bad'],
    ])
    expect((await bob.online()).backlog.map(({ id }) => id)).toEqual(['one', 'two', undefined])
  })
})

describe('a full mailbox', () => {
  // The account's limit is ten messages, a conversation's limit a fifth of that.
  onEveryEngine(
    (relay) => {
      async function withFriends(count: number) {
        const bob = await wireAccount(relay.url)
        const { socket: bobs } = await bob.online()
        const friends = []
        for (let n = 0; n < count; n++) {
          const account = await wireAccount(relay.url)
          const conv = await befriend(account, bob)
          friends.push({ account, conv, socket: (await account.online()).socket })
        }
        await bobs.close()
        return { bob, friends }
      }

      test('refuses the third message of one conversation, and accepts more once there is room', async () => {
        const { bob, friends } = await withFriends(1)
        const [alice] = friends
        if (!alice) throw new Error('expected one friend')
        for (const id of ['one', 'two']) alice.socket.send(message(bob.alias, alice.conv, id, id))
        await alice.socket.take(2, 'ack')
        alice.socket.send(message(bob.alias, alice.conv, 'three', 'three'))
        await expectRefusal(alice.socket, 'MAILBOX_FULL', { id: 'three', conv_id: alice.conv })
        // A repeated message and a receipt need no room, and a retraction has room of its own.
        alice.socket.send(message(bob.alias, alice.conv, 'one', 'one'))
        expect(await alice.socket.next()).toMatchObject({ type: 'ack', id: 'one', seq: 1 })
        alice.socket.send({ type: 'retract', id: 'unknown', to: bob.alias, conv_id: alice.conv })
        expect(await alice.socket.next()).toMatchObject({ type: 'retract_ack' })

        const { socket: bobs, backlog } = await bob.online()
        expect(backlog.map(({ id }) => id)).toEqual(['one', 'two', 'unknown', undefined])
        bobs.send({ type: 'delivered', conv_id: alice.conv, seq: 1, to: alice.account.alias })
        await alice.socket.next('delivered')
        alice.socket.send(message(bob.alias, alice.conv, 'three', 'three'))
        expect(await alice.socket.next()).toMatchObject({ type: 'ack', id: 'three', seq: 4 })
        expect(await bobs.next('msg')).toMatchObject({ id: 'three', seq: 4 })
      })

      test('has room again after a retraction', async () => {
        const { bob, friends } = await withFriends(1)
        const [alice] = friends
        if (!alice) throw new Error('expected one friend')
        for (let n = 0; n < 6; n++) {
          alice.socket.send(message(bob.alias, alice.conv, 'x', `m${n}`))
          expect(await alice.socket.next('ack')).toMatchObject({ id: `m${n}` })
          alice.socket.send({ type: 'retract', id: `m${n}`, to: bob.alias, conv_id: alice.conv })
          await alice.socket.next('retract_ack')
        }
        expect((await bob.online()).backlog.map(({ type }) => type)).toEqual([
          ...Array(6).fill('retract'),
          'sync_end',
        ])
      })

      test('has room again after an unfriending', async () => {
        const { bob, friends } = await withFriends(1)
        const [alice] = friends
        if (!alice) throw new Error('expected one friend')
        for (let round = 0; round < 3; round++) {
          for (const id of ['one', 'two', 'three'])
            alice.socket.send(message(bob.alias, alice.conv, 'x', `${round}-${id}`))
          const answers = await alice.socket.take(3)
          expect(answers.map(({ type }) => type).toSorted()).toEqual(['ack', 'ack', 'error'])
          const [row] = (await bob.get('/friends')).body
          await bob.bare('DELETE', `/friends/${row.friendship_id}`)
          expect(await befriend(bob, alice.account)).toBe(alice.conv)
          await alice.socket.next('friend_request')
        }
      })

      test('is full for every sender once the account’s limit is reached', async () => {
        const { bob, friends } = await withFriends(6)
        const last = friends.pop()
        for (const { conv, socket } of friends) {
          for (const id of ['one', 'two']) socket.send(message(bob.alias, conv, id, id))
          await socket.take(2, 'ack')
        }
        if (!last) throw new Error('expected six friends')
        last.socket.send(message(bob.alias, last.conv, 'one', 'one'))
        await expectRefusal(last.socket, 'MAILBOX_FULL', { id: 'one', conv_id: last.conv })
        expect((await bob.online()).backlog.at(-1)).toEqual({ type: 'sync_end', count: 10 })
      })
    },
    { LIMIT_MAILBOX_MESSAGES: '10' },
  )
})

describe('a mailbox full of bytes', () => {
  const relay = useRelay({ LIMIT_MAILBOX_BYTES: String(1024 * 1024), LIMIT_PAYLOAD_CHARACTERS: '60000' })

  test('refuses a message that exceeds the fifth of one conversation, with MAILBOX_FULL', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    const payload = 'A'.repeat(60_000)
    for (const id of ['1', '2', '3', '4']) socket.send({ ...message(bob.alias, conv, '', id), payload })
    expect(await socket.take(3, 'ack')).toHaveLength(3)
    await expectRefusal(socket, 'MAILBOX_FULL', { id: '4', conv_id: conv })
    socket.send(message(bob.alias, conv, 'small', '5'))
    expect(await socket.next()).toMatchObject({ type: 'ack', id: '5', seq: 4 })
  })

  test('refuses a payload above the relay’s setting, and names the rule', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    socket.send({ ...message(bob.alias, conv, '', 'm'), payload: 'A'.repeat(60_004) })
    expect(await socket.next()).toEqual({
      type: 'error',
      error: 'INVALID_FIELD',
      message: 'payload must be at most 60000 characters',
      id: 'm',
      conv_id: conv,
    })
  })
})
