// The field `after`, as clients see it: a message is refused unless the one that it names was accepted, so
// many can be under way and their order stays.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { engines } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { onEveryEngine, useRelay, useRelayWith } from './use-relay.ts'
import { befriend, message, wireAccount, wireFriends } from './wire.ts'

const MIB = 1024 * 1024

/** A message that names the one before it. */
function following(to: string, conv: string, id: string, after: unknown): Record<string, unknown> {
  return { ...message(to, conv, id, id), after }
}

/** The refusal of a message. */
function refused(error: string, id: string, conv: string): object {
  return { type: 'error', error, message: expect.any(String), id, conv_id: conv }
}

onEveryEngine((relay) => {
  test('many messages that each name the one before are acknowledged in order, without waiting', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const ids = Array.from({ length: 200 }, (_, at) => `m${at}`)
    for (const [at, id] of ids.entries()) {
      const before = ids[at - 1]
      alices.send(before ? following(bob.alias, conv, id, before) : message(bob.alias, conv, id, id))
    }
    const acks = await alices.take(ids.length, 'ack')
    expect(acks.map(({ id, seq }) => [id, seq])).toEqual(ids.map((id, at) => [id, at + 1]))
    const arrived = await bobs.take(ids.length, 'msg')
    expect(arrived.map(({ id }) => id)).toEqual(ids)
    // The recipient does not see the field.
    expect(arrived[1]).not.toHaveProperty('after')
  })

  test('a message after one that was not accepted is OUT_OF_ORDER, until that one is accepted', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    for (const [id, after] of [
      ['two', 'one'],
      ['three', 'two'],
      ['self', 'self'],
    ] as const) {
      alices.send(following(bob.alias, conv, id, after))
      expect(await alices.next()).toEqual(refused('OUT_OF_ORDER', id, conv))
    }
    alices.send(message(bob.alias, conv, 'one', 'one'))
    alices.send(following(bob.alias, conv, 'two', 'one'))
    alices.send(following(bob.alias, conv, 'three', 'two'))
    expect((await alices.take(3, 'ack')).map(({ id, seq }) => [id, seq])).toEqual([
      ['one', 1],
      ['two', 2],
      ['three', 3],
    ])
    expect((await bobs.take(3, 'msg')).map(({ id }) => id)).toEqual(['one', 'two', 'three'])
    // A repeat is acknowledged whatever it names.
    alices.send(following(bob.alias, conv, 'one', 'never-sent'))
    expect(await alices.next()).toMatchObject({ type: 'ack', id: 'one', seq: 1 })
  })

  test('a retracted message, a tombstone and a delivered message count as accepted', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    socket.send(message(bob.alias, conv, 'one', 'one'))
    socket.send({ type: 'retract', id: 'one', to: bob.alias, conv_id: conv })
    socket.send(following(bob.alias, conv, 'two', 'one'))
    socket.send({ type: 'retract', id: 'unknown', to: bob.alias, conv_id: conv })
    socket.send(following(bob.alias, conv, 'three', 'unknown'))
    expect((await socket.take(3, 'ack')).map(({ id }) => id)).toEqual(['one', 'two', 'three'])
    const { socket: bobs, backlog } = await bob.online()
    bobs.send({ type: 'delivered', conv_id: conv, seq: backlog.at(-2)?.seq, to: alice.alias })
    await socket.next('delivered')
    socket.send(following(bob.alias, conv, 'four', 'three'))
    expect(await bobs.next('msg')).toMatchObject({ id: 'four' })
  })

  test('ids of the other side, of another conversation and of strangers answer like unknown ones', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const carol = await wireAccount(relay.url)
    const withCarol = await befriend(alice, carol)
    const sockets = [await alice.online(), await bob.online(), await carol.online()]
    const [alices, bobs, carols] = sockets.map(({ socket }) => socket)
    if (!alices || !bobs || !carols) throw new Error('three sockets')
    bobs.send(message(alice.alias, conv, 'x', 'of-bob'))
    carols.send(message(alice.alias, withCarol, 'x', 'of-carol'))
    alices.send(message(carol.alias, withCarol, 'x', 'to-carol'))
    await Promise.all([alices, bobs, carols].map((socket) => socket.next('ack')))
    await alices.take(2, 'msg')
    const answers: unknown[] = []
    for (const after of ['of-bob', 'of-carol', 'to-carol', 'unknown']) {
      alices.send(following(bob.alias, conv, 'next', after))
      answers.push(await alices.next())
    }
    expect(answers).toEqual(Array(4).fill(refused('OUT_OF_ORDER', 'next', conv)))
    // A stranger learns nothing of a conversation by it.
    for (const after of ['of-bob', 'unknown']) {
      carols.send(following(bob.alias, conv, 'next', after))
      expect(await carols.next('error')).toEqual(refused('NOT_FRIENDS', 'next', conv))
    }
    alices.send(following(bob.alias, conv, 'next', 'two words'))
    expect(await alices.next()).toMatchObject({ type: 'error', error: 'INVALID_FIELD', id: 'next' })
  })
})

