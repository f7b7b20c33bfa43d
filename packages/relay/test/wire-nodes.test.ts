// Two relays on one PostgreSQL are one relay: what happens on one reaches the connections of the other at
// once.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { CALL_TYPES, candidate, settled, signal } from './call-frames.ts'
import { engines } from './engines.ts'
import { type NatsServer, startNats } from './nats-server.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { befriend, message, type WireAccount, WireSocket, wireAccount } from './wire.ts'

setDefaultTimeout(240_000)

describe.each(['PostgreSQL', 'NATS'])('two relays that notify each other through %s', (carrier) => {
  let nodes: RelayProcess[] = []
  let nats: NatsServer | undefined

  beforeAll(async () => {
    const postgres = engines.find(({ name }) => name === 'PostgreSQL')
    if (carrier === 'NATS') nats = await startNats()
    const env = { ...(await postgres?.environment()), ...(nats && { NATS_URL: nats.url }) }
    for (let i = 0; i < 2; i++) nodes.push(await startRelay({ env }))
  })
  afterAll(async () => {
    const errors = nodes.map((node) => node.errors()).join('\n')
    for (const node of nodes) await node.stop()
    await nats?.kill()
    nodes = []
    expect(errorLines(errors)).toEqual([])
  })

  const urlOf = (index: number): string => nodes[index]?.url ?? ''

  /** Connects to another node than the one that the account registered at. */
  async function openAt(index: number, account: WireAccount): Promise<WireSocket> {
    const url = `${urlOf(index).replace('http', 'ws')}/ws`
    return await WireSocket.open(`${url}?user_uuid=${account.uuid}&ticket=${await account.ticket()}`)
  }

  /** The same, and reads the backlog. */
  async function connectTo(index: number, account: WireAccount): Promise<WireSocket> {
    const socket = await openAt(index, account)
    await socket.untilSynced()
    await socket.synced()
    return socket
  }

  /** Two friends, each connected to a node of their own. */
  async function apart() {
    const alice = await wireAccount(urlOf(0))
    const bob = await wireAccount(urlOf(0))
    const conv = await befriend(alice, bob)
    const fromAlice = await connectTo(0, alice)
    const fromBob = await connectTo(1, bob)
    return { alice, bob, conv, fromAlice, fromBob }
  }

  test('messages, receipts, retractions and typing notices go from one to the other', async () => {
    const { alice, bob, conv, fromAlice, fromBob } = await apart()
    for (const text of ['one', 'two', 'three']) {
      const id = crypto.randomUUID()
      fromAlice.send(message(bob.alias, conv, text, id))
      const { seq } = await fromAlice.next('ack')
      expect(await fromBob.next('msg')).toMatchObject({ id, seq })
      fromBob.send({ type: 'read', conv_id: conv, seq, to: alice.alias })
      expect(await fromAlice.next('read')).toMatchObject({ conv_id: conv, seq })
    }
    fromBob.send({ type: 'typing', conv_id: conv, to: alice.alias })
    expect(await fromAlice.next('typing')).toMatchObject({ conv_id: conv })
    const id = crypto.randomUUID()
    fromBob.send(message(alice.alias, conv, 'oh', id))
    await fromAlice.next('msg')
    fromBob.send({ type: 'retract', id, conv_id: conv, to: alice.alias })
    expect(await fromAlice.next('retract')).toMatchObject({ id })
  })

  test('a message that is longer than a notification may be arrives too', async () => {
    const { bob, conv, fromAlice, fromBob } = await apart()
    const long = 'x'.repeat(20_000)
    fromAlice.send(message(bob.alias, conv, long))
    const { payload } = await fromBob.next('msg')
    expect(Buffer.from(payload, 'base64').toString()).toBe(long)
  })

  test('the newest connection replaces the one at the other node', async () => {
    const { alice, fromAlice } = await apart()
    await alice.login()
    const newer = await connectTo(1, alice)
    expect(await fromAlice.next('goaway')).toMatchObject({ reason: 'new_device_login' })
    expect((await fromAlice.closed).code).toBe(4409)
    expect(await newer.untilPong()).toEqual([])
  })

  test('a node that slept stores nothing of a connection that was replaced meanwhile', async () => {
    const alice = await wireAccount(urlOf(1))
    const bob = await wireAccount(urlOf(1))
    const conv = await befriend(alice, bob)
    const older = await connectTo(0, alice)
    const fromBob = await connectTo(1, bob)
    const pid = nodes[0]?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    let newer: WireSocket
    try {
      older.send(message(bob.alias, conv, 'from the older device'))
      await alice.login()
      newer = await connectTo(1, alice)
      newer.send(message(bob.alias, conv, 'from the newer device'))
      await newer.next('ack')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect(await older.next('goaway')).toMatchObject({ reason: 'new_device_login' })
    newer.send(message(bob.alias, conv, 'after the other node woke'))
    for (const text of ['from the newer device', 'after the other node woke'])
      expect((await fromBob.next('msg')).payload).toBe(btoa(text))
    expect(await fromBob.untilPong()).toEqual([])
  })

  test('a device whose node died does not come back once another device has connected', async () => {
    const alice = await wireAccount(urlOf(1))
    const bob = await wireAccount(urlOf(1))
    const conv = await befriend(alice, bob)
    const olderToken = alice.token
    const older = await connectTo(0, alice)
    // A message is stored only after the connection itself is.
    older.send(message(bob.alias, conv, 'before the node dies'))
    await older.next('ack')
    await nodes[0]?.kill('SIGKILL')
    await alice.login()
    const newer = await connectTo(1, alice)
    await nodes[0]?.start()
    const back = await alice.connectByToken(olderToken)
    expect(await back.next('goaway')).toMatchObject({ reason: 'new_device_login' })
    expect(await newer.untilPong()).toEqual([])
  })

  test('a logout everywhere and a deletion end connections at the other node', async () => {
    const { alice, bob, fromBob } = await apart()
    await bob.bare('POST', '/auth/logout-all')
    expect(await fromBob.next('goaway')).toMatchObject({ reason: 'jwt_revoked' })
    const elsewhere = await connectTo(1, alice)
    await alice.bare('DELETE', '/me')
    expect(await elsewhere.next('goaway')).toMatchObject({ reason: 'account_deleted' })
  })

  test('posts reach subscribers at the other node, from the moment of their subscription to its end', async () => {
    const { alice, bob, conv, fromAlice, fromBob } = await apart()
    const { body } = await alice.post('/channels', { name: 'Across' })
    const post = (content: string) =>
      alice.post(`/channels/${body.channel_id}/posts`, { type: 'text', content })
    await bob.bare('POST', `/channels/${body.channel_id}/subscribe`)
    await post('one')
    expect((await fromBob.next('channel_post')).content).toBe('one')
    await bob.bare('DELETE', `/channels/${body.channel_id}/subscribe`)
    await post('two')
    // What alice does afterwards arrives later than the post would have.
    fromAlice.send({ type: 'typing', conv_id: conv, to: bob.alias })
    await fromBob.next('typing')
    expect(fromBob.frames).toEqual([])
  })

  test('every signal of a call reaches the other node, in both directions', async () => {
    const { alice, bob, fromAlice, fromBob } = await apart()
    for (const type of CALL_TYPES) {
      const [there, back] = [signal(type, [alice, bob]), signal(type, [bob, alice])]
      fromAlice.send(there)
      expect(await fromBob.next()).toEqual(there)
      fromBob.send(back)
      expect(await fromAlice.next()).toEqual(back)
    }
    expect([await fromAlice.untilPong(), await fromBob.untilPong()]).toEqual([[], []])
  })

  /** Two friends, of whom the caller alone is connected, to the first node. */
  async function callerAlone() {
    const alice = await wireAccount(urlOf(0))
    const bob = await wireAccount(urlOf(0))
    await befriend(alice, bob)
    return { alice, bob, pair: [alice, bob] as const, fromAlice: await connectTo(0, alice) }
  }

  test('an offer waits for a callee that connects to the other node, and comes before its candidates', async () => {
    const { alice, bob, pair, fromAlice } = await callerAlone()
    const frames = [signal('call_offer', pair), candidate(1, pair), candidate(2, pair)]
    for (const frame of frames) fromAlice.send(frame)
    await settled(fromAlice, alice)
    // The offer may arrive before the end of the backlog.
    const fromBob = await openAt(1, bob)
    const arrived: unknown[] = []
    while (arrived.length < frames.length) {
      const frame = await fromBob.next()
      if (frame.type !== 'sync_end') arrived.push(frame)
    }
    expect(arrived).toEqual(frames)
    fromAlice.send(candidate(3, pair))
    expect(await fromBob.next('call_ice')).toMatchObject({ n: 3 })
    // After the answer, no later connection gets the offer.
    fromBob.send(signal('call_answer', [bob, alice]))
    await fromAlice.next('call_answer')
    const again = await connectTo(1, bob)
    fromAlice.send(candidate(4, pair))
    expect(await again.next()).toMatchObject({ n: 4 })
  })

  test('no offer waits after the caller hung up or disconnected', async () => {
    const { alice, bob, pair, fromAlice } = await callerAlone()
    fromAlice.send(signal('call_offer', pair, { call_id: 'first' }))
    fromAlice.send(signal('call_hangup', pair, { call_id: 'first' }))
    fromAlice.send(signal('call_offer', pair, { call_id: 'second' }))
    await settled(fromAlice, alice)
    fromAlice.socket.close()
    await fromAlice.closed
    const back = await connectTo(0, alice)
    const fromBob = await connectTo(1, bob)
    back.send(signal('call_offer', pair, { call_id: 'third' }))
    expect(await fromBob.next()).toMatchObject({ call_id: 'third' })
  })

  test('a friend request is told at the other node', async () => {
    const { bob, fromBob } = await apart()
    const carol = await wireAccount(urlOf(0))
    await carol.post('/friends/request', { to_alias_id: bob.alias })
    expect(await fromBob.next('friend_request')).toMatchObject({ from: carol.alias })
  })
})
