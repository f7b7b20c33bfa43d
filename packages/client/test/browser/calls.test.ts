// Calls between headless Chromiums: they see and hear each other through a real TURN server, and nobody else does.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { decryptCallFrame } from '@sotto/crypto'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { type Coturn, startCoturn } from '@sotto/relay/testing/coturn'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { until } from '../people.ts'
import type { PhoneSettings, Seen } from './calls-app.ts'
import { type ServedApp, serveApp, startChromium } from './chromium.ts'

setDefaultTimeout(120_000)

const SECRET = 'a secret of 32 characters or so!'
const FLAGS = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]
const LONG_MS = 40_000

let coturn: Coturn
let relay: RelayProcess
let browser: Browser
let app: ServedApp
const contexts: BrowserContext[] = []

beforeAll(async () => {
  coturn = await startCoturn(SECRET)
  const files = ['calls-app.ts', '../../src/calls/call-worker.ts', 'calls-tap-worker.ts']
  const [entry = '', ...workers] = files.map((file) => join(import.meta.dir, file))
  ;[relay, browser, app] = await Promise.all([
    startRelay({ env: { TURN_URLS: `turn:127.0.0.1:${coturn.port}`, TURN_SECRET: SECRET } }),
    startChromium(FLAGS),
    serveApp(entry, ...workers),
  ])
})
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close()
})
afterAll(async () => {
  await browser.close()
  await Promise.all([relay.stop(), app.stop(), coturn.stop()])
})

/** One person, in a page of a browser of their own. */
class Caller {
  readonly page: Page
  /** Everything that left or came by the page's WebSocket. */
  readonly wire: string[] = []

  private constructor(page: Page) {
    this.page = page
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => this.wire.push(String(payload)))
      socket.on('framereceived', ({ payload }) => this.wire.push(String(payload)))
    })
  }

  static async enter(
    nickname: string,
    settings: Partial<PhoneSettings> = {},
    before?: () => void,
  ): Promise<Caller> {
    const context = await browser.newContext()
    contexts.push(context)
    await context.addInitScript(
      (all) => {
        globalThis.phoneSettings = all
      },
      { relayUrl: relay.url, nickname, ...settings },
    )
    if (before) await context.addInitScript(before)
    const page = await context.newPage()
    const caller = new Caller(page)
    await page.goto(app.url)
    await page.waitForFunction(() => 'isReady' in globalThis)
    return caller
  }

  async befriend(other: Caller): Promise<void> {
    const alias = await other.alias()
    await this.page.evaluate((to) => phone.client.requestFriend(to), alias)
    await until('they are friends', async () => (await this.friends()) > 0 && (await other.friends()) > 0)
  }

  friends(): Promise<number> {
    return this.page.evaluate(async () => (await phone.client.conversations()).length)
  }

  alias(): Promise<string> {
    return this.page.evaluate(() => phone.client.identity?.aliasId ?? '')
  }

  async is(state: string): Promise<void> {
    let states: string[] = []
    await until(
      `the call is ${state}`,
      async () => {
        states = await this.page.evaluate(() => phone.states)
        return states.at(-1)?.startsWith(state)
      },
      LONG_MS,
    ).catch(async (error) => {
      throw new Error(`${error.message}: ${states} ${await this.page.evaluate(() => phone.errors)}`)
    })
  }

  see(): Promise<Seen> {
    return this.page.evaluate(() => phone.see())
  }

  /** Waits until the other side is seen to move and heard. */
  async seesAndHears(): Promise<Seen> {
    let seen = await this.see()
    await until(
      'the other side is seen and heard',
      async () => {
        seen = await this.see()
        return seen.different >= 5 && seen.framesDecoded >= 20 && seen.audioEnergy > 0
      },
      LONG_MS,
    ).catch((error) => {
      throw new Error(`${error.message}: ${JSON.stringify(seen)}`)
    })
    return seen
  }
}

async function pair(settings: Partial<PhoneSettings> = {}, ofBob = settings): Promise<[Caller, Caller]> {
  const [alice, bob] = [await Caller.enter('alice', settings), await Caller.enter('bob', ofBob)]
  await alice.befriend(bob)
  return [alice, bob]
}

async function connect(alice: Caller, bob: Caller): Promise<void> {
  const to = await bob.alias()
  expect(await alice.page.evaluate((alias) => phone.call(alias), to)).toBe('done')
  await bob.is('ringing')
  expect(await bob.page.evaluate(() => phone.accept())).toBe('done')
  await alice.is('connected')
  await bob.is('connected')
}

test('two browsers see and hear each other through TURN alone, and the signalling gives nothing away', async () => {
  const [alice, bob] = await pair({ relayOnly: true })
  await connect(alice, bob)
  for (const caller of [alice, bob]) {
    const seen = await caller.seesAndHears()
    expect(new Set([...seen.own, ...seen.chosen])).toEqual(new Set(['relay']))
    expect(seen.codec).toBe('video/VP9')
    expect(seen.pictures).toBeGreaterThan(5)
  }
  await alice.page.evaluate(() => phone.calls.hangUp())
  await bob.is('hangup: hung_up_by_peer')
  await alice.is('hangup: hung_up')

  const signals = [...alice.wire, ...bob.wire].filter((text) => text.includes('"call_'))
  expect(signals.length).toBeGreaterThan(4)
  for (const text of signals) {
    const { payload } = JSON.parse(text)
    const bytes = Buffer.from(payload, 'base64').toString('latin1')
    for (const word of ['sdp', 'candidate', 'ice-ufrag', 'a=fingerprint', 'typ relay', '127.0.0.1'])
      expect(`${text.replace(payload, '')} ${bytes}`).not.toContain(word)
  }
})

