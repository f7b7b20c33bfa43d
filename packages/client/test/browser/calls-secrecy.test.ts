// Eavesdroppers on a call between two Chromiums: at the relay, at the TURN server, at a server that ends the
// transport's encryption, and a third person who has every frame and the keys of another call.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decryptCallFrame } from '@sotto/crypto'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../people.ts'
import type { CaughtFrame } from './calls-app.ts'
import { type Caller, CallsWorld, connect, LONG_MS } from './calls-world.ts'

setDefaultTimeout(240_000)
const world = new CallsWorld()

/**
 * This many equal bytes in a row are no coincidence: two frames share them by chance once in years of calls.
 */
const RUN = 8

/**
 * The secret parts of a call's session descriptions, and the ids of the person and the call, from the page's
 * memory.
 */
async function secretsOf(caller: Caller): Promise<{ descriptions: string[]; persons: string[] }> {
  return caller.page.evaluate(async () => {
    const connection = phone.connections.at(-1)
    const { identity } = phone.client
    const sdp = `${connection?.localDescription?.sdp}\n${connection?.remoteDescription?.sdp}`
    const lines = sdp
      .split(/\r?\n/)
      .filter((line) => /^a=(?:ice-ufrag|ice-pwd|fingerprint|candidate|msid)/.test(line))
    const values = lines.flatMap((line) => [line, line.slice(line.indexOf(':') + 1)])
    return {
      descriptions: [...values, 'a=rtpmap', 'a=fingerprint', 'typ relay', 'sdp_type', 'usernameFragment'],
      persons: [identity?.aliasId ?? '', identity?.uuid ?? '', phone.calls.current?.id ?? ''],
    }
  })
}

/** The decoded payloads of all call frames in the text. */
function payloadsIn(text: string): Buffer[] {
  return [...text.matchAll(/"payload":"(?<payload>[^"]+)"/g)].map(({ groups }) =>
    Buffer.from(groups?.payload ?? '', 'base64'),
  )
}

/**
 * Adds the text that precedes a word in a candidate if the word is shorter than a run. The ICE name of a
 * connection is so short that it would occur by chance.
 */
function withItsContext(word: string): string {
  return word.length < RUN ? ` ufrag ${word}` : word
}

/** Fails if `inside` contains a run of bytes from `plain`. */
function expectNothingOf(plain: Buffer, inside: Buffer): void {
  for (let at = 0; at + RUN <= plain.length; at += RUN) {
    const piece = plain.subarray(at, at + RUN)
    // Skips runs of few different bytes, as in silence: they occur in all data.
    if (new Set(piece).size < 4) continue
    if (inside.includes(piece)) throw new Error(`the plain bytes ${piece.toString('hex')} were found`)
  }
}

const sentBy = (caller: Caller): Promise<CaughtFrame[]> =>
  caller.page.evaluate(() => phone.caught().filter(({ way, after }) => way === 'send' && after !== undefined))

