// Calls of clients with forward secrecy at a real relay: their signals go under version 3, and the keys of
// their media come from the group.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decodeBase64, decryptMessage, deriveCallMediaKey } from '@sotto/crypto'
import { epochOfSignal } from '@sotto/crypto/version-3'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Calls } from '../src/calls/calls.ts'
import { type FetchLike, MemoryStore, SecrecyChoices } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { Caller, type CallerOptions, connect, settled, TestPeer } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()
const DAY_MS = 86_400_000

/** A caller whose client has forward secrecy. */
function joins(name: string, { client, ...options }: CallerOptions = {}): Promise<Caller> {
  return Caller.join(world, name, { ...options, client: { ...client, forwardSecrecy: forwardSecrecy() } })
}

/** Both write until both send under version 3, and nothing is under way. */
async function untilVersion3(one: Caller, other: Caller): Promise<void> {
  await until('both send under version 3', async () => {
    const versions = [await writes(one, other), await writes(other, one)]
    return versions.every((version) => version === 3)
  })
}

/** One writes to the other. Resolves with the version once it has arrived. */
async function writes(from: Caller, to: Caller, text = 'a message'): Promise<3 | undefined> {
  const { id } = await from.person.client.send(to.alias, text)
  const received = await until('it arrives', () => to.person.heard.message.find((each) => each.id === id))
  return received.version
}

/** Two friends who have a group. */
async function friends(options: CallerOptions = {}): Promise<[Caller, Caller]> {
  const [alice, bob] = [await joins('alice', options), await joins('bob', options)]
  await alice.person.befriend(bob.person)
  await untilVersion3(alice, bob)
  return [alice, bob]
}

/** A clock that a test moves. */
function movedClock(): { readonly now: () => number; passDays(days: number): void } {
  let passed = 0
  return {
    now: () => Date.now() + passed,
    passDays: (days) => {
      passed += days * (DAY_MS + 1)
    },
  }
}

/** The epochs of the conversation that the signals of a client were sealed in. */
const epochsOf = ({ signals }: Caller): (number | undefined)[] =>
  signals.map(({ payload }) => epochOfSignal(decodeBase64(payload)))

const handshakesOf = ({ wire }: Caller): number => wire.filter((text) => text.includes('group_info')).length

async function sessionKeyOf(caller: Caller): Promise<Uint8Array> {
  const [session] = await caller.person.store.listSessions()
  return decodeBase64(session?.sessionKeyBase64 ?? '')
}

test('a call under version 3 is set up, and neither the relay nor the static keys open a signal of it', async () => {
  const [alice, bob] = await friends()
  await connect(alice, bob)
  alice.peer.findCandidate('a way to alice')
  bob.peer.findCandidate('a way to bob')
  await until('both have the candidates', () => alice.peer.candidates[0] && bob.peer.candidates[0])
  expect([alice.peer.descriptions, bob.peer.descriptions]).toEqual([
    ['sdp of an answer'],
    ['sdp of an offer'],
  ])
  alice.calls.hangUp()
  await bob.is('hangup: hung_up_by_peer')
  const signals = [...alice.signals, ...bob.signals]
  expect(signals.map(({ type }) => type).toSorted()).toEqual([
    ...['call_answer', 'call_hangup', 'call_ice', 'call_ice', 'call_offer'],
  ])
  const sessionKey = await sessionKeyOf(alice)
  for (const { crypto_v, payload } of signals) {
    expect(crypto_v).toBe(3)
    expect(Buffer.from(payload, 'base64').toString('latin1')).not.toMatch(/sdp of|candidate|a way to/)
    expect(await failureOf(decryptMessage({ sessionKey, payload }))).toMatchObject({
      code: 'DECRYPTION_FAILED',
    })
  }
  expect([...alice.refused, ...bob.refused]).toEqual([])
  expect([...alice.person.heard.error, ...bob.person.heard.error]).toEqual([])
})

