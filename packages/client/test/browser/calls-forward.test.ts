// A call between two Chromiums under version 3: what the relay hears of it, and where its keys come from.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decodeBase64, decryptMessage, deriveCallMediaKey, encodeBase64 } from '@sotto/crypto'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { type Caller, CallsWorld, connect } from './calls-world.ts'

setDefaultTimeout(240_000)
const world = new CallsWorld('calls-forward-app.ts')

/** More rounds than it takes to announce, to begin and to answer. */
const MOST_ROUNDS = 12

interface Signal {
  readonly type: string
  readonly call_id: string
  readonly crypto_v: number
  readonly payload: string
}

/** Two people talk until both write under version 3. */
async function talkUntilSecret(one: Caller, other: Caller): Promise<void> {
  const aliases = [await other.alias(), await one.alias()]
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const versions: number[] = []
    for (const [at, { page }] of [one, other].entries()) {
      const said = { to: aliases[at] ?? '', text: `round ${round}` }
      versions.push(await page.evaluate(({ to, text }) => phone.say(to, text), said))
    }
    if (versions.every((version) => version === 3)) return
  }
  throw new Error(`no forward secrecy after ${MOST_ROUNDS} rounds`)
}

/** The signals in a record of the line to the relay. */
function signalsIn(text: string): Signal[] {
  return [...text.matchAll(/\{"type":"call_(?:offer|answer|ice|hangup)"[^{}]*\}/g)].map(([json]) =>
    JSON.parse(json),
  )
}

/** The lines of the session descriptions that say who sends from where, from the page's memory. */
function descriptionOf(caller: Caller): Promise<string[]> {
  return caller.page.evaluate(() => {
    const connection = phone.connections.at(-1)
    const sdp = `${connection?.localDescription?.sdp}\n${connection?.remoteDescription?.sdp}`
    return sdp.split(/\r?\n/).filter((line) => /^a=(?:ice-pwd|fingerprint|candidate|msid)/.test(line))
  })
}

/** The frame keys of a page, by side and section. */
function keysOf(caller: Caller): Promise<Record<string, string>> {
  return caller.page.evaluate(() => {
    const names = ['own 0 1', 'own 1 1', 'theirs 0 1', 'theirs 1 1']
    return Object.fromEntries(names.map((name) => [name, phone.key(name)]))
  })
}

test('signals go under version 3, and the keys of frames are new for each call and sender and not of the static key', async () => {
  const [alice, bob] = await world.pair({ hasForwardSecrecy: true })
  await talkUntilSecret(alice, bob)
  const sessionKey = decodeBase64(await alice.page.evaluate(() => phone.staticKey()))
  expect(sessionKey).toHaveLength(32)

  const [keys, lines, calls]: [string[], string[], string[]] = [[], [], []]
  for (const _ of ['first', 'second']) {
    await connect(alice, bob)
    await Promise.all([alice.seesAndHears(), bob.seesAndHears()])
    const [ofAlice, ofBob] = [await keysOf(alice), await keysOf(bob)]
    for (const section of ['0 1', '1 1']) {
      expect(ofBob[`theirs ${section}`]).toBe(ofAlice[`own ${section}`] ?? 'none')
      expect(ofAlice[`theirs ${section}`]).toBe(ofBob[`own ${section}`] ?? 'none')
    }
    keys.push(...Object.values(ofAlice))
    const callId = await alice.page.evaluate(() => phone.calls.current?.id ?? '')
    for (const sender of [alice, bob])
      for (const mid of ['0', '1']) {
        const place = { sessionKey, callId, senderAlias: await sender.alias(), mid, epoch: 1 }
        keys.push(encodeBase64(await deriveCallMediaKey(place)))
      }
    lines.push(...(await descriptionOf(alice)))
    calls.push(callId)
    await alice.hangUp()
    await bob.is('hangup')
  }
  // Of each call: two senders with two sections, and as many that the static key would give.
  expect(new Set(keys).size).toBe(2 * 2 * 2 * 2)
  for (const key of keys) expect(decodeBase64(key)).toHaveLength(44)

  const { sent, received } = world.wire.heard()
  const signals = [sent, received].flatMap((heard) => signalsIn(heard.toString('latin1')))
  for (const id of calls) {
    const types = new Set(signals.filter(({ call_id }) => call_id === id).map(({ type }) => type))
    expect([...types].toSorted()).toEqual(['call_answer', 'call_hangup', 'call_ice', 'call_offer'])
  }
  expect(lines.some((line) => line.startsWith('a=candidate'))).toBe(true)
  for (const { crypto_v, payload } of signals) {
    expect(crypto_v).toBe(3)
    const bytes = Buffer.from(payload, 'base64').toString('latin1')
    for (const line of [...lines, 'sdp', 'candidate']) expect(bytes).not.toContain(line)
    expect(await failureOf(decryptMessage({ sessionKey, payload }))).toMatchObject({
      code: 'DECRYPTION_FAILED',
    })
  }
  for (const { page } of [alice, bob]) expect(await page.evaluate(() => phone.errors)).toEqual([])
})
