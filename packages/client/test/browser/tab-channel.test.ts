// The messages between tabs: from other versions, unreadable, without an answer, and sent a second time.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../people.ts'
import { prepare } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()
/** The version of the messages between tabs: `CHANNEL_VERSION`. */
const VERSION = 6

/**
 * A page of the same origin, without the client, in which the test itself exchanges messages with the tabs.
 */
class Stranger {
  readonly #page: Page

  private constructor(page: Page) {
    this.#page = page
  }

  static async open(context: BrowserContext): Promise<Stranger> {
    const page = await context.newPage()
    await page.route('**/stranger', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>x</title>' }),
    )
    await page.goto(`${world.app.url}/stranger`)
    await page.evaluate(() => {
      const heard: unknown[] = []
      const channel = new BroadcastChannel('sotto test')
      channel.addEventListener('message', ({ data }) => heard.push(data))
      Object.assign(globalThis, { heard, channel })
    })
    return new Stranger(page)
  }

  async post(data: unknown): Promise<void> {
    await this.#page.evaluate((data) => Reflect.get(globalThis, 'channel').postMessage(data), data)
  }

  async heard(type: string): Promise<Record<string, unknown>[]> {
    const all: unknown = await this.#page.evaluate(() => Reflect.get(globalThis, 'heard'))
    const said = all as { version: number; message: Record<string, unknown> }[]
    return said.map(({ message }) => message).filter((message) => message.type === type)
  }

  /** Takes the lock of the leader and keeps it. */
  async takeLock(): Promise<void> {
    await this.#page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          void navigator.locks.request('sotto test', () => {
            resolve()
            return new Promise(() => {})
          })
        }),
    )
  }

  /** Creates a store with the version of a future app. */
  async writeNewerStore(): Promise<void> {
    await this.#page.evaluate(
      () =>
        new Promise<void>((resolve, reject) => {
          const request = indexedDB.open('test', 1000)
          request.onsuccess = () => {
            request.result.close()
            resolve()
          }
          request.onerror = () => reject(request.error)
        }),
    )
  }

  /** Answers every hello as the leader does, and answers nothing else. */
  async pretendToLead(): Promise<void> {
    await this.#page.evaluate((version) => {
      const channel: BroadcastChannel = Reflect.get(globalThis, 'channel')
      const state = { networkState: 'disconnected', isLocked: false, isSealed: false, hasPassphrase: false }
      const message = { type: 'leading', leader: 'nobody', state }
      channel.addEventListener('message', ({ data }) => {
        if (data.message.type === 'hello') channel.postMessage({ version, message })
      })
    }, VERSION)
  }

  /**
   * Calls a method of the leader as another tab does. `again` marks a repeated call. Returns the answer or
   * the failure.
   */
  async ask(method: string, args: readonly unknown[], again: boolean): Promise<unknown> {
    await this.post({ version: VERSION, message: { type: 'hello' } })
    const leader = await until(
      'the leader answers the hello',
      async () => (await this.heard('leading')).at(-1)?.leader,
    )
    const id = `${method} ${args} ${again}`
    await this.post({ version: VERSION, message: { type: 'request', id, leader, method, args, again } })
    return until('the leader answers the call', async () => {
      const answer = (await this.heard('answer')).find((message) => message.id === id)
      const failure = (await this.heard('failure')).find((message) => message.id === id)
      return answer ? { answer: answer.answer ?? null } : failure && { failure: failure.error }
    })
  }

  close(): Promise<void> {
    return this.#page.close()
  }
}

test('tabs of an older version stop and report an error when a newer version of the app appears', async () => {
  const alice = await world.enter('alice')
  const second = await world.open(alice.page.context())
  const stranger = await Stranger.open(alice.page.context())
  await stranger.post({ version: VERSION + 1, message: { type: 'what this version does not know' } })
  for (const tab of [alice, second]) {
    await until('the tab reports it', async () => (await tab.heard('error')).length > 0)
    expect(await tab.heard('error')).toEqual([{ code: 'OUTDATED_TAB' }])
    expect(await failureOf(tab.call('countUnsent'))).toMatchObject({ code: 'OUTDATED_TAB' })
    expect(await tab.networkState()).toBe('disconnected')
  }
  await until('the connection is closed', () => alice.sockets.open === 0)
  // The old tabs have released the client, so the newer version can run it.
  await stranger.takeLock()
})