test('the keys of media are new for each call and sender, and do not come from the static keys', async () => {
  const [alice, bob] = await friends()
  const keys: string[] = []
  for (const _ of ['first', 'second']) {
    await connect(alice, bob)
    const own = await alice.peer.keyOf('own')
    const theirs = await alice.peer.keyOf('theirs')
    expect([await bob.peer.keyOf('theirs'), await bob.peer.keyOf('own')]).toEqual([own, theirs])
    const sessionKey = await sessionKeyOf(alice)
    const track = { callId: alice.info.id, senderAlias: alice.alias, mid: '0', epoch: 1 }
    const ofStaticKeys = await deriveCallMediaKey({ sessionKey, ...track })
    keys.push(own, theirs, Buffer.from(ofStaticKeys).toString('hex'), await alice.peer.keyOf('own', '0', 2))
    const { peer } = alice
    alice.calls.hangUp()
    await bob.is('hangup')
    // They are erased with the call.
    expect(await failureOf(peer.keyOf('own'))).toMatchObject({ code: 'ABORTED' })
  }
  expect(new Set(keys).size).toBe(8)
})

test('repeated, swapped, altered and foreign signals are refused', async () => {
  const [alice, bob] = await friends()
  const carol = await joins('carol')
  await carol.person.befriend(bob.person)
  await untilVersion3(carol, bob)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.calls.hangUp()
  await bob.is('hangup')
  const [offer, hangup] = alice.signals
  if (!offer || !hangup) throw new Error('alice sent no signals')
  const heard = [...bob.states]
  const flipped = decodeBase64(offer.payload)
  flipped[40] = (flipped[40] ?? 0) ^ 1
  const tries: [object, string][] = [
    [offer, 'REPLAYED'],
    [hangup, 'REPLAYED'],
    // What the relay can do: other frames around the same payload.
    [{ ...offer, call_id: 'another' }, 'DECRYPTION_FAILED'],
    [{ ...offer, type: 'call_answer' }, 'DECRYPTION_FAILED'],
    [{ ...offer, payload: hangup.payload }, 'DECRYPTION_FAILED'],
    [{ ...offer, payload: Buffer.from(flipped).toString('base64') }, 'DECRYPTION_FAILED'],
    [{ ...offer, payload: 'AAAA' }, 'MALFORMED'],
    [{ ...offer, crypto_v: 4 }, 'WRONG_VERSION'],
  ]
  for (const [frame, reason] of tries) {
    const before = bob.refused.length
    alice.sendRaw(frame)
    await until('bob refuses it', () => bob.refused.length > before)
    expect<unknown>([frame, bob.refused.at(-1)]).toEqual([frame, { from: alice.alias, reason }])
  }
  // Alice's signal in the conversation with another friend, and sent back to herself.
  carol.sendRaw({ ...offer, from: carol.alias })
  carol.sendRaw({ ...offer, from: carol.alias, crypto_v: 4 })
  await until('bob has both of carol’s', () =>
    bob.refused.some(({ from, reason }) => from === carol.alias && reason === 'WRONG_VERSION'),
  )
  bob.sendRaw({ ...offer, to: alice.alias, from: bob.alias })
  await until('alice refuses her own', () => alice.refused.length > 0)
  expect<unknown>(alice.refused).toEqual([{ from: bob.alias, reason: 'DECRYPTION_FAILED' }])
  expect(bob.states).toEqual(heard)
})

test('signals under the static keys are refused in a conversation that has a group', async () => {
  const [alice, bob] = await friends()
  // Who has the phrase of Alice, and not the state of her device, can make this.
  await alice.sendSignal('call_offer', bob, 'lower', { sdp: 'sdp of an offer', epoch: 1 })
  await until('bob refuses it', () => bob.refused.length === 1)
  expect<unknown>(bob.refused).toEqual([{ from: alice.alias, reason: 'WRONG_VERSION' }])
  expect(bob.calls.state).toBe('idle')
  await connect(alice, bob)
  for (const type of ['call_hangup', 'call_ice'] as const)
    await alice.sendSignal(type, bob, bob.info.id, { candidate: 'a false way' })
  await until('bob refuses both', () => bob.refused.length === 3)
  expect(bob.refused.slice(1).map(({ reason }) => reason)).toEqual(['MISMATCH', 'MISMATCH'])
  expect([bob.calls.state, bob.peer.candidates]).toEqual(['connected', []])
})

