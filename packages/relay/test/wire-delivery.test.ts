// Delivery, seen from outside: messages are acknowledged, arrive in order, and are stored until they are
// confirmed. A connection gets its backlog first, then live messages, without a gap.
import { expect, test } from 'bun:test'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { befriend, message, wireAccount, wireFriends } from './wire.ts'

onEveryEngine((relay) => {
  test('an ack and a message have exactly the documented fields', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const before = Date.now()
    alices.send({
      ...message(bob.alias, conv, 'hello', 'm-1'),
      crypto_v: 7,
      from: 'u00000000',
      seq: 99,
      at: 1,
      extra: { a: 1 },
    })
    const ack = await alices.next()
    expect(ack).toEqual({ type: 'ack', id: 'm-1', conv_id: conv, seq: 1, at: expect.any(Number) })
    expect(ack.at).toBeGreaterThanOrEqual(before)
    expect(ack.at).toBeLessThanOrEqual(Date.now())
    expect(await bobs.next()).toEqual({
      ...message(bob.alias, conv, 'hello', 'm-1'),
      crypto_v: 7,
      from: alice.alias,
      seq: 1,
      at: ack.at,
    })
  })

  test('both sides of a conversation share one counter: no number is repeated or skipped, and times never decrease', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const each = 100
    for (let n = 0; n < each; n++) {
      alices.send(message(bob.alias, conv, `${n}`, `a${n}`))
      bobs.send(message(alice.alias, conv, `${n}`, `b${n}`))
    }
    const acks = [...(await alices.take(each, 'ack')), ...(await bobs.take(each, 'ack'))]
    const numbers = acks.map(({ seq }) => seq).toSorted((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 2 * each }, (_, i) => i + 1))
    const times = acks.toSorted((a, b) => a.seq - b.seq).map(({ at }) => at)
    expect(times).toEqual(times.toSorted((a, b) => a - b))

    const [toBob, toAlice] = [await bobs.take(each, 'msg'), await alices.take(each, 'msg')]
    for (const [received, prefix] of [
      [toBob, 'a'],
      [toAlice, 'b'],
    ] as const) {
      expect(received.map(({ id }) => id)).toEqual(Array.from({ length: each }, (_, n) => `${prefix}${n}`))
      expect(received.map(({ seq }) => seq)).toEqual(received.map(({ seq }) => seq).toSorted((a, b) => a - b))
    }
  })

  test('two conversations of one account have separate counters', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const carol = await wireAccount(relay.url)
    const other = await befriend(alice, carol)
    const { socket } = await alice.online()
    for (const [peer, where] of [
      [bob, conv],
      [carol, other],
      [bob, conv],
    ] as const)
      socket.send(message(peer.alias, where, 'x'))
    expect((await socket.take(3, 'ack')).map(({ conv_id, seq }) => [conv_id, seq])).toEqual([
      [conv, 1],
      [other, 1],
      [conv, 2],
    ])
    const { conversations } = (await alice.get('/conversations/active')).body
    expect(
      conversations.toSorted((a: { last_seq: number }, b: { last_seq: number }) => b.last_seq - a.last_seq),
    ).toEqual([
      { conv_id: conv, alias_id: bob.alias, last_seq: 2 },
      { conv_id: other, alias_id: carol.alias, last_seq: 1 },
    ])
  })

  test('a message to an offline account is stored, and sent on every connection until it is confirmed', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    for (const id of ['one', 'two', 'three']) alices.send(message(bob.alias, conv, id, id))
    const acks = await alices.take(3, 'ack')
    for (let round = 0; round < 2; round++) {
      const { socket, backlog } = await bob.online()
      expect(backlog.map(({ id, seq, at }) => ({ id, seq, at }))).toEqual([
        ...acks.map(({ id, seq, at }) => ({ id, seq, at })),
        { id: undefined, seq: undefined, at: undefined },
      ])
      expect(backlog.at(-1)).toEqual({ type: 'sync_end', count: 3 })
      await socket.close() // A message written to a socket does not count as delivered.
    }
    const { socket } = await bob.online()
    socket.send({ type: 'delivered', conv_id: conv, seq: 2, to: alice.alias })
    await alices.next('delivered')
    await socket.close()
    const { socket: last, backlog } = await bob.online()
    expect(backlog.map(({ id }) => id)).toEqual(['three', undefined])
    last.send({ type: 'read', conv_id: conv, seq: 3, to: alice.alias })
    await alices.next('read')
    await last.close()
    expect((await bob.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
  })

  test('the first sync of a connection repeats nothing; a later sync sends every unconfirmed message again', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    for (const id of ['one', 'two', 'three']) alices.send(message(bob.alias, conv, id, id))
    await alices.take(3, 'ack')
    const socket = await bob.connect()
    await socket.untilSynced()
    socket.send({ type: 'sync', crypto_v: 1, last_seq: 'ignored' })
    expect(await socket.untilSynced()).toEqual([{ type: 'sync_end', count: 0 }])
    alices.send(message(bob.alias, conv, 'four', 'four'))
    expect(await socket.next()).toMatchObject({ id: 'four' })
    socket.send({ type: 'delivered', conv_id: conv, seq: 1, to: alice.alias })
    await alices.next('delivered')
    for (let again = 0; again < 2; again++) {
      socket.send({ type: 'sync' })
      const frames = await socket.untilSynced()
      expect(frames.map(({ id, type, count }) => id ?? [type, count])).toEqual([
        'two',
        'three',
        'four',
        ['sync_end', 3],
      ])
    }
    expect(await socket.untilPong()).toEqual([])
  })

  test('a client that sends sync at once, as published clients do, gets the backlog once, oldest first', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    const ids = Array.from({ length: 250 }, (_, n) => `m${n}`)
    for (const id of ids) alices.send(message(bob.alias, conv, id, id))
    await alices.take(ids.length, 'ack')
    for (let round = 0; round < 3; round++) {
      const socket = await bob.connectByToken()
      socket.send({ type: 'sync', crypto_v: 1 })
      socket.send({ type: 'ping' })
      await socket.next('pong')
      const frames = await socket.untilSynced()
      // The sync may arrive during the backlog or after it. Both ways it ends with sync_end and repeats
      // nothing.
      const rest = await socket.untilPong()
      const messages = [...frames, ...rest].filter(({ type }) => type === 'msg')
      expect(messages.map(({ id }) => id)).toEqual(ids)
      expect(rest.every(({ type, count }) => type === 'sync_end' && count === 0)).toBe(true)
      await socket.close()
    }
  })

  test('the change from backlog to live messages makes no gap, no repetition and no reordering while friends keep sending', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const carol = await wireAccount(relay.url)
    const other = await befriend(carol, bob)
    const [{ socket: alices }, { socket: carols }] = [await alice.online(), await carol.online()]
    const each = 600
    const sending = [
      { socket: alices, conv, name: 'a' },
      { socket: carols, conv: other, name: 'c' },
    ].map(async (from) => {
      for (let n = 0; n < each; n++) {
        from.socket.send(message(bob.alias, from.conv, 'x', `${from.name}${n}`))
        if (n % 20 === 0) await from.socket.next('ack')
      }
    })
    await alices.next('ack')
    const reached = new Map([
      [conv, -1],
      [other, -1],
    ])
    const confirmed = new Map([
      [conv, -1],
      [other, -1],
    ])
    // On each connection the numbers go up one by one. They start right after the last confirmed message or
    // earlier. Only messages that are confirmed may be left out.
    const follow = (frames: { type: string; conv_id: string; id: string }[]): void => {
      const onThisConnection = new Map<string, number>()
      for (const { type, conv_id, id } of frames) {
        if (type !== 'msg') continue
        const n = Number(id.slice(1))
        const previous = onThisConnection.get(conv_id) ?? -1
        expect(n).toBeGreaterThan(previous)
        expect(n - 1).toBeLessThanOrEqual(Math.max(previous, confirmed.get(conv_id) ?? -1))
        onThisConnection.set(conv_id, n)
        reached.set(conv_id, Math.max(reached.get(conv_id) ?? -1, n))
      }
    }
    for (let round = 0; round < 4; round++) {
      // Each connection replaces the previous one in the middle of the stream and confirms what it received.
      const { socket, backlog } = await bob.online()
      const frames = [...backlog, ...(await socket.during(40))]
      for (const { type, conv_id, seq } of frames) {
        if (type === 'msg') socket.send({ type: 'delivered', conv_id, seq, to: alice.alias })
      }
      follow([...frames, ...(await socket.untilPong())])
      for (const { type, conv_id, id } of frames)
        if (type === 'msg') confirmed.set(conv_id, Number(id.slice(1)))
      await socket.close()
    }
    await Promise.all(sending)
    const { socket, backlog } = await bob.online()
    const rest = backlog
    const isWhole = (where: string, name: string) =>
      reached.get(where) === each - 1 || rest.some(({ id }) => id === `${name}${each - 1}`)
    while (!isWhole(conv, 'a') || !isWhole(other, 'c')) rest.push(await socket.next('msg'))
    follow(rest)
    expect([...reached.values()]).toEqual([each - 1, each - 1])
  })

  test('every sync during a stream gets a sync_end, and the messages stay in order', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const count = 300
    for (let n = 0; n < count; n++) {
      alices.send(message(bob.alias, conv, 'x', String(n)))
      if (n % 30 === 0) bobs.send({ type: 'sync' })
    }
    await alices.take(count, 'ack')
    for (let ends = 0; ends < 10; ends++) await bobs.next('sync_end')
    // What the last sync left to be read may come after a pong.
    const ids: number[] = []
    do for (const { type, id } of await bobs.untilPong()) if (type === 'msg') ids.push(Number(id))
    while (ids.at(-1) !== count - 1)
    // Each sync may start over from the first message. Every run has no gap, and the last run reaches the
    // end.
    const starts = ids.flatMap((id, i) => (i === 0 || id <= (ids[i - 1] ?? 0) ? [i] : []))
    for (const [index, start] of starts.entries()) {
      const run = ids.slice(start, starts[index + 1])
      expect(run).toEqual(Array.from({ length: run.length }, (_, i) => i))
    }
    expect(ids.at(-1)).toBe(count - 1)
    expect(bobs.frames).toEqual([])
  })

  test('typing is forwarded to a connected friend, dropped otherwise, and never stored', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    alices.send({ type: 'typing', to: bob.alias, conv_id: conv })
    expect(await alices.untilPong()).toEqual([])
    const { socket: bobs, backlog } = await bob.online()
    // The relay may just have looked up whom the first notice is for when Bob connected.
    expect(backlog.filter(({ type }) => type !== 'typing')).toEqual([{ type: 'sync_end', count: 0 }])
    alices.send({ type: 'typing', to: bob.alias, conv_id: conv, from: bob.alias, note: 'ignored' })
    expect(await bobs.next()).toEqual({ type: 'typing', to: bob.alias, conv_id: conv, from: alice.alias })
    await bobs.close()
    expect((await bob.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
  })

  test('a payload of the maximum length arrives unchanged', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const payload = Buffer.alloc(49_152, 0xa5).toString('base64')
    expect(payload.length).toBe(65_536)
    alices.send({ ...message(bob.alias, conv, ''), payload })
    expect((await bobs.next('msg')).payload).toBe(payload)
  })

  test('an acknowledged message is delivered after a restart', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    for (const id of ['one', 'two']) alices.send(message(bob.alias, conv, id, id))
    const acks = await alices.take(2, 'ack')
    expect(await relay.process.kill('SIGTERM')).toBe(0)
    expect((await alices.closed).code).toBe(1012)
    await relay.process.start()
    const { backlog } = await bob.online()
    expect(backlog.slice(0, -1).map(({ id, seq, at }) => ({ id, seq, at }))).toEqual(
      acks.map(({ id, seq, at }) => ({ id, seq, at })),
    )
  })
})

const unlimited = useRelay({ LIMIT_CONVERSATION_PERCENT: '100' })

test('a client that confirms while it reads gets thousands of messages in order, each once', async () => {
  const { alice, bob, conv } = await wireFriends(unlimited.url)
  const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
  const count = 3000
  for (let n = 0; n < count; n++) alices.send(message(bob.alias, conv, 'x', String(n)))
  for (let n = 0; n < count; n++) {
    const { id, seq } = await bobs.next('msg')
    if (id !== String(n)) expect(id).toBe(String(n))
    if (n % 50 === 49) bobs.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
  }
  await alices.take(count, 'ack')
  expect(await bobs.untilPong()).toEqual([])
})