test('the relay learns only who calls whom, and the TURN server carries the whole call and learns nothing', async () => {
  const [alice, bob] = await world.pair({ relayOnly: true, isTapped: true })
  const before = world.turn.datagrams.length
  await connect(alice, bob)
  for (const caller of [alice, bob]) {
    const seen = await caller.seesAndHears()
    expect(new Set([...seen.own, ...seen.chosen])).toEqual(new Set(['relay']))
  }
  const secrets = { alice: await secretsOf(alice), bob: await secretsOf(bob) }
  const frames = [...(await sentBy(alice)), ...(await sentBy(bob))]
  const carried = await Promise.all([alice, bob].map((each) => each.page.evaluate(() => phone.bytesSent())))
  await alice.hangUp()
  await bob.is('hangup')

  // The tap at the relay has both directions of HTTP and WebSockets. The test searches payloads as text and
  // decoded.
  const { sent, received } = world.wire.heard()
  for (const heard of [sent, received]) {
    const text = heard.toString('latin1')
    for (const type of ['call_offer', 'call_answer', 'call_ice', 'call_hangup'])
      expect(text).toContain(`"${type}"`)
    const payloads = payloadsIn(text)
    expect(payloads.length).toBeGreaterThan(4)
    const all = Buffer.concat([heard, ...payloads])
    for (const word of [...secrets.alice.descriptions, ...secrets.bob.descriptions].map(withItsContext))
      expect([word, all.includes(word)]).toEqual([word, false])
    // The alias shows that the tap records the traffic.
    expect(text).toContain(secrets.alice.persons[0] ?? 'no alias')
  }

  // The tap at the TURN server has every byte that the two connections sent, and no name, description or
  // plain frame.
  const datagrams = world.turn.datagrams.slice(before)
  const all = Buffer.concat(datagrams)
  expect(Math.min(...carried)).toBeGreaterThan(50_000)
  expect(all.length).toBeGreaterThan(carried.reduce((sum, bytes) => sum + bytes, 0))
  for (const { descriptions, persons } of Object.values(secrets)) {
    // ICE itself shows the words of four characters in its checks: random names of connections, not of
    // people.
    const shown = descriptions.filter((word) => /^[\w+/]{4}$/.test(word))
    const hidden = [...descriptions.filter((word) => !shown.includes(word)), ...persons]
    expect(shown.filter((word) => all.includes(word)).length).toBeGreaterThan(0)
    for (const word of hidden) expect([word, all.includes(word)]).toEqual([word, false])
  }
  expect(frames.length).toBeGreaterThan(100)
  for (const { before: plain } of frames.slice(0, 300)) expectNothingOf(Buffer.from(plain, 'base64'), all)
})

test('a server that ends the transport’s encryption gets only ciphertext', async () => {
  const [alice, bob] = await world.pair({ isTapped: true })
  await connect(alice, bob)
  await Promise.all([alice.seesAndHears(), bob.seesAndHears()])
  await bob.seesAndHearsMore()
  const frames = await sentBy(alice)
  const received = await bob.page.evaluate(() => phone.caught().filter(({ way }) => way === 'receive'))
  for (const [mid, kind] of (['audio', 'video'] as const).entries()) {
    const keyOf = async (name: string) =>
      Buffer.from(await bob.page.evaluate((each) => phone.key(each), name), 'base64')
    const [right, wrong] = [await keyOf(`theirs ${mid} 1`), await keyOf(`own ${mid} 1`)]
    const ofKind = frames.filter((frame) => frame.kind === kind)
    expect(ofKind.length).toBeGreaterThan(20)
    for (const [at, { before, after = '' }] of ofKind.entries()) {
      const [plain, frame] = [Buffer.from(before, 'base64'), Buffer.from(after, 'base64')]
      // The cipher adds only the counter and the tag. No run of the plain frame is left, not even of its
      // first bytes.
      expect(frame).toHaveLength(8 + plain.length + 16)
      expectNothingOf(plain, frame)
      const opened = await decryptCallFrame({ keyMaterial: right, frame })
      expect([Number(opened.counter), Buffer.from(opened.plaintext).equals(plain)]).toEqual([at, true])
      expect(await failureOf(decryptCallFrame({ keyMaterial: wrong, frame }))).toBeInstanceOf(Error)
    }
    // Bob's decoder gets the frames that Alice's encoder produced.
    const given = new Set(ofKind.map(({ before }) => before))
    const got = received.filter((frame) => frame.kind === kind && given.has(frame.after ?? ''))
    expect(got.length).toBeGreaterThan(10)
  }
})