test('a call goes on across commits: while it rings, and while it is connected', async () => {
  const clock = movedClock()
  const [alice, bob] = await friends({ now: clock.now })
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  clock.passDays(1)
  expect(await writes(alice, bob)).toBe(3)
  await bob.calls.accept()
  await alice.is('connecting')
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
  await alice.is('connected')
  expect(await alice.peer.keyOf('own')).toBe(await bob.peer.keyOf('theirs'))
  expect(await alice.peer.keyOf('theirs')).toBe(await bob.peer.keyOf('own'))
  clock.passDays(1)
  expect(await writes(bob, alice)).toBe(3)
  expect(await alice.peer.keyOf('own', '0', 2)).toBe(await bob.peer.keyOf('theirs', '0', 2))
  bob.peer.findCandidate('a way to bob')
  await until('alice has it', () => alice.peer.candidates[0])
  bob.calls.hangUp()
  await alice.is('hangup: hung_up_by_peer')
  const [offer = 0] = epochsOf(alice)
  const [answer = 0, candidate = 0, hangup] = epochsOf(bob)
  expect(answer).toBeGreaterThan(offer)
  expect(candidate).toBeGreaterThan(answer)
  expect(hangup).toBe(candidate)
  expect([...alice.refused, ...bob.refused]).toEqual([])
})

test('an offer that arrives after the commit that followed it rings, and not two minutes later', async () => {
  const clock = movedClock()
  const [alice, bob] = [await joins('alice', { now: clock.now }), await joins('bob')]
  await alice.person.befriend(bob.person)
  await untilVersion3(alice, bob)
  alice.line.isDead = true
  await alice.calls.call(bob.alias)
  alice.calls.hangUp()
  await alice.hasLost(2)
  const [offer, hangup] = alice.lostSignals
  alice.line.isDead = false
  // Only for Alice the epoch is a day old, so she commits.
  const before = handshakesOf(alice)
  clock.passDays(1)
  expect(await writes(alice, bob)).toBe(3)
  clock.passDays(-1)
  expect(handshakesOf(alice)).toBeGreaterThan(before)
  alice.sendRaw({ ...offer })
  await bob.is('ringing')
  alice.sendRaw({ ...hangup })
  await bob.is('hangup')
  bob.endWait(120_000)
  alice.sendRaw({ ...offer, call_id: 'another' })
  await until('bob refuses it', () => bob.refused.length === 1)
  expect<unknown>(bob.refused).toEqual([{ from: alice.alias, reason: 'UNKNOWN_EPOCH' }])
})

test('signals that arrive before the commit they follow wait for it', async () => {
  const clock = movedClock()
  let holds = false
  const held: (() => void)[] = []
  const receive = (text: string, pass: () => void): void => {
    if (holds && text.includes('"type":"msg"')) held.push(pass)
    else pass()
  }
  const alice = await joins('alice', { now: clock.now })
  const bob = await joins('bob', { now: clock.now, receive })
  await alice.person.befriend(bob.person)
  await untilVersion3(alice, bob)
  holds = true
  clock.passDays(1)
  const { id } = await alice.person.client.send(bob.alias, 'in a new epoch')
  await alice.person.sees(bob.alias, id, 'sent')
  await alice.calls.call(bob.alias)
  alice.peer.findCandidate('a way to alice')
  await alice.hasSent(2)
  await settled(alice, bob)
  expect([bob.calls.state, bob.refused]).toEqual(['idle', []])
  holds = false
  for (const pass of held.splice(0)) pass()
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  await until('bob has the candidate', () => bob.peer.candidates[0])
})

test('a call with a contact without forward secrecy is as before', async () => {
  const [alice, bob] = [await joins('alice'), await Caller.join(world, 'bob')]
  await alice.person.befriend(bob.person)
  for (const [from, to] of [
    [alice, bob],
    [bob, alice],
  ] as const) {
    await connect(from, to)
    expect(await from.peer.keyOf('own')).toBe(await to.peer.keyOf('theirs'))
    from.calls.hangUp()
    await to.is('hangup')
  }
  expect([...alice.signals, ...bob.signals].map(({ crypto_v }) => crypto_v)).toEqual([2, 2, 2, 2, 2, 2])
  expect([...alice.refused, ...bob.refused]).toEqual([])
})

test('a first call to a contact that has announced version 3 begins the group', async () => {
  const [alice, bob] = [await joins('alice'), await joins('bob')]
  await alice.person.befriend(bob.person)
  // Alice's first message wakes version 3 at Bob's, and announces nothing. Only he announces it then.
  await writes(alice, bob)
  await until('alice knows it', async () => {
    await writes(bob, alice)
    const { hasForwardSecrecy } = await alice.person.client.conversation(bob.alias)
    return hasForwardSecrecy
  })
  expect(handshakesOf(alice)).toBe(0)
  await connect(alice, bob)
  expect([...alice.signals, ...bob.signals].map(({ crypto_v }) => crypto_v)).toEqual([3, 3])
})