test('messages from an older version are ignored, and answered with a hello that makes its tabs stop', async () => {
  const alice = await world.enter('alice')
  const stranger = await Stranger.open(alice.page.context())
  await stranger.post({ version: 1, message: { type: 'hand_over', to: 'me' } })
  await until('the older version gets the hello', async () => (await stranger.heard('hello')).length > 0)
  expect(await alice.heard('error')).toEqual([])
  expect(await alice.call<number>('countUnsent')).toBe(0)
  expect(alice.sockets).toEqual({ open: 1, ever: 1 })
})

test('invalid messages are reported, and change nothing', async () => {
  const alice = await world.enter('alice')
  const stranger = await Stranger.open(alice.page.context())
  const nonsense = [
    'hello',
    { message: { type: 'hello' } },
    { version: VERSION, message: { type: 'leading', leader: 'x', state: { networkState: 'perhaps' } } },
    { version: VERSION, message: { type: 'event', name: 'message', event: { text: 'from nowhere' } } },
    { version: VERSION, message: { type: 'no such type' } },
  ]
  for (const data of nonsense) await stranger.post(data)
  await until(
    'all invalid messages are reported',
    async () => (await alice.heard('error')).length === nonsense.length,
  )
  expect(await alice.heard('error')).toEqual(nonsense.map(() => ({ code: 'BAD_REPLY' })))
  expect(await alice.heard('message')).toEqual([])
  expect(await stranger.ask('identity', [], false)).toMatchObject({ failure: { code: 'INVALID_ARGUMENT' } })
  expect(await stranger.ask('constructor', [], false)).toMatchObject({
    failure: { code: 'INVALID_ARGUMENT' },
  })
  expect(await stranger.ask('lookUpUser', [], false)).toMatchObject({ failure: { code: 'INVALID_ARGUMENT' } })
  await alice.connected()
})

test('a tab reports that the leader does not answer, and becomes the leader when the leader is gone', async () => {
  const context = await world.newContext({ hurry: 50 })
  const stranger = await Stranger.open(context)
  await stranger.takeLock()
  expect(await failureOf(world.open(context))).toMatchObject({ code: 'NO_ANSWER' })
  await stranger.pretendToLead()
  // From here on the tab gets an answer when it opens, so it waits for the full time.
  await prepare(context, { relayUrl: world.relay.url })
  const tab = await world.open(context)
  await tab.hurry(50)
  expect(await failureOf(tab.call('countUnsent'))).toMatchObject({ code: 'NO_ANSWER' })
  expect(await failureOf(tab.call('recoveryPhrase'))).toMatchObject({ code: 'NO_ANSWER' })
  await tab.hurry(1)
  const asked = tab.call('recoveryPhrase').catch((error: unknown) => error)
  await stranger.close()
  expect(await asked).toMatchObject({ code: 'NO_IDENTITY' })
  expect(await tab.call('restore')).toBe(null)
})

test('a call that is sent again takes effect once, and is not refused', async () => {
  const { alice, b } = await world.friends()
  const stranger = await Stranger.open(alice.page.context())
  const [friend] = await alice.call<{ friendship_id: number }[]>('friends')
  const id = friend?.friendship_id ?? 0
  const refused = (refusal: string): object => ({ failure: { code: 'REFUSED', refusal } })
  expect(await stranger.ask('requestFriend', [b], true)).toEqual({ answer: 'accepted' })
  expect(await stranger.ask('requestFriend', [b], false)).toMatchObject(refused('ALREADY_FRIENDS'))
  expect(await stranger.ask('removeFriend', [id], false)).toEqual({ answer: null })
  expect(await stranger.ask('removeFriend', [id], true)).toEqual({ answer: null })
  expect(await stranger.ask('removeFriend', [id + 1], false)).toMatchObject(refused('NOT_FOUND'))
  expect(await stranger.ask('block', [b], false)).toEqual({ answer: null })
  expect(await stranger.ask('block', [b], true)).toEqual({ answer: null })
  expect(await stranger.ask('unblock', [b], false)).toEqual({ answer: null })
  expect(await stranger.ask('unblock', [b], true)).toEqual({ answer: null })
  expect(await stranger.ask('deleteAccount', [], false)).toEqual({ answer: null })
  expect(await stranger.ask('deleteAccount', [], true)).toEqual({ answer: null })
  expect(await alice.page.evaluate(() => globalThis.app.client.identity)).toBe(undefined)
})

test('a tab that cannot open the store reports why, and leaves the lock to other tabs', async () => {
  const context = await world.newContext()
  const stranger = await Stranger.open(context)
  await stranger.writeNewerStore()
  expect(await failureOf(world.open(context))).toMatchObject({ code: 'STORE_FAILED' })
  await stranger.takeLock()
})
