// The client's side of the specification, row by row: media and calls. The other rows are in the files that
// specification.test.ts names.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decodeBase64, openCallSignal, SeenCallNonces } from '@sotto/crypto'
import { contentOf, Media } from '../src/client.ts'
import { type Caller, callers, connect } from './call-people.ts'
import { filesOf } from './media-world.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld({ STUN_URLS: 'stun:stun.example:3478' })

test('media are stored and relayed as encrypted blobs, and a message names them by their key', async () => {
  const recorder = new Recorder()
  const [alice, bob] = await world.friends(recorder)
  const text = 'the content of a secret file, which nobody else may read '
  const bytes = new TextEncoder().encode(text.repeat(20))
  const sent = await new Media(alice.client).sendFile(bob.alias, new File([bytes], 'plan.txt'))
  const received = await bob.receives(sent.text)
  const content = contentOf(received)
  expect(content).toMatchObject({ kind: 'file', name: 'plan.txt', sizeBytes: bytes.length })
  if (content?.kind !== 'file') throw new Error('the message names no file')
  const { data } = await new Media(bob.client).download(received.conversationId, content)
  expect(new Uint8Array(await data.arrayBuffer())).toEqual(bytes)
  const [path] = await filesOf(world.relay.dataDir)
  const stored = Buffer.from(await Bun.file(path ?? '').arrayBuffer())
  expect(stored.length).toBeGreaterThan(bytes.length)
  expect(stored.includes('secret file')).toBe(false)
  // The name is in the encrypted message only.
  expect(recorder.sent.join('\n')).not.toContain('plan.txt')
})

// Calls

test('call_offer: SDP and a signature by the caller’s Ed25519 key, forwarded without change', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const offer = alice.signals.find(({ type }) => type === 'call_offer')
  if (!offer) throw new Error('no offer was sent')
  const opened = async (signer: Caller): Promise<unknown> =>
    openCallSignal({
      frame: { ...offer, from: alice.alias, crypto_v: 2 },
      sessionKey: decodeBase64((await bob.person.store.listSessions())[0]?.sessionKeyBase64 ?? ''),
      signingPublicKey: decodeBase64(signer.person.client.identity?.signingPublicKey ?? ''),
      nowMs: Date.now(),
      seenNonces: new SeenCallNonces(),
    })
  expect(JSON.stringify(await opened(alice))).toContain('"sdp":"sdp of an offer"')
  expect(JSON.stringify(await opened(bob))).toContain('BAD_SIGNATURE')
})

test('call frames: offer, answer, ICE candidates both ways, rejection and hangup', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.findCandidate('candidate:1 1 udp 1 192.0.2.7 9 typ host')
  bob.peer.findCandidate('candidate:2 1 udp 1 192.0.2.8 9 typ host')
  await alice.hasSent(2)
  await bob.hasSent(2)
  bob.calls.hangUp()
  await alice.is('hangup')
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.calls.hangUp()
  await alice.is('rejected')
  expect(alice.signals.map(({ type }) => type)).toEqual(['call_offer', 'call_ice', 'call_offer'])
  const theirs = bob.signals.map(({ type }) => type)
  expect(theirs).toEqual(['call_answer', 'call_ice', 'call_hangup', 'call_reject'])
})

test('call states: idle, calling, ringing, connecting, connected, hangup, rejected, ended', async () => {
  const [alice, bob] = await callers(world)
  expect(alice.calls.state).toBe('idle')
  await connect(alice, bob)
  alice.calls.hangUp()
  await bob.is('hangup')
  expect(alice.states.map((state) => state.split(':')[0])).toEqual([
    ...['calling', 'connecting', 'connected', 'hangup'],
  ] as never)
  expect(bob.states.map((state) => state.split(':')[0])).toEqual([
    ...['ringing', 'connecting', 'connected', 'hangup'],
  ] as never)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.calls.hangUp()
  await alice.is('rejected')
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.person.client.disconnect()
  await alice.is('ended')
})

test('ICE configuration: the relay’s servers are passed to the media of a call', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  for (const { peer } of [alice, bob]) {
    expect(peer.options.iceServers).toEqual([{ urls: ['stun:stun.example:3478'] }])
  }
})

test('call media key material: 44 bytes from the session key, the same for the sender and the receiver', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  const sent = await alice.peer.options.keyOf('own', '0', 1)
  expect(sent.length).toBe(44)
  expect(await bob.peer.options.keyOf('theirs', '0', 1)).toEqual(sent)
})
