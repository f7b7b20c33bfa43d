// A tab with the app under test, held by its handle.
import type { BrowserContext, Page } from 'playwright-core'
import type { StoredMessage } from '../../src/client.ts'
import { until } from '../people.ts'
import type { AppSettings, HeardEvent, Outcome } from './app.ts'
import { openTab, type ServedApp } from './chromium.ts'

/** A failed call, as a test expects it. */
class CallFailed extends Error {
  readonly code: string
  readonly refusal: string | undefined

  constructor(name: string, { code, refusal }: { code: string; refusal?: string }) {
    super(`${name}: ${code} ${refusal ?? ''}`)
    this.code = code
    this.refusal = refusal
  }
}

/** One tab of one person. */
export class AppTab {
  readonly page: Page
  /** WebSockets of this tab that are open now, and how many there ever were. */
  readonly sockets = { open: 0, ever: 0 }

  private constructor(page: Page) {
    this.page = page
  }

  /** Opens the app in a context that `prepare` has prepared. */
  static async open(context: BrowserContext, app: ServedApp): Promise<AppTab> {
    const opened = Promise.withResolvers<AppTab>()
    // Listens before the app's script runs.
    context.once('page', (page) => {
      const tab = new AppTab(page)
      page.on('websocket', (socket) => {
        tab.sockets.open += 1
        tab.sockets.ever += 1
        socket.on('close', () => {
          tab.sockets.open -= 1
        })
      })
      opened.resolve(tab)
    })
    await openTab(context, app)
    const tab = await opened.promise
    const failure = await tab.page.evaluate(() => globalThis.failure)
    if (failure !== undefined) throw new CallFailed('open', { code: failure })
    return tab
  }

  /** Calls a method of the client and gives its answer. The caller knows what the method answers. */
  async call<T = unknown>(name: string, ...args: unknown[]): Promise<T> {
    const outcome = await this.page.evaluate(([name, args]) => app.call(name, args), [name, args] as const)
    return answerOf<T>(name, outcome)
  }

  /** Sends many messages at once, and gives their ids. */
  async sendAll(contact: string, texts: readonly string[]): Promise<string[]> {
    const outcomes = await this.page.evaluate(([contact, texts]) => app.sendAll(contact, texts), [
      contact,
      texts,
    ] as const)
    return outcomes.map((outcome) => answerOf<StoredMessage>('send', outcome).id)
  }

  async alias(): Promise<string> {
    const identity = await this.page.evaluate(() => app.client.identity)
    if (!identity) throw new Error('no identity here')
    return identity.aliasId
  }

  networkState(): Promise<string> {
    return this.page.evaluate(() => app.client.networkState)
  }

  /** Events of a name, in the order they were heard. */
  async heard<T = unknown>(name: HeardEvent['name']): Promise<T[]> {
    const events = await this.page.evaluate(
      (name) => app.heard.filter((heard) => heard.name === name).map(({ event }) => event),
      name,
    )
    // What the name says it is: the page has it from the client.
    return events as T[]
  }

  /** The texts of the messages heard, peers' only. */
  async heardTexts(): Promise<string[]> {
    return (await this.heard<StoredMessage>('message')).map(({ text }) => text)
  }

  /** Waits until so many messages were heard. They are counted in the page: to look at each of hundreds time and again takes long. */
  async hears(count: number, withinMs?: number): Promise<void> {
    const heard = () => this.page.evaluate(() => app.heard.filter(({ name }) => name === 'message').length)
    await until(`${count} messages are heard`, async () => (await heard()) >= count, withinMs)
  }

  /** A conversation as it is stored, one line a message: who, what, how far. */
  async transcript(contact: string): Promise<string[]> {
    const messages = await this.call<StoredMessage[]>('messages', contact)
    return messages.map((m) => `${m.isMe ? 'me' : 'them'}: ${m.text}${m.isMe ? ` [${m.status}]` : ''}`)
  }

  connected(): Promise<unknown> {
    return until('connected', async () => (await this.networkState()) === 'connected')
  }

  async register(nickname: string): Promise<void> {
    await this.call('create', { nickname })
    await this.call('connect')
    await this.connected()
  }

  /** Befriends another, who is connected too. */
  async befriend(other: AppTab): Promise<void> {
    await this.call('requestFriend', await other.alias())
    const request = await until(
      'the request',
      async () => (await other.heard<{ friendship_id: number }>('friend_request'))[0],
    )
    await other.call('acceptFriend', request.friendship_id)
    await until('the acceptance', async () => (await this.heard('friend_accepted')).length > 0)
  }

  /** Has time run so many times as fast for whatever begins to wait from here on. */
  async hurry(times: number): Promise<void> {
    await this.page.evaluate((hurry) => {
      globalThis.settings = { ...globalThis.settings, hurry }
    }, times)
  }

  /** Goes to another page; the browser freezes this one and keeps it for the back button. */
  async leave(): Promise<void> {
    await this.page.goto('about:blank')
  }

  /** Comes back to the page as it was left. */
  async comeBack(): Promise<void> {
    // A page that was kept does not load.
    await this.page.goBack({ waitUntil: 'commit' })
  }

  async reload(): Promise<void> {
    await this.page.reload()
    await this.page.waitForFunction(() => 'isReady' in globalThis)
  }
}

function answerOf<T>(name: string, outcome: Outcome): T {
  if ('code' in outcome) throw new CallFailed(name, outcome)
  return outcome.answer as T
}

/** Tells the app in every page of a context what it is to do. */
export async function prepare(context: BrowserContext, settings: AppSettings): Promise<void> {
  await context.addInitScript((settings) => {
    globalThis.settings = settings
  }, settings)
}