describe('messages that wait for their rate', () => {
  const relay = useRelay({ RATE_LIMITS: 'on', RATE_MESSAGE: '20/1' })

  test('keep their order, and those behind a refused one are refused as well', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    const ids = Array.from({ length: 60 }, (_, at) => `m${at}`)
    // The relay refuses the one in the middle at once, while those before it wait for their rate.
    const broken = { ...following(bob.alias, conv, 'm30', 'm29'), payload: '!' }
    for (const [at, id] of ids.entries())
      socket.send(
        at === 30
          ? broken
          : at === 0
            ? message(bob.alias, conv, id, id)
            : following(bob.alias, conv, id, `m${at - 1}`),
      )
    expect(await socket.next('error')).toMatchObject({ error: 'INVALID_FIELD', id: 'm30' })
    expect((await socket.take(30, 'ack')).map(({ id }) => id)).toEqual(ids.slice(0, 30))
    const behind = await socket.take(29, 'error')
    expect(behind).toEqual(ids.slice(31).map((id) => refused('OUT_OF_ORDER', id, conv)))
    // The next one names the last that was accepted.
    socket.send(following(bob.alias, conv, 'm31', 'm29'))
    expect(await socket.next('ack')).toMatchObject({ id: 'm31', seq: 31 })
  })
})

describe('while the disk is full', () => {
  let disk: SmallDisk | undefined
  let relay: RelayProcess | undefined
  beforeAll(async () => {
    disk = await mountSmallDisk(40)
    relay = await startRelay({ env: { DATA_DIR: disk.folder } })
  })
  afterAll(async () => {
    await relay?.stop()
    await disk?.remove()
  })

  test('a message behind a refused one is refused, and both are accepted once there is space', async () => {
    const { alice, bob, conv } = await wireFriends(relay?.url ?? '')
    const { socket } = await alice.online()
    disk?.fillUpTo(MIB)
    for (let at = 0; ; at += 1) {
      socket.send(message(bob.alias, conv, 'filler', `filler-${at}`))
      if ((await socket.next()).type === 'error') break
    }
    const chain = [message(bob.alias, conv, 'one', 'one'), following(bob.alias, conv, 'two', 'one')]
    for (const frame of chain) socket.send(frame)
    expect(await socket.next()).toMatchObject({ type: 'error', error: 'RELAY_FULL', id: 'one' })
    expect(await socket.next()).toMatchObject({ type: 'error', error: 'OUT_OF_ORDER', id: 'two' })
    disk?.empty()
    // What follows the refused one stays refused, also when there is space again.
    for (;;) {
      socket.send(following(bob.alias, conv, 'two', 'one'))
      expect(await socket.next()).toMatchObject({ error: 'OUT_OF_ORDER', id: 'two' })
      socket.send(message(bob.alias, conv, 'probe', `probe-${crypto.randomUUID()}`))
      if ((await socket.next()).type === 'ack') break
    }
    for (const frame of chain) socket.send(frame)
    expect((await socket.take(2, 'ack')).map(({ id }) => id)).toEqual(['one', 'two'])
  })
})

describe('while the token of a replaced connection is being retired', () => {
  let url = ''
  const relay = useRelayWith(async () => {
    const environment = (await engines.find(({ name }) => name === 'PostgreSQL')?.environment()) ?? {}
    url = environment.DATABASE_URL ?? ''
    return environment
  })

  test('nothing that it still sends is accepted after what the newer one sent', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: older } = await alice.online()
    older.send(message(bob.alias, conv, 'one', 'one'))
    await older.next('ack')
    // The same client, with a new login.
    await alice.login()
    await using database = new SQL(url, { max: 1 })
    const backlog = await database.begin(async (sql) => {
      await sql`LOCK TABLE dead_tokens IN EXCLUSIVE MODE`
      const newer = await alice.connect()
      newer.send({ type: 'retract', id: 'two', to: bob.alias, conv_id: conv })
      await newer.next('retract_ack')
      // The older one is open until its token is retired. What it sends now comes after the retraction.
      older.send(following(bob.alias, conv, 'three', 'two'))
      older.send({ type: 'ping' })
      await older.next('pong')
      newer.send(following(bob.alias, conv, 'four', 'two'))
      await newer.next('ack')
      return (await bob.online()).backlog
    })
    expect(await older.closed).toMatchObject({ code: 4409 })
    expect(backlog.map(({ type, id }) => [type, id])).toEqual([
      ['msg', 'one'],
      ['retract', 'two'],
      ['msg', 'four'],
      ['sync_end', undefined],
    ])
  })
})
