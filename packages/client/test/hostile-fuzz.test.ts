// A relay sends random frames and random HTTP replies. The stored data stays consistent, and the next honest
// message arrives.
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { StoredMessage } from '../src/client.ts'
import { makePeer, type Peer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { type Person, until } from './people.ts'

setDefaultTimeout(240_000)

type Frame = string | Record<string, unknown>

const RUNS = Number(process.env.FUZZ_RUNS ?? 150)

/** A client with two contacts, and the data that the relay has about them. The relay was honest until now. */
interface Scene {
  readonly person: Person
  readonly peers: readonly [Peer, Peer]
  /** Ids of the user's messages: some acknowledged, some not yet. */
  readonly own: readonly string[]
  /** Frames of the peers' messages, with valid payloads. */
  readonly genuine: readonly Record<string, unknown>[]
  /** Payloads of the user's messages. */
  readonly echoes: readonly unknown[]
}

/**
 * Random frames. Their ids, names and numbers come from small sets: most are in use, some are unused, some
 * are invalid.
 */
function framesOf({ person, peers, own, genuine, echoes }: Scene): fc.Arbitrary<Frame> {
  const ids = fc.constantFrom(...own, ...genuine.map(({ id }) => id), 'made-up', '__proto__', '')
  const conversations = fc.constantFrom(
    ...peers.map(({ conversationId }) => conversationId),
    crypto.randomUUID(),
    '__proto__',
  )
  const names = fc.constantFrom('bob', 'carol', 'mallory', person.alias, 'constructor')
  const seqs = fc.oneof(
    fc.integer({ min: -1, max: 12 }),
    fc.integer({ min: 20, max: 100_000 }),
    fc.constantFrom(2 ** 31, Number.MAX_SAFE_INTEGER, 1.5),
  )
  const payloads = fc.constantFrom(...genuine.map(({ payload }) => payload), ...echoes, 'AAAA', '')
  const parts = {
    id: ids,
    conv_id: conversations,
    from: names,
    to: names,
    seq: seqs,
    at: fc.integer(),
    crypto_v: fc.constantFrom(1, 1, 1, 2),
  }
  // A genuine message with some fields changed.
  const altered = fc
    .tuple(fc.constantFrom(...genuine), fc.record({ ...parts, payload: payloads }, { requiredKeys: [] }))
    .map(([frame, changes]) => ({ ...frame, ...changes }))
  const receipt = fc.record({ type: fc.constantFrom('delivered', 'read'), ...parts })
  const codes = fc.constantFrom('MAILBOX_FULL', 'NOT_FRIENDS', 'EXPIRED', 'INTERNAL', 'ID_REUSED', 'toString')
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('msg'), payload: payloads, ...parts }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('ack'), ...parts }) },
    { weight: 3, arbitrary: receipt },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constantFrom('retract', 'retract_ack', 'typing'), ...parts }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('error'), error: codes, message: fc.string(), ...parts }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constantFrom('friend_request', 'friend_accepted'),
        friendship_id: fc.nat(),
        ...parts,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constantFrom('pong', 'sync_end'),
        count: fc.integer(),
        at: fc.integer(),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom(...genuine) },
    { weight: 4, arbitrary: altered },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...genuine)
        .chain((frame) => fc.nat(400).map((length) => JSON.stringify(frame).slice(0, length))),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
  )
}

const RANK = { sending: 0, sent: 1, delivered: 2, read: 3, failed: 4 } as const

async function allMessages(person: Person): Promise<StoredMessage[]> {
  const all: StoredMessage[] = []
  for (const { conversationId } of await person.store.listSessions())
    all.push(...(await person.store.listMessages(conversationId)))
  return all
}

async function setUpScene(world: HostileWorld): Promise<Scene> {
  const peers = [makePeer('bob'), makePeer('carol')] as const
  const person = await world.victim(peers)
  await person.client.markVerified('bob')
  const genuine = peers.flatMap((peer) =>
    [1, 2, 3].map((seq) => msg(peer, person, seq, `${peer.aliasId} ${seq}`)),
  )
  const own: string[] = []
  for (const { aliasId, conversationId } of peers) {
    const first = await person.client.send(aliasId, 'acknowledged')
    await until('the message is sent', () => world.relay.framesOf('msg').some(({ id }) => id === first.id))
    world.relay.send({ type: 'ack', id: first.id, conv_id: conversationId, seq: 8, at: 8 })
    await person.sees(aliasId, first.id, 'sent')
    own.push(first.id, (await person.client.send(aliasId, 'under way')).id)
  }
  const echoes = world.relay.framesOf('msg').map(({ payload }) => payload)
  return { person, peers, own, genuine, echoes }
}

