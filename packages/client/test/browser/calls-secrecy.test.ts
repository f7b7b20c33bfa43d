// Who listens to a call between two Chromiums: at the relay, at the TURN server, behind the transport's own encryption, and a
// third with every frame and keys of their own.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decryptCallFrame } from '@sotto/crypto'
import { until } from '../people.ts'
import type { CaughtFrame } from './calls-app.ts'
import { type Caller, CallsWorld, connect, LONG_MS } from './calls-world.ts'

setDefaultTimeout(120_000)
const world = new CallsWorld()

/** Bytes in a row that are no chance: two frames' bytes agree on that many once in years of calls. */
const RUN = 8

/** What is secret about a call, or names who is in it, as it stands in memory. */
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

/** The payloads of the frames of calls, as bytes. */
function payloadsIn(text: string): Buffer[] {
  return [...text.matchAll(/"payload":"(?<payload>[^"]+)"/g)].map(({ groups }) =>
    Buffer.from(groups?.payload ?? '', 'base64'),
  )
}

/** A word that is shorter than a run, as the name of a connection for ICE is, with what goes before it in a candidate. */
function withItsPlace(word: string): string {
  return word.length < RUN ? ` ufrag ${word}` : word
}

/** Has no piece of `plain` that is a run. */
function expectNothingOf(plain: Buffer, inside: Buffer): void {
  for (let at = 0; at + RUN <= plain.length; at += RUN) {
    const piece = plain.subarray(at, at + RUN)
    // Silence and the like: runs that are in everything.
    if (new Set(piece).size < 4) continue
    if (inside.includes(piece)) throw new Error(`${piece.toString('hex')} is there`)
  }
}

const sentBy = (caller: Caller): Promise<CaughtFrame[]> =>
  caller.page.evaluate(() => phone.caught().filter(({ way, after }) => way === 'send' && after !== undefined))

test('the relay hears who calls whom and nothing else; the TURN server carries all of it and learns nothing', async () => {
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

  // The wiretap at the relay: both directions, HTTP and WebSockets, payloads as text and as what they decode to.
  const { sent, received } = world.wire.heard()
  for (const heard of [sent, received]) {
    const text = heard.toString('latin1')
    for (const type of ['call_offer', 'call_answer', 'call_ice', 'call_hangup'])
      expect(text).toContain(`"${type}"`)
    const payloads = payloadsIn(text)
    expect(payloads.length).toBeGreaterThan(4)
    const all = Buffer.concat([heard, ...payloads])
    for (const word of [...secrets.alice.descriptions, ...secrets.bob.descriptions].map(withItsPlace))
      expect([word, all.includes(word)]).toEqual([word, false])
    // The tap hears what there is to be heard.
    expect(text).toContain(secrets.alice.persons[0] ?? 'no alias')
  }

  // The wiretap at the TURN server: it has every byte the two connections sent, and no name, description or plain frame.
  const datagrams = world.turn.datagrams.slice(before)
  const all = Buffer.concat(datagrams)
  expect(Math.min(...carried)).toBeGreaterThan(50_000)
  expect(all.length).toBeGreaterThan(carried.reduce((sum, bytes) => sum + bytes, 0))
  for (const { descriptions, persons } of Object.values(secrets)) {
    // ICE itself shows the first of these in its checks: a random name of the connection, not of anybody.
    const shown = descriptions.filter((word) => /^[\w+/]{4}$/.test(word))
    const hidden = [...descriptions.filter((word) => !shown.includes(word)), ...persons]
    expect(shown.filter((word) => all.includes(word)).length).toBeGreaterThan(0)
    for (const word of hidden) expect([word, all.includes(word)]).toEqual([word, false])
  }
  expect(frames.length).toBeGreaterThan(100)
  for (const { before: plain } of frames.slice(0, 300)) expectNothingOf(Buffer.from(plain, 'base64'), all)
})

test('behind the transport’s encryption there is ciphertext: what a server that ends it would have', async () => {
  const [alice, bob] = await world.pair({ isTapped: true })
  await connect(alice, bob)
  await Promise.all([alice.seesAndHears(), bob.seesAndHears()])
  await bob.seesOn()
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
      // Counter and tag are all that was added; of the plain frame not a run is left, its first bytes included.
      expect(frame).toHaveLength(8 + plain.length + 16)
      expectNothingOf(plain, frame)
      const opened = await decryptCallFrame({ keyMaterial: right, frame })
      expect([Number(opened.counter), Buffer.from(opened.plaintext).equals(plain)]).toEqual([at, true])
      await expect(decryptCallFrame({ keyMaterial: wrong, frame })).rejects.toThrow()
    }
    // What the other side's decoder gets is what this one's encoder gave.
    const given = new Set(ofKind.map(({ before }) => before))
    const got = received.filter((frame) => frame.kind === kind && given.has(frame.after ?? ''))
    expect(got.length).toBeGreaterThan(10)
  }
})

test('a third with every frame sees nothing by any key they can have, and all of it by the right one', async () => {
  const [alice, bob] = await world.pair({ isTapped: true })
  const eve = await world.enter('eve', { isTapped: true })
  await eve.befriend(alice)
  await connect(alice, bob)
  await bob.seesAndHears()
  await bob.seesOn()
  const all = await sentBy(alice)
  const video = all.filter(({ kind }) => kind === 'video')
  const frames = video.slice(video.findIndex(({ type }) => type === 'key')).slice(0, 30)
  // A friend of one of the two, whose own call has keys of its own.
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

test('who is called and has the wrong keys receives everything and sees and hears nothing', async () => {
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
