// Messages of `crypto_v` 3 and the epochs of conversations, as any client sees them.
import { expect, test } from 'bun:test'
import { onEveryEngine } from './use-relay.ts'
import { handshake, message, messageIn, wireAccount, wireFriends } from './wire.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

onEveryEngine((relay) => {
  /** Two friends whose clients read version 3. `say` sends a frame of one of them, and takes its answer. */
  const pair = async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [
      await alice.online({ crypto_v: 3 }),
      await bob.online({ crypto_v: 3 }),
    ]
    const ask = async (socket: typeof alices, frame: Record<string, unknown>) => {
      socket.send(frame)
      const others: unknown[] = []
      for (;;) {
        const answer = await socket.next()
        if (['ack', 'retract_ack', 'error'].includes(answer.type)) {
          socket.frames.unshift(...others)
          return answer
        }
        others.push(answer)
      }
    }
    const group = (account: typeof alice) => account.get(`/conversations/${conv}/group`)
    return { alice, bob, conv, alices, bobs, ask, group }
  }

  test('a handshake ends the epoch that it names, and the recipient learns both', async () => {
    const { alice, bob, conv, alices, bobs, ask, group } = await pair()
    expect((await group(bob)).body).toEqual({ epoch: 0 })
    const began = await ask(alices, handshake(bob.alias, conv, 0, { id: 'h1', info: 'info 1' }))
    expect(began).toEqual({ type: 'ack', id: 'h1', conv_id: conv, seq: 1, at: expect.any(Number) })
    expect(await bobs.next('msg')).toEqual({
      ...{ type: 'msg', id: 'h1', to: bob.alias, from: alice.alias, conv_id: conv, crypto_v: 3 },
      ...{ payload: base64('h1'), seq: 1, at: began.at, epoch: 0, handshake: true },
    })
    expect(await ask(bobs, messageIn(1, alice.alias, conv, 'b1'))).toMatchObject({ type: 'ack', seq: 2 })
    const { handshake: isHandshake, ...received } = await alices.next('msg')
    expect(received).toMatchObject({ id: 'b1', crypto_v: 3, epoch: 1 })
    expect(isHandshake).toBeUndefined()
    for (const [each, sent_seq] of [
      [alice, 1],
      [bob, 2],
    ] as const)
      expect((await group(each)).body).toEqual({ epoch: 1, group_info: base64('info 1'), sent_seq })
  })

  test('of two who begin at once one wins; the other gets the epoch, and goes on in it under the same id', async () => {
    const { alice, bob, conv, alices, bobs, ask, group } = await pair()
    for (let epoch = 0; epoch < 5; epoch++) {
      const answers = await Promise.all([
        ask(alices, handshake(bob.alias, conv, epoch, { id: `a${epoch}`, info: 'by alice' })),
        ask(bobs, handshake(alice.alias, conv, epoch, { id: `b${epoch}`, info: 'by bob' })),
      ])
      expect(answers.map(({ type }) => type).sort()).toEqual(['ack', 'error'])
      const lost = answers.find(({ type }) => type === 'error')
      const loser = answers.indexOf(lost) === 0 ? 'a' : 'b'
      expect(lost).toEqual({
        ...{ type: 'error', error: 'EPOCH_STALE', message: expect.any(String) },
        ...{ id: `${loser}${epoch}`, conv_id: conv, epoch: epoch + 1 },
      })
      const winner = loser === 'a' ? 'by bob' : 'by alice'
      expect((await group(alice)).body).toMatchObject({ epoch: epoch + 1, group_info: base64(winner) })
    }
    const stale = messageIn(4, bob.alias, conv, 'a-last')
    expect(await ask(alices, stale)).toMatchObject({ error: 'EPOCH_STALE', id: 'a-last', epoch: 5 })
    const accepted = await ask(alices, { ...stale, epoch: 5 })
    expect(accepted).toMatchObject({ type: 'ack', id: 'a-last' })
    // The repeat of an accepted message is answered as at first, in whatever epoch.
    expect(await ask(alices, handshake(bob.alias, conv, 5))).toMatchObject({ type: 'ack' })
    for (const epoch of [4, 5, 6]) expect(await ask(alices, { ...stale, epoch })).toEqual(accepted)
  })

  test('a frame with the wrong fields is refused, says which, and changes nothing', async () => {
    const { bob, conv, alices, ask, group } = await pair()
    const v3 = messageIn(0, bob.alias, conv, 'a1')
    const { epoch: _, ...without } = v3
    const long = 'A'.repeat(65_540)
    for (const [frame, said] of [
      [without, 'epoch must be given with crypto_v 3'],
      [{ ...without, group_info: 'AAAA' }, 'epoch must be given with crypto_v 3'],
      ...[-1, 1.5, '0', null, 2 ** 53].map((epoch) => [{ ...v3, epoch }, 'epoch must be an integer from 0']),
      [{ ...v3, group_info: '' }, 'group_info must not be empty'],
      [{ ...v3, group_info: 'not Base64' }, 'group_info must be Base64 with padding'],
      [{ ...v3, group_info: long }, 'group_info must be at most 65536 characters'],
      [{ ...message(bob.alias, conv, 'x', 'a1'), epoch: 0 }, 'epoch must only be given with crypto_v 3'],
      [
        { ...message(bob.alias, conv, 'x', 'a1'), crypto_v: 2, group_info: 'AAAA' },
        'group_info must only be given with crypto_v 3',
      ],
    ] as [Record<string, unknown>, string][])
      expect(await ask(alices, frame)).toEqual({
        ...{ type: 'error', error: 'INVALID_FIELD', message: said, id: 'a1', conv_id: conv },
      })
    for (const crypto_v of [0, 256, '3', 2.5]) {
      alices.send({ type: 'sync', crypto_v })
      expect(await alices.next('error')).toMatchObject({
        error: 'INVALID_FIELD',
        message: 'crypto_v must be an integer from 1 to 255',
      })
    }
    expect((await group(bob)).body).toEqual({ epoch: 0 })
    expect(await ask(alices, v3)).toMatchObject({ type: 'ack', seq: 1 })
  })

  test('the largest handshake fits into a frame', async () => {
    const { bob, conv, alices, bobs, ask, group } = await pair()
    const largest = 'A'.repeat(65_536)
    const frame = { ...messageIn(0, bob.alias, conv), payload: largest, group_info: largest }
    expect(await ask(alices, frame)).toMatchObject({ type: 'ack' })
    expect((await bobs.next('msg')).payload).toHaveLength(65_536)
    expect((await group(bob)).body.group_info).toHaveLength(65_536)
  })

  test('a handshake cannot be retracted; a message of version 3 can', async () => {
    const { bob, conv, alices, bobs, ask } = await pair()
    await ask(alices, handshake(bob.alias, conv, 0, { id: 'h1' }))
    await ask(alices, messageIn(1, bob.alias, conv, 'a1'))
    const retract = (id: string) => ask(alices, { type: 'retract', id, to: bob.alias, conv_id: conv })
    expect(await retract('h1')).toMatchObject({ error: 'NOT_RETRACTABLE', id: 'h1', conv_id: conv })
    expect(await retract('a1')).toMatchObject({ type: 'retract_ack', id: 'a1' })
    expect((await bobs.take(3)).map(({ type, id }) => `${type} ${id}`)).toEqual([
      ...['msg h1', 'msg a1', 'retract a1'],
    ])
  })

  test('what is taken back holds up an older client no more', async () => {
    const { alice, bob, conv, alices, ask } = await pair()
    await bob.login() // The token of a connection that was replaced opens no other.
    const { socket: older } = await bob.online({ receipts: 'by_seq' })
    await ask(alices, handshake(bob.alias, conv, 0, { id: 'h1' }))
    await ask(alices, messageIn(1, bob.alias, conv, 'a1'))
    await ask(alices, message(bob.alias, conv, 'older', 'older'))
    older.send({ type: 'ping' })
    expect((await older.next()).type).toBe('pong')

    const answer = await alice.post(`/conversations/${conv}/withdraw`, undefined)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        messages: [
          { id: 'h1', seq: 1 },
          { id: 'a1', seq: 2 },
        ],
      },
    ])
    expect(await older.next()).toMatchObject({ type: 'msg', id: 'older', seq: 3 })
    for (const [id, seq] of [
      ['h1', 1],
      ['a1', 2],
    ] as const)
      expect(await alices.next()).toMatchObject({ type: 'error', error: 'WITHDRAWN', id, conv_id: conv, seq })
    older.send({ type: 'delivered', conv_id: conv, seq: 3, to: alice.alias })
    expect(await alices.next('delivered')).toMatchObject({ seq: 3 })
    expect((await bob.post(`/conversations/${conv}/withdraw`, undefined)).body).toEqual({ messages: [] })
  })

  test('only the two of an open conversation get its group', async () => {
    const { alice, bob, conv, alices, ask, group } = await pair()
    await ask(alices, handshake(bob.alias, conv, 0))
    const stranger = await wireAccount(relay.url)
    const missing = await stranger.get(`/conversations/${crypto.randomUUID()}/group`)
    expect(missing.status).toBe(404)
    const answer = await group(stranger)
    expect([answer.status, answer.text]).toEqual([404, missing.text])
    const [{ friendship_id }] = (await alice.get('/friends')).body
    await bob.bare('DELETE', `/friends/${friendship_id}`)
    expect((await group(alice)).status).toBe(404)
  })

  test('an incarnation is told to those who announce version 3, and stays the same', async () => {
    const { alice, bob } = await pair()
    const told: unknown[] = []
    for (const account of [alice, bob, alice]) {
      await account.login() // The token of a connection that was replaced opens no other.
      told.push((await account.online({ crypto_v: 3 })).backlog.at(-1).incarnation)
    }
    const [first, ...others] = told
    expect(first).toMatch(/^[0-9a-f]{16}$/)
    expect(others).toEqual([first, first])
    expect((await alice.online()).backlog.at(-1)).toEqual({ type: 'sync_end', count: 0 })
  })
})