test('no sequence of frames breaks the stored data', async () => {
  const world = new HostileWorld()
  const scene = await setUpScene(world)
  const { person, peers, genuine } = scene
  const sessions = await person.store.listSessions()
  const identity = await person.store.getIdentity()
  const genuineIds = new Set(genuine.map(({ id }) => id))
  let before = await allMessages(person)
  let seq = 200_000

  const checkAll = async (): Promise<void> => {
    const after = await allMessages(person)
    expect(await person.store.getIdentity()).toEqual(identity)
    expect(await person.store.listSessions()).toEqual(sessions)
    expect((await person.client.trustState('bob')).status).toBe('verified')
    expect((await person.client.trustState('carol')).status).toBe('unverified')
    // No message is attributed to another sender, and the relay has not invented a message of the user.
    for (const { isMe, id, msgType, text, retracted } of after) {
      if (isMe) expect(['acknowledged', 'under way']).toContain(text)
      else if (msgType !== 'undecryptable' && !retracted)
        expect(
          genuineIds.has(id) ||
            text.startsWith('honest') ||
            genuine.some(({ id: known }) => decodeURIComponent(String(known)) === `id-${text}`),
        ).toBe(true)
    }
    // No payload is shown twice.
    const nonces = after.map(({ nonce }) => nonce).filter((nonce) => nonce !== undefined)
    expect(new Set(nonces).size).toBe(nonces.length)
    // Each earlier message still has its text, unless its sender retracted it. Its seq and time are the same,
    // and its status has not gone back.
    const byKey = new Map(
      after.map((message) => [`${message.conversationId} ${message.isMe} ${message.id}`, message]),
    )
    for (const was of before) {
      const is = byKey.get(`${was.conversationId} ${was.isMe} ${was.id}`)
      if (!is) throw new Error(`a stored message has disappeared: ${was.id}`)
      if (was.isMe) expect(is.text).toBe(was.text)
      else expect([was.text, '']).toContain(is.text)
      if (was.seq !== undefined) expect([is.seq, is.time]).toEqual([was.seq, was.time])
      expect(RANK[is.status]).toBeGreaterThanOrEqual(RANK[was.status])
    }
    before = after
  }

  await fc.assert(
    fc.asyncProperty(fc.array(framesOf(scene), { minLength: 1, maxLength: 40 }), async (frames) => {
      for (const frame of frames) world.relay.send(frame)
      await world.settled(person)
      await checkAll()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  for (const peer of peers) {
    seq += 1
    world.relay.send(msg(peer, person, seq, `honest ${seq}`))
    await person.receives(`honest ${seq}`)
  }
  expect(person.client.networkState).toBe('connected')
  expect(person.heard.security_violation).toEqual([])
  await world.stop()
})

test('no HTTP reply breaks the stored data', async () => {
  const world = new HostileWorld()
  const { person } = await setUpScene(world)
  const before = { identity: await person.store.getIdentity(), sessions: await person.store.listSessions() }
  const row = (world.relay.friends as Record<string, unknown>[])[0] ?? {}
  const fields = fc.constantFrom(...Object.keys(row))
  const rows = fc.array(
    fc
      .tuple(fc.constantFrom(row, makePeerRow()), fields, fc.jsonValue())
      .map(([base, field, value]) => ({ ...base, [field]: value })),
    { maxLength: 4 },
  )
  const bodies = fc.oneof(rows, fc.jsonValue(), fc.string())
  const statuses = fc.constantFrom(200, 200, 200, 204, 400, 404, 409, 418)
  await fc.assert(
    fc.asyncProperty(bodies, statuses, async (body, status) => {
      const answer = () => ({ status, body: status === 204 ? '' : body })
      for (const path of ['GET /friends', 'GET /users/bob', 'PATCH /me', 'POST /friends/request'])
        world.relay.answers[path] = answer
      const calls = [
        person.client.syncFriends(),
        person.client.lookUpUser('bob'),
        person.client.requestFriend('carol'),
      ]
      for (const result of await Promise.allSettled(calls)) {
        if (result.status === 'rejected') expect(['BAD_REPLY', 'REFUSED']).toContain(result.reason.code)
      }
      expect(await person.store.getIdentity()).toEqual(before.identity)
      const sessions = await person.store.listSessions()
      for (const session of before.sessions)
        expect(
          sessions.find(({ conversationId }) => conversationId === session.conversationId),
        ).toMatchObject({
          theirEcdhPublicKey: session.theirEcdhPublicKey,
          sessionKeyBase64: session.sessionKeyBase64,
          trustState: session.trustState,
        })
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  await world.stop()
})

function makePeerRow(): Record<string, unknown> {
  const peer = makePeer('mallory')
  return {
    friendship_id: 9,
    alias_id: peer.aliasId,
    nickname: 'm',
    status: 'accepted',
    direction: 'sent',
    conversation_id: peer.conversationId,
    x25519_public_key: peer.x25519,
    ed25519_public_key: peer.ed25519,
    created_at: '2026-01-01T00:00:00.000Z',
  }
}
