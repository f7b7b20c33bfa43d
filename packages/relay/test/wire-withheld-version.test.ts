// What a client cannot read waits on its connection, is never lost by what the client confirms, and holds up
// no other conversation.
import { expect, test } from 'bun:test'
import { onEveryEngine } from './use-relay.ts'
import { befriend, handshake, message, messageIn, type WireSocket, wireAccount } from './wire.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests check the fields of any frame themselves
const idsOf = (frames: any[]): string[] => frames.filter(({ type }) => type === 'msg').map(({ id }) => id)

onEveryEngine((relay) => {
  /** Bob, whose friends Alice and Carol write to him. */
  const people = async () => {
    const [alice, bob, carol] = [
      await wireAccount(relay.url),
      await wireAccount(relay.url),
      await wireAccount(relay.url),
    ]
    const [conv, other] = [await befriend(alice, bob), await befriend(carol, bob)]
    const [{ socket: alices }, { socket: carols }] = [
      await alice.online({ crypto_v: 3 }),
      await carol.online({ crypto_v: 3 }),
    ]
    const acked = async (socket: WireSocket, frame: Record<string, unknown>) => {
      socket.send(frame)
      return await socket.next('ack')
    }
    const tell = (id: string) => acked(alices, message(bob.alias, conv, id, id))
    const tellIn = (epoch: number, id: string) => acked(alices, messageIn(epoch, bob.alias, conv, id))
    const begin = (epoch: number, id: string) => acked(alices, handshake(bob.alias, conv, epoch, { id }))
    const tellOther = (id: string) => acked(carols, message(bob.alias, other, id, id))
    return { alice, bob, carol, conv, other, alices, tell, tellIn, begin, tellOther }
  }

  test('a conversation waits from its first message of version 3 on, and sync_end leaves that out', async () => {
    const { bob, tell, tellIn, begin, tellOther } = await people()
    await tell('a1')
    await begin(0, 'h1')
    await tell('a2')
    await tellIn(1, 'a3')
    await tellOther('c1')
    const { socket, backlog } = await bob.online({ crypto_v: 2 })
    expect(idsOf(backlog)).toEqual(['a1', 'c1'])
    expect(backlog.at(-1)).toEqual({ type: 'sync_end', count: 2 })
    await tell('a4')
    await tellOther('c2')
    expect(idsOf([await socket.next('msg')])).toEqual(['c2'])
    // A later sync repeats what it can read. One that announces version 3 brings everything, in order.
    expect(idsOf(await socket.synced({ crypto_v: 2 })).sort()).toEqual(['a1', 'c1', 'c2'])
    const all = await socket.synced({ crypto_v: 3 })
    expect(idsOf(all).filter((id) => !id.startsWith('c'))).toEqual(['a1', 'h1', 'a2', 'a3', 'a4'])
    expect(all.at(-1)).toMatchObject({ type: 'sync_end', count: 7 })
    await tellIn(1, 'a5')
    expect(idsOf([await socket.next('msg')])).toEqual(['a5'])
  })

  test('the first sync that announces version 3 brings what waited before its sync_end', async () => {
    const { bob, tell, begin, tellOther } = await people()
    await begin(0, 'h1')
    await tell('a1')
    await tellOther('c1')
    const socket = await bob.connect()
    expect(idsOf(await socket.untilSynced())).toEqual(['c1'])
    const released = await socket.synced({ crypto_v: 3 })
    expect(idsOf(released)).toEqual(['h1', 'a1'])
    expect(released.at(-1)).toMatchObject({ type: 'sync_end', count: 2 })
    await begin(1, 'h2')
    expect(await socket.next('msg')).toMatchObject({ id: 'h2', handshake: true, epoch: 1 })
  })

  test('whatever the client confirms, what it was not sent stays, and its sender is not told otherwise', async () => {
    const { alice, bob, conv, alices, tell, begin } = await people()
    await tell('a1')
    await begin(0, 'h1')
    await tell('a2')
    const { socket } = await bob.online({ crypto_v: 1 })
    socket.send(message(alice.alias, conv, 'b1', 'b1'))
    // It knows the number of its own message, which is higher than those of all that wait.
    const { seq } = await socket.next('ack')
    expect(seq).toBe(4)
    for (const type of ['delivered', 'read']) socket.send({ type, conv_id: conv, seq, to: alice.alias })
    await socket.untilPong()
    expect(await alices.next('read')).toMatchObject({ seq: 1 })
    // A mark for `delivered` comes before it, unless one commit stored both.
    const marks = (await alices.untilPong()).filter(({ type }) => type === 'delivered' || type === 'read')
    for (const { type, seq } of marks) expect({ type, seq }).toEqual({ type: 'delivered', seq: 1 })
    await socket.close()
    const { socket: newer, backlog } = await bob.online({ crypto_v: 3 })
    expect(idsOf(backlog)).toEqual(['h1', 'a2'])
    newer.send({ type: 'delivered', conv_id: conv, seq: 3, to: alice.alias })
    expect(await alices.next('delivered')).toMatchObject({ seq: 3 })
    expect(idsOf((await bob.online({ crypto_v: 3 })).backlog)).toEqual([])
  })

  test('once what it could not read is gone, the rest goes', async () => {
    const { alice, bob, conv, alices, tell, tellIn } = await people()
    const { socket } = await bob.online({ crypto_v: 1 })
    await tellIn(0, 'a1')
    await tell('a2')
    alices.send({ type: 'retract', id: 'a1', to: bob.alias, conv_id: conv })
    await alices.next('retract_ack')
    expect(idsOf([await socket.next('msg')])).toEqual(['a2'])

    await tellIn(0, 'a3')
    const [{ friendship_id }] = (await alice.get('/friends')).body
    await alice.bare('DELETE', `/friends/${friendship_id}`)
    expect(await befriend(alice, bob)).toBe(conv)
    await tell('a4')
    expect(idsOf([await socket.next('msg')])).toEqual(['a4'])
  })

  test('an ack says that its message waits, while the recipient is connected by a client that cannot read it', async () => {
    const { bob, conv, alices, tell, tellIn, begin } = await people()
    expect(await begin(0, 'h1')).not.toHaveProperty('waits')
    const { socket } = await bob.online({ crypto_v: 1 })
    expect(await begin(1, 'h2')).toMatchObject({ waits: true })
    expect(await tellIn(2, 'a1')).toMatchObject({ waits: true })
    alices.send(messageIn(2, bob.alias, conv, 'a1'))
    expect(await alices.next('ack')).toMatchObject({ id: 'a1', waits: true })
    expect(await tell('a2')).not.toHaveProperty('waits')
    await socket.synced({ crypto_v: 3 })
    expect(await tellIn(2, 'a3')).not.toHaveProperty('waits')
  })
})