test('a device recovered by its phrase calls under version 3, and with it the keys are new', async () => {
  const [alice, bob] = await friends()
  const mnemonic = alice.person.client.identity?.mnemonic ?? ''
  await alice.person.client.close()
  const again = await world.open('alice', { forwardSecrecy: forwardSecrecy() })
  await again.client.recover({ mnemonic })
  await again.connect()
  await again.client.syncFriends()
  const peers: TestPeer[] = []
  const calls = new Calls(again.client, (options) => {
    const peer = new TestPeer(options, async () => {})
    peers.push(peer)
    return peer
  })
  await calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await until('alice is connecting', () => calls.state === 'connecting')
  expect(await peers[0]?.keyOf('own')).toBe(await bob.peer.keyOf('theirs'))
  expect(bob.signals.map(({ crypto_v }) => crypto_v)).toEqual([3])
  calls.hangUp()
  await bob.is('hangup')
})

test('a contact who went back to calls without forward secrecy is called, and rings, by the user’s word', async () => {
  const [alice, before] = await friends()
  const mnemonic = await before.person.client.recoveryPhrase()
  await before.person.client.close()
  const bob = await Caller.of((options) => world.open('bob', options), {})
  await bob.person.client.recover({ mnemonic })
  await bob.person.connect()
  await bob.person.client.syncFriends()
  await new SecrecyChoices(alice.person.client).allowOlderVersion(bob.alias)
  for (const [from, to] of [
    [alice, bob],
    [bob, alice],
  ] as const) {
    await connect(from, to)
    from.calls.hangUp()
    await to.is('hangup')
  }
  expect([...alice.signals, ...bob.signals].map(({ crypto_v }) => crypto_v)).toEqual([2, 2, 2, 2, 2, 2])
  expect([...alice.refused, ...bob.refused]).toEqual([])
})

test('a relay that withholds the group ends no call under the static keys', async () => {
  const store = new MemoryStore()
  const [alice, bob] = [await joins('alice', { client: { store } }), await joins('bob')]
  await alice.person.befriend(bob.person)
  await untilVersion3(alice, bob)
  await alice.person.client.close()
  store.reopen()
  let withheld = 0
  const fetch: FetchLike = async (url, init) => {
    if (!url.endsWith('/group')) return globalThis.fetch(url, init)
    withheld += 1
    throw new TypeError('the network is down')
  }
  const again = await Caller.of((options) => world.open('alice', options), {
    client: { store, fetch, forwardSecrecy: forwardSecrecy() },
  })
  await again.person.connect()
  const failure = failureOf(again.calls.call(bob.alias))
  await until('the call waits for the group', () => withheld > 0 && again.waitsFor(20_000))
  again.endWait(20_000)
  expect(await failure).toMatchObject({ code: 'NETWORK' })
  expect([again.signals, again.calls.state, bob.calls.state]).toEqual([[], 'idle', 'idle'])
})

test('a relay that is too busy to say whether there is a group ends no call under the static keys', async () => {
  const [alice, bob] = [await joins('alice'), await joins('bob')]
  await alice.person.befriend(bob.person)
  await untilVersion3(alice, bob)
  const mnemonic = await alice.person.client.recoveryPhrase()
  await alice.person.client.close()
  const fetch: FetchLike = async (url, init) =>
    url.endsWith('/group')
      ? Response.json({ error: 'RATE_LIMITED' }, { status: 429, headers: { 'retry-after': '3600' } })
      : globalThis.fetch(url, init)
  const again = await Caller.of((options) => world.open('alice', options), {
    client: { fetch, forwardSecrecy: forwardSecrecy() },
  })
  await again.person.client.recover({ mnemonic })
  await again.person.connect()
  await again.person.client.syncFriends()
  expect(await failureOf(again.calls.call(bob.alias))).toMatchObject({ refusal: 'RATE_LIMITED' })
  expect([again.signals, again.calls.state, bob.calls.state]).toEqual([[], 'idle', 'idle'])
})
