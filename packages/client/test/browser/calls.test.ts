// Calls between headless Chromiums: they see and hear each other through a real TURN server, even when the
// network fails.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decryptCallFrame } from '@sotto/crypto'
import { until } from '../people.ts'
import { type Caller, CallsWorld, comesToRest, connect, LONG_MS } from './calls-world.ts'

setDefaultTimeout(240_000)
const world = new CallsWorld()

/** Expects that every frame this side received was encrypted with one of the other side's keys. */
async function expectNothingInTheClear(caller: Caller): Promise<void> {
  const { frames, keys } = await caller.page.evaluate(() => ({
    frames: phone.caught().filter(({ way, before }) => way === 'receive' && before !== ''),
    keys: [...phone.keys.keys()].map((name) => [name, phone.key(name)] as const),
  }))
  expect(frames.length).toBeGreaterThan(50)
  for (const { kind, before } of frames) {
    const mid = kind === 'audio' ? '0' : '1'
    const openings = keys
      .filter(([name]) => name.startsWith(`theirs ${mid} `))
      .map(async ([, key]) => {
        const keyMaterial = Buffer.from(key, 'base64')
        await decryptCallFrame({ keyMaterial, frame: Buffer.from(before, 'base64') })
      })
    await Promise.any(openings)
  }
}

test('two browsers see and hear each other through TURN alone, and free everything when a call ends', async () => {
  const [alice, bob] = await world.pair({ relayOnly: true })
  await connect(alice, bob)
  for (const caller of [alice, bob]) {
    const seen = await caller.seesAndHears()
    expect(new Set([...seen.own, ...seen.chosen])).toEqual(new Set(['relay']))
    expect(seen.codec).toBe('video/VP9')
    expect(seen.pictures).toBeGreaterThan(5)
  }
  // Only codecs whose frames can be encrypted as a whole are offered.
  const sdp = await alice.page.evaluate(() => phone.connections[0]?.localDescription?.sdp ?? '')
  const codecs = [...sdp.matchAll(/^a=rtpmap:\d+ (?<codec>[^/]+)/gm)].map(({ groups }) => groups?.codec)
  expect(new Set(codecs)).toEqual(new Set(['opus', 'VP9', 'rtx', 'VP8']))

  // The candidates do not contain the browser's own address: their related address is 0.0.0.0.
  const behind = [...sdp.matchAll(/^a=candidate.* raddr (?<address>\S+)/gm)].map(
    ({ groups }) => groups?.address,
  )
  expect(new Set(behind)).toEqual(new Set(['0.0.0.0']))

  await alice.hangUp()
  await bob.is('hangup: hung_up_by_peer')
  await alice.is('hangup: hung_up')
  // The next two calls are freed as well: one is rejected, and the caller ends the other before an answer.
  expect(await bob.call(alice)).toBe('done')
  await alice.is('ringing')
  await alice.hangUp()
  await bob.is('rejected')
  expect(await bob.call(alice)).toBe('done')
  await bob.hangUp()
  for (const caller of [alice, bob]) {
    const left = await caller.page.evaluate(() => ({
      open: phone.connections.filter(({ signalingState }) => signalingState !== 'closed').length,
      workers: phone.workers.length - phone.terminated,
    }))
    expect(left).toEqual({ open: 0, workers: 0 })
  }
  expect(await bob.page.evaluate(() => phone.connections.length)).toBe(3)
})

test('without VP9 a call uses VP8, and no call is made with codecs that cannot be encrypted', async () => {
  const without = ['video/VP9']
  const [alice, bob] = await world.pair({ without })
  await connect(alice, bob)
  for (const caller of [alice, bob]) expect((await caller.seesAndHears()).codec).toBe('video/VP8')
  const carol = await world.enter('carol', { without: ['video/VP9', 'video/VP8'] })
  await carol.befriend(bob)
  expect(await carol.call(bob)).toBe('UNSUPPORTED')
  await carol.is('ended: failed')
})

test('keys are replaced during a call, and the worker that replaces a dead one uses the next key', async () => {
  const [alice, bob] = await world.pair({ framesPerEpoch: 40, isTapped: true })
  await connect(alice, bob)
  const epochs = (caller: Caller) => caller.page.evaluate(() => phone.epochs)
  await until('alice is in her third epoch', async () => (await epochs(alice)).sent.includes(3), LONG_MS)
  await bob.seesAndHearsMore()

  const { sent } = await epochs(alice)
  await alice.page.evaluate(() => phone.loseWorker())
  await until(
    'alice begins a new epoch',
    async () => (await epochs(alice)).sent.length > sent.length,
    LONG_MS,
  )
  await Promise.all([bob.seesAndHearsMore(), alice.seesAndHearsMore()])
  for (const caller of [alice, bob]) {
    const all = (await epochs(caller)).sent
    expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b))
  }
  expect(await alice.page.evaluate(() => phone.workers.length)).toBe(2)

  // Without a worker that can encrypt, nothing is sent.
  await alice.page.evaluate(() => {
    phone.areWorkersEmpty = true
    phone.loseWorker()
  })
  const sentBy = () => alice.page.evaluate(() => phone.sent())
  await comesToRest('alice sends nothing', sentBy)
  expect((await sentBy()).audio).toBeGreaterThan(100)
  for (const caller of [alice, bob]) await expectNothingInTheClear(caller)
})

