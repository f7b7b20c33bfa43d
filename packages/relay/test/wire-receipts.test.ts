// Receipts and retractions, seen from outside: a receipt is forwarded if it advances the mark, and both are
// kept for offline accounts.
import { expect, test } from 'bun:test'
import { onEveryEngine } from './use-relay.ts'
import { befriend, message, wireAccount, wireFriends } from './wire.ts'

/** How long the marks wait for the first `sync`. */
const FIRST_SYNC_MS = 1000

onEveryEngine((relay) => {
  /** Two friends; Bob has received these messages from Alice and not confirmed them. */
  async function withMessages(count: number) {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    for (let n = 1; n <= count; n++) alices.send(message(bob.alias, conv, 'x', `m${n}`))
    await alices.take(count, 'ack')
    await bobs.take(count, 'msg')
    const receipt = (type: string, seq: number, to = alice.alias) => ({ type, conv_id: conv, seq, to })
    return { alice, bob, conv, alices, bobs, receipt }
  }

  test('a receipt is forwarded with exactly its fields, and only if it advances the mark', async () => {
    const { alice, bob, conv, alices, bobs, receipt } = await withMessages(3)
    const forwarded = (type: string, seq: number) => ({
      type,
      conv_id: conv,
      seq,
      to: alice.alias,
      from: bob.alias,
    })
    bobs.send({ ...receipt('delivered', 2), crypto_v: 1, from: 'u00000000', id: 'ignored' })
    expect(await alices.next()).toEqual(forwarded('delivered', 2))
    for (const seq of [2, 1]) bobs.send(receipt('delivered', seq)) // Neither advances the mark.
    bobs.send(receipt('read', 1))
    expect(await alices.next()).toEqual(forwarded('read', 1))
    bobs.send(receipt('read', 1))
    bobs.send(receipt('read', 3))
    expect(await alices.next()).toEqual(forwarded('read', 3)) // `read` implies that 3 was delivered.
    bobs.send(receipt('delivered', 3))
    expect(await bobs.untilPong()).toEqual([])
    bobs.send(message(alice.alias, conv, 'after', 'after'))
    expect(await alices.next()).toMatchObject({ type: 'msg', id: 'after' })
  })

  test('a receipt is checked by its conversation only: `to` may be any alias', async () => {
    const { alice, bob, alices, bobs, receipt } = await withMessages(1)
    bobs.send(receipt('read', 1, 'an_alias_of_old'))
    expect(await alices.next()).toMatchObject({ type: 'read', seq: 1, to: alice.alias, from: bob.alias })
  })

  test('a receipt for a number that does not exist is SEQ_UNKNOWN and changes nothing', async () => {
    const { conv, alices, bobs, receipt } = await withMessages(2)
    for (const type of ['delivered', 'read']) {
      bobs.send(receipt(type, 3))
      expect(await bobs.next()).toEqual({
        type: 'error',
        error: 'SEQ_UNKNOWN',
        message: expect.stringMatching(/^seq /),
        conv_id: conv,
      })
    }
    bobs.send(receipt('delivered', Number.MAX_SAFE_INTEGER))
    expect(await bobs.next()).toMatchObject({ error: 'SEQ_UNKNOWN' })
    bobs.send(receipt('delivered', 2))
    expect(await alices.next()).toMatchObject({ type: 'delivered', seq: 2 })
  })

  test('a receipt in another account’s conversation, or in an unknown one, is WRONG_CONVERSATION', async () => {
    const { alice, conv, alices } = await withMessages(1)
    const eve = await wireAccount(relay.url)
    const { socket } = await eve.online()
    for (const conv_id of [conv, crypto.randomUUID()]) {
      socket.send({ type: 'read', conv_id, seq: 1, to: alice.alias })
      expect(await socket.next()).toMatchObject({ type: 'error', error: 'WRONG_CONVERSATION', conv_id })
    }
    expect(await alices.untilPong()).toEqual([])
  })

  test('a receipt for one’s own messages does not confirm the peer’s messages', async () => {
    const { alice, bob, conv, alices, bobs } = await withMessages(2)
    alices.send({ type: 'read', conv_id: conv, seq: 2, to: bob.alias }) // Both messages are Alice’s.
    expect(await bobs.next()).toMatchObject({ type: 'read', seq: 2, from: alice.alias })
    await bobs.close()
    const { backlog } = await bob.online()
    expect(backlog.map(({ type }) => type)).toEqual(['msg', 'msg', 'read', 'sync_end'])
  })

  test('receipts are accepted after unfriending and forwarded to the peer', async () => {
    const { alice, bob, alices, bobs, receipt } = await withMessages(2)
    const [row] = (await alice.get('/friends')).body
    await alice.bare('DELETE', `/friends/${row.friendship_id}`)
    bobs.send(receipt('read', 2))
    expect(await alices.next()).toMatchObject({ type: 'read', seq: 2, from: bob.alias })
    expect(await bobs.untilPong()).toEqual([])
  })

  test('for an offline account the highest mark of each kind is kept per conversation', async () => {
    const { alice, bob, conv, alices, bobs, receipt } = await withMessages(5)
    await alices.close()
    for (const [type, seq] of [
      ['delivered', 1],
      ['delivered', 3],
      ['read', 2],
      ['delivered', 5],
      ['read', 4],
    ] as const) {
      bobs.send(receipt(type, seq))
    }
    bobs.send(message(alice.alias, conv, 'x', 'marker'))
    await bobs.next('ack')
    for (let isInTime = false; !isInTime; ) {
      const startedAt = performance.now()
      const { socket, backlog } = await alice.online()
      // A slow machine may need the second after which a connection is taken for that of an older client.
      isInTime = performance.now() - startedAt < FIRST_SYNC_MS
      if (isInTime)
        expect(backlog).toEqual([
          expect.objectContaining({ type: 'msg', id: 'marker' }),
          { type: 'delivered', conv_id: conv, seq: 5, to: alice.alias, from: bob.alias },
          { type: 'read', conv_id: conv, seq: 4, to: alice.alias, from: bob.alias },
          { type: 'sync_end', count: 3 },
        ])
      await socket.close()
    }
  })

  test('a retraction has exactly the documented fields and the next number, and is answered by retract_ack', async () => {
    const { alice, bob, conv, alices, bobs } = await withMessages(1)
    alices.send({ type: 'retract', id: 'm1', to: bob.alias, conv_id: conv, extra: true })
    expect(await alices.next()).toEqual({ type: 'retract_ack', id: 'm1', conv_id: conv })
    expect(await bobs.next()).toEqual({
      type: 'retract',
      id: 'm1',
      to: bob.alias,
      conv_id: conv,
      from: alice.alias,
      seq: 2,
      at: expect.any(Number),
    })
    // A repeated retraction gets the same answer and is not forwarded.
    alices.send({ type: 'retract', id: 'm1', to: bob.alias, conv_id: conv })
    expect(await alices.next()).toEqual({ type: 'retract_ack', id: 'm1', conv_id: conv })
    alices.send(message(bob.alias, conv, 'next', 'm2'))
    expect(await alices.next()).toMatchObject({ type: 'ack', seq: 3 })
    expect(await bobs.next()).toMatchObject({ type: 'msg', id: 'm2', seq: 3 })
  })

  test('a retraction deletes the undelivered message at once; an offline recipient gets only the retraction', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    for (const id of ['stays', 'goes']) socket.send(message(bob.alias, conv, id, id))
    socket.send({ type: 'retract', id: 'goes', to: bob.alias, conv_id: conv })
    await socket.next('retract_ack')
    const { backlog } = await bob.online()
    expect(backlog.map(({ type, id, seq }) => [type, id, seq])).toEqual([
      ['msg', 'stays', 1],
      ['retract', 'goes', 3],
      ['sync_end', undefined, undefined],
    ])
  })

  test('a retraction of an unknown id leaves a tombstone: if the message arrives later, it is not delivered', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    alices.send({ type: 'retract', id: 'early', to: bob.alias, conv_id: conv })
    expect(await alices.next()).toEqual({ type: 'retract_ack', id: 'early', conv_id: conv })
    expect(await bobs.next()).toMatchObject({ type: 'retract', id: 'early', seq: 1 })
    alices.send(message(bob.alias, conv, 'too late', 'early'))
    expect(await alices.next()).toEqual({
      type: 'ack',
      id: 'early',
      conv_id: conv,
      seq: 1,
      at: expect.any(Number),
    })
    alices.send(message(bob.alias, conv, 'next', 'next'))
    expect(await bobs.next()).toMatchObject({ type: 'msg', id: 'next', seq: 2 })
  })

  test('only the sender can retract a message: for the peer it is NOT_YOUR_MESSAGE, and the message stays', async () => {
    const { alice, bob, conv, alices, bobs } = await withMessages(1)
    bobs.send({ type: 'retract', id: 'm1', to: alice.alias, conv_id: conv })
    expect(await bobs.next()).toEqual({
      type: 'error',
      error: 'NOT_YOUR_MESSAGE',
      message: expect.any(String),
      id: 'm1',
      conv_id: conv,
    })
    expect(await alices.untilPong()).toEqual([])
    await bobs.close()
    expect((await bob.online()).backlog).toMatchObject([
      { type: 'msg', id: 'm1' },
      { type: 'sync_end', count: 1 },
    ])
  })

  test('a retraction must name the conversation its message was sent in', async () => {
    const { alice, bob, conv, alices } = await withMessages(1)
    const carol = await wireAccount(relay.url)
    const other = await befriend(alice, carol)
    await alices.next('friend_accepted')
    const refusals = [
      [{ id: 'm1', to: carol.alias, conv_id: other }, 'ID_REUSED'],
      [{ id: 'm1', to: bob.alias, conv_id: other }, 'WRONG_CONVERSATION'],
      [{ id: 'm1', to: carol.alias, conv_id: conv }, 'WRONG_CONVERSATION'],
      [{ id: 'm1', to: 'u00000000', conv_id: conv }, 'NOT_FRIENDS'],
    ] as const
    for (const [frame, error] of refusals) {
      alices.send({ type: 'retract', ...frame })
      expect(await alices.next()).toMatchObject({ type: 'error', error, id: 'm1', conv_id: frame.conv_id })
    }
    expect((await bob.online()).backlog.map(({ type }) => type)).toEqual(['msg', 'sync_end'])
  })
})