test('a third person with every frame sees nothing with the keys they can have, and everything with the right key', async () => {
  const [alice, bob] = await world.pair({ isTapped: true })
  const eve = await world.enter('eve', { isTapped: true })
  await eve.befriend(alice)
  await connect(alice, bob)
  await bob.seesAndHears()
  await bob.seesAndHearsMore()
  const all = await sentBy(alice)
  const video = all.filter(({ kind }) => kind === 'video')
  const frames = video.slice(video.findIndex(({ type }) => type === 'key')).slice(0, 30)
  // Eve is Alice's friend, and her call to Alice has other keys.
  expect(await eve.call(alice)).toBe('done')
  await eve.is('rejected: busy')

  const keys: Record<string, string | undefined> = {
    none: undefined,
    ...Object.fromEntries(
      await eve.page.evaluate(() => ['own 0 1', 'own 1 1'].map((name) => [`eve’s ${name}`, phone.key(name)])),
    ),
    ...Object.fromEntries(
      await bob.page.evaluate(async () => {
        const others = { side: 'own 1 1', track: 'theirs 0 1' }
        const named = Object.entries(others).map(([name, key]) => [`another ${name}`, phone.key(key)])
        return [...named, ['another epoch', await phone.keyOfEpoch(2)]]
      }),
    ),
  }
  expect(Object.values(keys).filter((key) => key?.length === 60)).toHaveLength(5)
  const watch = (key?: string) =>
    eve.page.evaluate((each) => phone.watch(each.frames, each.key), { frames, ...(key ? { key } : {}) })
  for (const [name, key] of Object.entries(keys)) {
    const { opened, pictures } = await watch(key)
    expect([name, opened, pictures]).toEqual([name, key === undefined ? frames.length : 0, 0])
  }
  const right = await bob.page.evaluate(() => phone.key('theirs 1 1'))
  const { opened, pictures, different } = await watch(right)
  expect([frames.length, opened, pictures]).toEqual([30, 30, 30])
  expect(different).toBeGreaterThan(5)
})

test('a callee with the wrong keys receives all media, and sees and hears nothing', async () => {
  const [alice, eve] = await world.pair({}, { hasWrongKeys: true })
  await connect(alice, eve)
  await alice.seesAndHears()
  await until('eve has received a lot', async () => (await eve.see()).packetsReceived > 100, LONG_MS)
  const { framesDecoded, different, audioEnergy, pictures } = await eve.see()
  expect({ framesDecoded, different, audioEnergy, pictures }).toEqual({
    framesDecoded: 0,
    different: 0,
    audioEnergy: 0,
    pictures: 0,
  })
})

test('a callee or a caller that does not encrypt its media gets none, and the call says why it ended', async () => {
  const alice = await world.enter('alice', { isTapped: true })
  // Older clients send the same signals without an epoch, and plain media.
  const older = await world.enter('older', {}, () => {
    const { stringify } = JSON
    const isOwnDescription = (value: unknown): value is object =>
      typeof value === 'object' && value !== null && 'sdp' in value && !('_nonce' in value)
    const withoutEpoch = (value: unknown): unknown =>
      isOwnDescription(value) ? { ...value, epoch: undefined } : value
    JSON.stringify = (value: unknown, ...others: []) => stringify(withoutEpoch(value), ...others)
    for (const { prototype } of [RTCRtpSender, RTCRtpReceiver])
      Object.defineProperty(prototype, 'transform', { set() {}, get: () => null })
  })
  await alice.befriend(older)
  expect(await alice.call(older)).toBe('done')
  await older.is('ringing')
  expect(await older.accept()).toBe('done')
  await alice.is('ended: unencrypted')
  await older.is('hangup')
  expect(await alice.page.evaluate(() => [phone.caught().length, phone.connections.length])).toEqual([0, 1])
  expect(await alice.page.evaluate(() => phone.connections[0]?.signalingState)).toBe('closed')

  expect(await older.call(alice)).toBe('done')
  await older.is('rejected')
  await alice.is('ended: unencrypted')
  // Alice's browser has not even made a connection for this call.
  expect(await alice.page.evaluate(() => phone.connections.length)).toBe(1)
  const { packetsReceived } = await older.see()
  expect(packetsReceived).toBe(0)
})
