// What tabs say to each other: of other versions, unreadable, unanswered, and asked a second time.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { until } from '../people.ts'
import { prepare } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(60_000)

const world = new BrowserWorld()

/** A page of the same origin on which a test speaks for itself. */
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

  async say(data: unknown): Promise<void> {
    await this.#page.evaluate((data) => Reflect.get(globalThis, 'channel').postMessage(data), data)
  }

  async heard(type: string): Promise<Record<string, unknown>[]> {
    const all: unknown = await this.#page.evaluate(() => Reflect.get(globalThis, 'heard'))
    const said = all as { version: number; message: Record<string, unknown> }[]
    return said.map(({ message }) => message).filter((message) => message.type === type)
  }

  /** Takes the lock and keeps it. */
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

  /** Leaves a store of a version of the app that is yet to be written. */
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

  /** Answers every hello as a leader does, and nothing else. */
  async pretendToLead(): Promise<void> {
    await this.#page.evaluate(() => {
      const channel: BroadcastChannel = Reflect.get(globalThis, 'channel')
      const state = { networkState: 'disconnected', isLocked: false, isSealed: false }
      const message = { type: 'leading', leader: 'nobody', state }
      channel.addEventListener('message', ({ data }) => {
        if (data.message.type === 'hello') channel.postMessage({ version: 2, message })
      })
    })
  }

  /** Asks the leader as another tab does. Gives the answer, or the failure's code. */
  async ask(method: string, args: readonly unknown[], again: boolean): Promise<unknown> {
    await this.say({ version: 2, message: { type: 'hello' } })
    const leader = await until('the leader', async () => (await this.heard('leading')).at(-1)?.leader)
    const id = `${method} ${args} ${again}`
    await this.say({ version: 2, message: { type: 'call', id, leader, method, args, again } })
    return until('its answer', async () => {
      const answer = (await this.heard('answer')).find((message) => message.id === id)
      const failure = (await this.heard('failure')).find((message) => message.id === id)
      return answer ? { answer: answer.answer ?? null } : failure && { failure: failure.error }
    })
  }

  close(): Promise<void> {
    return this.#page.close()
  }
}

test('tabs retire when a newer version of the app is there, and say so', async () => {
  const alice = await world.enter('alice')
  const second = await world.open(alice.page.context())
  const stranger = await Stranger.open(alice.page.context())
  await stranger.say({ version: 3, message: { type: 'what this version does not know' } })
  for (const tab of [alice, second]) {
    await until('it says so', async () => (await tab.heard('error')).length > 0)
    expect(await tab.heard('error')).toEqual([{ code: 'OUTDATED_TAB' }])
    await expect(tab.call('countUnsent')).rejects.toMatchObject({ code: 'OUTDATED_TAB' })
    expect(await tab.networkState()).toBe('disconnected')
  }
  await until('the connection is closed', () => alice.sockets.open === 0)
  // Nobody holds the client any more: the newer version has it now.
  await stranger.takeLock()
})

test('what an older version says is not listened to, and it is told', async () => {
  const alice = await world.enter('alice')
  const stranger = await Stranger.open(alice.page.context())
  await stranger.say({ version: 1, message: { type: 'hand_over', to: 'me' } })
  await until('it is told', async () => (await stranger.heard('hello')).length > 0)
  expect(await alice.heard('error')).toEqual([])
  expect(await alice.call<number>('countUnsent')).toBe(0)
  expect(alice.sockets).toEqual({ open: 1, ever: 1 })
})

test('what no tab says is reported, and changes nothing', async () => {
  const alice = await world.enter('alice')
  const stranger = await Stranger.open(alice.page.context())
  const nonsense = [
    'hello',
    { message: { type: 'hello' } },
    { version: 2, message: { type: 'leading', leader: 'x', state: { networkState: 'perhaps' } } },
    { version: 2, message: { type: 'event', name: 'message', event: { text: 'from nowhere' } } },
    { version: 2, message: { type: 'no such type' } },
  ]
  for (const data of nonsense) await stranger.say(data)
  await until('all are reported', async () => (await alice.heard('error')).length === nonsense.length)
  expect(await alice.heard('error')).toEqual(nonsense.map(() => ({ code: 'BAD_REPLY' })))
  expect(await alice.heard('message')).toEqual([])
  expect(await stranger.ask('identity', [], false)).toMatchObject({ failure: { code: 'INVALID_ARGUMENT' } })
  expect(await stranger.ask('constructor', [], false)).toMatchObject({
    failure: { code: 'INVALID_ARGUMENT' },
  })
  expect(await stranger.ask('lookUpUser', [], false)).toMatchObject({ failure: { code: 'INVALID_ARGUMENT' } })
  await alice.connected()
})

test('a tab whose leader does not answer says so, and takes over once that is gone', async () => {
  const context = await world.newContext({ hurry: 50 })
  const stranger = await Stranger.open(context)
  await stranger.takeLock()
  await expect(world.open(context)).rejects.toMatchObject({ code: 'NO_ANSWER' })
  await stranger.pretendToLead()
  // Nobody is hurried who is to have an answer.
  await prepare(context, { relayUrl: world.relay.url })
  const tab = await world.open(context)
  await tab.hurry(50)
  await expect(tab.call('countUnsent')).rejects.toMatchObject({ code: 'NO_ANSWER' })
  await expect(tab.call('recoveryPhrase')).rejects.toMatchObject({ code: 'NO_ANSWER' })
  await tab.hurry(1)
  const asked = tab.call('recoveryPhrase').catch((error: unknown) => error)
  await stranger.close()
  expect(await asked).toMatchObject({ code: 'NO_IDENTITY' })
  expect(await tab.call('restore')).toBe(null)
})

test('what was asked twice is done once, and no refusal', async () => {
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

test('a tab that cannot open the store says why, and stands in no other tab’s way', async () => {
  const context = await world.newContext()
  const stranger = await Stranger.open(context)
  await stranger.writeNewerStore()
  await expect(world.open(context)).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await stranger.takeLock()
})
