// A browser tab with the app under test, and the calls that tests make in it.
import type { BrowserContext, Page } from 'playwright-core'
import type { StoredMessage } from '../../src/client.ts'
import { until } from '../people.ts'
import type { AppSettings, HeardEvent, Outcome } from './app.ts'
import { openTab, type ServedApp } from './chromium.ts'

/** A call that failed in the page, with the client's error code and the relay's refusal, if any. */
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
  /** How many WebSockets of this tab are open now, and how many it has opened. */
  readonly sockets = { open: 0, ever: 0 }

  private constructor(page: Page) {
    this.page = page
  }

  /** Opens the app in a context that `prepare` has given its settings. */
  static async open(context: BrowserContext, app: ServedApp): Promise<AppTab> {
    const opened = Promise.withResolvers<AppTab>()
    // The count starts before the app's script runs.
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

  /**
   * Calls a method of the client and returns its result. The caller gives the result's type `T`; nothing
   * checks it.
   */
  async call<T = unknown>(name: string, ...args: unknown[]): Promise<T> {
    const outcome = await this.page.evaluate(([name, args]) => app.call(name, args), [name, args] as const)
    return answerOf<T>(name, outcome)
  }

  /** Sends many messages at once and returns their ids. */
  async sendAll(contact: string, texts: readonly string[]): Promise<string[]> {
    const outcomes = await this.page.evaluate(([contact, texts]) => app.sendAll(contact, texts), [
      contact,
      texts,
    ] as const)
    return outcomes.map((outcome) => answerOf<StoredMessage>('send', outcome).id)
  }

  async alias(): Promise<string> {
    const identity = await this.page.evaluate(() => app.client.identity)
    if (!identity) throw new Error('the tab has no identity')
    return identity.aliasId
  }

  networkState(): Promise<string> {
    return this.page.evaluate(() => app.client.networkState)
  }

  /** The events with this name, in the order in which the client emitted them. */
  async heard<T = unknown>(name: HeardEvent['name']): Promise<T[]> {
    const events = await this.page.evaluate(
      (name) => app.heard.filter((heard) => heard.name === name).map(({ event }) => event),
      name,
    )
    // The page got the events from the client, so their type follows from the name.
    return events as T[]
  }

  /** The texts of the peers' messages that have arrived. */
  async heardTexts(): Promise<string[]> {
    return (await this.heard<StoredMessage>('message')).map(({ text }) => text)
  }

  /**
   * Waits until this many messages have arrived. The page counts them, because copying hundreds of messages
   * out of the page takes long.
   */
  async hears(count: number): Promise<void> {
    const heard = () => this.page.evaluate(() => app.heard.filter(({ name }) => name === 'message').length)
    await until(`${count} messages have arrived`, async () => (await heard()) >= count)
  }

  /** A stored conversation, one line per message: the sender, the text, and the status of own messages. */
  async transcript(contact: string): Promise<string[]> {
    const messages = await this.call<StoredMessage[]>('messages', contact)
    return messages.map((m) => `${m.isMe ? 'me' : 'them'}: ${m.text}${m.isMe ? ` [${m.status}]` : ''}`)
  }

  connected(): Promise<unknown> {
    return until('the tab is connected', async () => (await this.networkState()) === 'connected')
  }

  async register(nickname: string): Promise<void> {
    await this.call('create', { nickname })
    await this.call('connect')
    await this.connected()
  }

  /** Makes friends with the person in another tab. Both must be connected. */
  async befriend(other: AppTab): Promise<void> {
    await this.call('requestFriend', await other.alias())
    const request = await until(
      'the request arrives',
      async () => (await other.heard<{ friendship_id: number }>('friend_request'))[0],
    )
    await other.call('acceptFriend', request.friendship_id)
    await until('the acceptance arrives', async () => (await this.heard('friend_accepted')).length > 0)
  }

  /** Divides every wait that begins after this call by `times`. */
  async hurry(times: number): Promise<void> {
    await this.page.evaluate((hurry) => {
      globalThis.settings = { ...globalThis.settings, hurry }
    }, times)
  }

  /** Opens another page in this tab. The browser freezes the app's page and keeps it for the back button. */
  async leave(): Promise<void> {
    await this.page.goto('about:blank')
  }

  /** Goes back to the frozen page. */
  async comeBack(): Promise<void> {
    // A kept page does not load again, so a load event never comes.
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

/** Gives these settings to the app in every page of a context. */
export async function prepare(context: BrowserContext, settings: AppSettings): Promise<void> {
  await context.addInitScript((settings) => {
    globalThis.settings = settings
  }, settings)
}