test('every frame that is handed on to be sent is ciphertext: only the pair’s key opens it', async () => {
  const [alice, bob] = await pair({ isTapped: true })
  await connect(alice, bob)
  await alice.seesAndHears()
  await bob.seesAndHears()
  const tapOf = (caller: Caller) =>
    caller.page.evaluate(() => ({
      frames: phone.frames.map(({ way, kind, before, after }) => ({
        way,
        kind,
        before: [...before],
        after: [...after],
      })),
      keys: [...phone.keys].map(([name, key]) => [name, [...key]] as const),
    }))
  const [alices, bobs] = [await tapOf(alice), await tapOf(bob)]
  const sent = alices.frames.filter(({ way }) => way === 'send')
  const kinds = ['audio', 'video'] as const
  const keys = new Map(bobs.keys.map(([name, key]) => [name, Uint8Array.from(key)]))
  for (const [mid, kind] of kinds.entries()) {
    const frames = sent.filter((frame) => frame.kind === kind)
    expect(frames.length).toBeGreaterThan(20)
    const keyMaterial = keys.get(`theirs ${mid} 1`) ?? new Uint8Array()
    const wrong = keys.get(`own ${mid} 1`) ?? new Uint8Array()
    for (const [at, { before, after }] of frames.entries()) {
      const frame = Uint8Array.from(after)
      const { counter, plaintext } = await decryptCallFrame({ keyMaterial, frame })
      expect([Number(counter), [...plaintext]]).toEqual([at, before])
      await expect(decryptCallFrame({ keyMaterial: wrong, frame })).rejects.toThrow()
    }
    // What the decoder of the other side gets is what the encoder of this one gave.
    const given = new Set(frames.map(({ before }) => before.join()))
    const got = bobs.frames.filter((frame) => frame.way === 'receive' && frame.kind === kind)
    expect(got.filter(({ after }) => given.has(after.join())).length).toBeGreaterThan(10)
  }
})

test('who has the wrong keys receives everything and sees and hears nothing', async () => {
  const [alice, eve] = await pair({}, { hasWrongKeys: true })
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

test('keys are replaced in the middle of a call, and a worker that dies goes on under the next', async () => {
  const [alice, bob] = await pair({ framesPerEpoch: 150 })
  await connect(alice, bob)
  await bob.seesAndHears()
  const epochs = (caller: Caller) => caller.page.evaluate(() => phone.epochs)
  await until('alice is in her third epoch', async () => (await epochs(alice)).sent.includes(3), LONG_MS)
  const before = await bob.see()
  await until('bob sees on', async () => (await bob.see()).framesDecoded > before.framesDecoded + 20, LONG_MS)

  const { sent } = await epochs(alice)
  await alice.page.evaluate(() => phone.loseWorker())
  await until('alice begins anew', async () => (await epochs(alice)).sent.length > sent.length, LONG_MS)
  const [atBob, atAlice] = [await bob.see(), await alice.see()]
  await until('bob sees on', async () => (await bob.see()).framesDecoded > atBob.framesDecoded + 20, LONG_MS)
  await until(
    'and alice',
    async () => (await alice.see()).framesDecoded > atAlice.framesDecoded + 20,
    LONG_MS,
  )
  const all = (await epochs(alice)).sent
  expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b))
  expect(await alice.page.evaluate(() => phone.workers.length)).toBe(2)
})

test('video is turned off and on in a call that began without', async () => {
  const [alice, bob] = await pair()
  const to = await bob.alias()
  expect(await alice.page.evaluate((alias) => phone.call(alias, false), to)).toBe('done')
  await bob.is('ringing')
  expect(await bob.page.evaluate(() => phone.accept(false))).toBe('done')
  await bob.is('connected')
  await until('bob hears', async () => (await bob.see()).audioEnergy > 0, LONG_MS)
  expect((await bob.see()).framesDecoded).toBe(0)
  await alice.page.evaluate(() => phone.turnVideo(true))
  await bob.seesAndHears()
  await alice.page.evaluate(() => phone.turnVideo(false))
  const theirs = () => bob.page.evaluate(() => phone.calls.current?.theirMedia)
  await until('bob is told', async () => (await theirs())?.video === false)
  await Bun.sleep(1000)
  const { framesDecoded } = await bob.see()
  await Bun.sleep(1500)
  expect((await bob.see()).framesDecoded).toBe(framesDecoded)
})

test('a browser that cannot encrypt calls nobody', async () => {
  const lacking = await Caller.enter('alice', {}, () => {
    Reflect.deleteProperty(globalThis, 'RTCRtpScriptTransform')
  })
  const bob = await Caller.enter('bob')
  await lacking.befriend(bob)
  const to = await bob.alias()
  expect(await lacking.page.evaluate((alias) => phone.call(alias), to)).toBe('UNSUPPORTED')
  await lacking.is('ended: failed')
  expect(await lacking.page.evaluate(() => phone.connections.length)).toBe(0)
})

test('a side that is gone ends the call', async () => {
  const [alice, bob] = await pair()
  await connect(alice, bob)
  await alice.page.context().close()
  contexts.splice(0, 1)
  await bob.is('ended')
})