test('a call continues on another network path when its network is lost', async () => {
  const [alice, bob] = await world.pair({ relayOnly: true, isTapped: true })
  await connect(alice, bob)
  await Promise.all([alice.seesAndHears(), bob.seesAndHears()])
  const states = () => Promise.all([alice.states(), bob.states()])
  const before = (await states()).flat().length
  world.turn.cut()
  await until(
    'one of them notices the lost network',
    async () => (await states()).flat().length > before,
    LONG_MS,
  )
  await alice.is('connected')
  await bob.is('connected')
  await Promise.all([alice.seesAndHearsMore(), bob.seesAndHearsMore()])
  expect((await alice.states()).slice(0, 3)).toEqual(['calling', 'connecting', 'connected'])
  // It is the same call, with the same connection and keys.
  for (const caller of [alice, bob]) {
    expect(await caller.page.evaluate(() => phone.connections.length)).toBe(1)
    expect((await caller.page.evaluate(() => phone.epochs)).sent).toEqual([1])
    await expectNothingInTheClear(caller)
  }
})

test('if the network loses too many packets, video stops and sound continues', async () => {
  const [alice, bob] = await world.pair({ relayOnly: true })
  await connect(alice, bob)
  await bob.seesAndHears()
  world.turn.lossShare = 0.35
  const own = (caller: Caller) => caller.page.evaluate(() => phone.calls.current)
  await until('alice’s video is dropped', async () => (await own(alice))?.isVideoDropped, LONG_MS)
  await until(
    'bob learns that alice’s video is off',
    async () => (await own(bob))?.theirMedia.video === false,
  )
  expect((await own(alice))?.ownMedia).toEqual({ audio: true, video: false })
  const { audioEnergy } = await bob.see()
  await until('bob hears more', async () => (await bob.see()).audioEnergy > audioEnergy)
})

test('video can be turned on and off in a call that began without video', async () => {
  const [alice, bob] = await world.pair({ isTapped: true })
  expect(await alice.call(bob, false)).toBe('done')
  await bob.is('ringing')
  expect(await bob.accept(false)).toBe('done')
  await bob.is('connected')
  await until('bob hears', async () => (await bob.see()).audioEnergy > 0, LONG_MS)
  expect((await bob.see()).framesDecoded).toBe(0)
  await alice.page.evaluate(() => phone.turnVideo(true))
  await bob.seesAndHears()
  await alice.page.evaluate(() => phone.turnVideo(false))
  const theirs = () => bob.page.evaluate(() => phone.calls.current?.theirMedia)
  await until('bob learns that alice’s video is off', async () => (await theirs())?.video === false)
  await comesToRest('bob sees no more pictures', async () => (await bob.see()).framesDecoded)
  await expectNothingInTheClear(bob)
})

test('a browser that cannot encrypt cannot call', async () => {
  const lacking = await world.enter('alice', {}, () => {
    Reflect.deleteProperty(globalThis, 'RTCRtpScriptTransform')
  })
  const [bob, workless] = await world.pair({}, { hasNoWorkers: true })
  await lacking.befriend(bob)
  expect(await lacking.call(bob)).toBe('UNSUPPORTED')
  await lacking.is('ended: failed')
  expect(await lacking.page.evaluate(() => phone.connections.length)).toBe(0)
  expect(await workless.call(bob)).toBe('UNSUPPORTED')
  await workless.is('ended: failed')
  const states = () => phone.connections.map(({ signalingState }) => signalingState)
  expect(await workless.page.evaluate(states)).toEqual(['closed'])
})

test('a call ends when the peer’s browser is closed', async () => {
  const [alice, bob] = await world.pair()
  await connect(alice, bob)
  await bob.page.evaluate(() => {
    phone.hurry = 100
  })
  await alice.page.context().close()
  await bob.is('ended')
})

test('a caller that sends without encryption is neither seen nor heard', async () => {
  const alice = await world.enter('alice', {}, () => {
    for (const { prototype } of [RTCRtpSender, RTCRtpReceiver])
      Object.defineProperty(prototype, 'transform', { set() {}, get: () => null })
  })
  const bob = await world.enter('bob')
  await alice.befriend(bob)
  await connect(alice, bob)
  await until('bob has received a lot', async () => (await bob.see()).packetsReceived > 100, LONG_MS)
  const { framesDecoded, different, audioEnergy } = await bob.see()
  expect({ framesDecoded, different, audioEnergy }).toEqual({
    framesDecoded: 0,
    different: 0,
    audioEnergy: 0,
  })
})

test('extra media in an offer are declined, and a call with far too many media is refused', async () => {
  const [alice, bob] = await world.pair({ extraVideos: 2 }, {})
  await connect(alice, bob)
  await until('the data channel is closed', () =>
    alice.page.evaluate(() => phone.channels.includes('closed')),
  )
  const ways = () =>
    phone.connections[0]?.getTransceivers().map(({ receiver, currentDirection, sender }) => ({
      ...{ kind: receiver.track.kind, currentDirection },
      isEncrypted: sender.transform instanceof RTCRtpScriptTransform,
    }))
  const used = { currentDirection: 'sendrecv', isEncrypted: true } as const
  const unused = { currentDirection: 'inactive', isEncrypted: false } as const
  expect((await bob.page.evaluate(ways))?.toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual([
    { kind: 'audio', ...used },
    { kind: 'video', ...used },
    { kind: 'video', ...unused },
    { kind: 'video', ...unused },
  ])

  const mallory = await world.enter('mallory', { extraVideos: 7 })
  await alice.hangUp()
  await bob.is('hangup')
  await mallory.befriend(bob)
  expect(await mallory.call(bob)).toBe('done')
  await bob.is('ringing')
  expect(await bob.accept()).toBe('BAD_REPLY')
  await mallory.is('hangup')
})
