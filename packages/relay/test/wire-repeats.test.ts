// Published clients send everything again on every reconnect. Each frame gets its answer, and the peer sees
// nothing.
import { describe, expect, test } from 'bun:test'
import { onEveryEngine } from './use-relay.ts'
import { befriend, message, wireAccount, wireFriends } from './wire.ts'

onEveryEngine((relay) => {
  test('a repeated message gets the same seq and at, even with another payload, and is not delivered again', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    alices.send(message(bob.alias, conv, 'first', 'm'))
    const ack = await alices.next()
    expect(await bobs.next()).toMatchObject({ id: 'm' })
    for (const more of [
      {},
      { payload: Buffer.from('encrypted again').toString('base64') },
      { crypto_v: 9 },
      { to: 'an_old_alias' },
    ]) {
      alices.send({ ...message(bob.alias, conv, 'first', 'm'), ...more })
      expect(await alices.next()).toEqual(ack)
    }
    alices.send(message(bob.alias, conv, 'next', 'n'))
    expect(await alices.next()).toMatchObject({ type: 'ack', id: 'n', seq: 2 })
    expect(await bobs.next()).toMatchObject({ id: 'n', seq: 2 })
    expect((await bob.get('/conversations/active')).body.conversations[0].last_seq).toBe(2)
  })

  test('many messages with the same id at once are stored once', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    for (let n = 0; n < 20; n++) socket.send(message(bob.alias, conv, `take ${n}`, 'same'))
    const acks = await socket.take(20, 'ack')
    expect(new Set(acks.map((ack) => JSON.stringify(ack))).size).toBe(1)
    const { backlog } = await bob.online()
    expect(backlog.map(({ id, payload }) => [id, payload && atob(payload)])).toEqual([
      ['same', 'take 0'],
      [undefined, undefined],
    ])
  })

  test('after the ack of a repeated message the conversation’s marks are sent again, so that the client shows the right status', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    for (const id of ['one', 'two', 'three']) alices.send(message(bob.alias, conv, id, id))
    const acks = await alices.take(3, 'ack')
    const mark = (type: string, seq: number) => ({
      type,
      conv_id: conv,
      seq,
      to: alice.alias,
      from: bob.alias,
    })

    alices.send(message(bob.alias, conv, 'one', 'one'))
    expect(await alices.next()).toEqual(acks[0])
    expect(await alices.untilPong()).toEqual([]) // Nothing was confirmed yet.

    bobs.send({ type: 'read', conv_id: conv, seq: 1, to: alice.alias })
    bobs.send({ type: 'delivered', conv_id: conv, seq: 3, to: alice.alias })
    expect((await alices.take(2)).toSorted((a, b) => a.seq - b.seq)).toEqual([
      mark('read', 1),
      mark('delivered', 3),
    ])

    alices.send(message(bob.alias, conv, 'one', 'one'))
    expect(await alices.next()).toEqual(acks[0])
    expect(await alices.take(2)).toEqual([mark('delivered', 3), mark('read', 1)])

    bobs.send({ type: 'read', conv_id: conv, seq: 3, to: alice.alias })
    expect(await alices.next()).toEqual(mark('read', 3))
    alices.send(message(bob.alias, conv, 'two', 'two'))
    expect(await alices.take(2)).toEqual([acks[1], mark('read', 3)]) // `read` implies `delivered`.
    expect(await bobs.untilPong()).not.toContainEqual(
      expect.objectContaining({ type: 'msg', id: 'two', seq: 4 }),
    )
  })

  test('a whole reconnect (connect, sync, send everything again) gets the same acks, then the marks, and Bob sees nothing', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const first = await alice.connectByToken()
    const { socket: bobs } = await bob.online()
    const ids = Array.from({ length: 40 }, (_, n) => `m${n}`)
    for (const id of ids) first.send(message(bob.alias, conv, id, id))
    const acks = await first.take(40, 'ack')
    await bobs.take(40, 'msg')
    bobs.send({ type: 'delivered', conv_id: conv, seq: 40, to: alice.alias })
    await first.next('delivered')
    bobs.send({ type: 'read', conv_id: conv, seq: 40, to: alice.alias })
    await first.next('read')
    await first.close()

    for (let round = 0; round < 2; round++) {
      const again = await alice.connectByToken()
      again.send({ type: 'sync', crypto_v: 1 })
      for (const id of ids) again.send(message(bob.alias, conv, `again ${round}`, id))
      expect(await again.take(40, 'ack')).toEqual(acks)
      // The marks may also arrive before the acks. After the last ack they are sent again.
      again.frames.splice(0)
      expect(await again.next('read')).toMatchObject({ seq: 40 })
      await again.close()
    }
    expect(await bobs.untilPong()).toEqual([])
    expect((await bob.get('/conversations/active')).body.conversations).toMatchObject([
      { conv_id: conv, last_seq: 40 },
    ])
  })

  test('with two conversations, each repeated message is followed by the marks of its conversation', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const carol = await wireAccount(relay.url)
    const other = await befriend(alice, carol)
    const { socket } = await alice.online()
    for (const [peer, where, id] of [
      [bob, conv, 'to-bob'],
      [carol, other, 'to-carol'],
    ] as const) {
      socket.send(message(peer.alias, where, 'x', id))
      await socket.next('ack')
      const { socket: peers } = await peer.online()
      peers.send({ type: 'read', conv_id: where, seq: 1, to: alice.alias })
      await socket.next('read')
    }
    socket.send(message(bob.alias, conv, 'x', 'to-bob'))
    socket.send(message(carol.alias, other, 'x', 'to-carol'))
    const frames = await socket.take(4)
    for (const where of [conv, other]) {
      expect(frames.filter(({ conv_id }) => conv_id === where).map(({ type }) => type)).toEqual([
        'ack',
        'read',
      ])
    }
  })

  test('a repeated message gets its ack after a retraction, after delivery and after unfriending', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    for (const id of ['kept', 'retracted']) alices.send(message(bob.alias, conv, id, id))
    const acks = await alices.take(2, 'ack')
    alices.send({ type: 'retract', id: 'retracted', to: bob.alias, conv_id: conv })
    await alices.next('retract_ack')
    const repeat = async () => {
      for (const id of ['kept', 'retracted']) alices.send(message(bob.alias, conv, 'again', id))
      expect(await alices.take(2, 'ack')).toEqual(acks)
    }
    await repeat()
    bobs.send({ type: 'delivered', conv_id: conv, seq: 3, to: alice.alias })
    await alices.next('delivered')
    await repeat()
    await alice.bare('DELETE', `/friends/${(await alice.get('/friends')).body[0].friendship_id}`)
    await repeat()
    const seen = (await bobs.untilPong()).map(({ type, id }) => [type, id])
    expect(seen).toEqual([
      ['msg', 'kept'],
      ['msg', 'retracted'],
      ['retract', 'retracted'],
    ])
  })

  test('both sides may use the same id; one sender may use it in one conversation only', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const carol = await wireAccount(relay.url)
    const other = await befriend(alice, carol)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    alices.send(message(bob.alias, conv, 'x', 'shared'))
    expect(await alices.next()).toMatchObject({ type: 'ack', seq: 1 })
    bobs.send(message(alice.alias, conv, 'x', 'shared'))
    expect(await bobs.next('ack')).toMatchObject({ id: 'shared', seq: 2 })
    alices.send(message(carol.alias, other, 'x', 'shared'))
    expect(await alices.next('error')).toEqual({
      type: 'error',
      error: 'ID_REUSED',
      message: expect.any(String),
      id: 'shared',
      conv_id: other,
    })
    expect((await carol.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
  })
})

describe('ids', () => {
  onEveryEngine((relay) => {
    test('with every printable character, or of the maximum length, are stored unchanged', async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const { socket } = await alice.online()
      const printable = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')
      const ids = [printable, 'x'.repeat(128), '0', "';--", '__proto__', 'constructor', 'toString']
      for (const id of [...ids, ...ids]) socket.send(message(bob.alias, conv, 'x', id))
      const acks = await socket.take(2 * ids.length, 'ack')
      expect(acks.map(({ id, seq }) => [id, seq])).toEqual(
        [...ids, ...ids].map((id) => [id, ids.indexOf(id) + 1]),
      )
      expect((await bob.online()).backlog.slice(0, -1).map(({ id }) => id)).toEqual(ids)
    })
  })
})
