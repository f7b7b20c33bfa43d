// The app under test: it uses the client as an application in a page does. Tests reach it as `app`.

import { exportArchive, importArchive } from '../../src/archive/archive.ts'
import { CallLog, SharedClient } from '../../src/browser.ts'
import type { ClientOptions, SendOptions } from '../../src/client.ts'
import {
  Channels,
  ClientError,
  type ClientErrorCode,
  type ClientEventName,
  Media,
  Organizer,
  Search,
  UnsentMessages,
  VanityShop,
} from '../../src/client.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { passphraseVault } from '../../src/stores/passphrase-vault.ts'
import { briefPauses } from '../brief-pauses.ts'
import { WordCount } from '../word-count.ts'

/** The settings that a test gives the app before the app's script runs. */
export interface AppSettings {
  readonly relayUrl: string
  /**
   * Pauses, such as those before reconnecting, have random lengths by default. `brief` shortens every pause
   * to milliseconds. `third` shortens only the first two pauses before reconnecting; the third and later
   * pauses, and time-outs, are longer than any test.
   */
  readonly pauses?: 'brief' | 'third'
  /** Divides the length of every new wait. The app reads it for each wait, so a test can change it. */
  readonly hurry?: number
  /** Whether the secrets in the store are sealed once the test has set a passphrase. */
  readonly isSealed?: boolean
  /** The contact that gets a message when the page loads, if the store has an identity. */
  readonly firstMessageTo?: string
}

/** The result of a call, or its error code. */
export type Outcome = { readonly answer: unknown } | { readonly code: string; readonly refusal?: string }

/** An event that the client emitted. */
export interface HeardEvent {
  readonly name: ClientEventName | 'takeover' | 'words.counted' | 'words.wanted'
  readonly event: unknown
}

class TestApp {
  readonly client: SharedClient
  readonly channels: Channels
  readonly shop: VanityShop
  readonly media: Media
  readonly organizer: Organizer
  readonly callLog: CallLog
  readonly unsent: UnsentMessages
  /** Made by `countWords`. */
  words: WordCount | undefined
  /** Made by `loadSearch`. */
  search: Search | undefined
  /** Archives, as lists of bytes. */
  readonly archive = {
    export: async (passphrase: string) => [
      ...new Uint8Array(await new Response(exportArchive(this.client, passphrase)).arrayBuffer()),
    ],
    import: async (bytes: number[], passphrase: string) =>
      importArchive(this.client, new Blob([new Uint8Array(bytes)]).stream(), passphrase),
  }
  readonly heard: HeardEvent[] = []
  /** When each network state and message status first came, in milliseconds since the page began to load. */
  readonly marks: Record<string, number> = {}

  constructor(client: SharedClient) {
    this.client = client
    this.channels = new Channels(client)
    this.shop = new VanityShop(client)
    this.media = new Media(client)
    this.organizer = new Organizer(client)
    this.callLog = new CallLog(client)
    this.unsent = new UnsentMessages(client)
    const names: ClientEventName[] = [
      'message',
      'status_change',
      'retracted',
      'network_state',
      'lock_state',
      'identity_changed',
      'channel_post',
      'payment_confirmed',
      'synced',
      'typing',
      'goaway',
      'security_violation',
      'friend_request',
      'friend_accepted',
      'changes',
    ]
    for (const name of names) client.on(name, (event) => this.heard.push({ name, event }))
    client.on('error', (error) => this.heard.push({ name: 'error', event: describe(error) }))
    client.onTakeover(() => this.heard.push({ name: 'takeover', event: null }))
    client.on('network_state', (state) => this.mark(state))
    client.on('status_change', ({ message }) => this.mark(message.status))
  }

  /** Loads the module that counts words. */
  countWords(): void {
    this.words = new WordCount(this.client)
    this.words.onCounted((event) => this.heard.push({ name: 'words.counted', event }))
  }

  /**
   * What this tab does if it runs the client and another tab calls a module that nobody has loaded here: it
   * loads the one that counts words, fails, or waits for longer than the test.
   */
  loadsModules(how: 'well' | 'not' | 'never'): void {
    this.client.loadModulesWith(async () => {
      this.heard.push({ name: 'words.wanted', event: null })
      if (how === 'never') await new Promise(() => {})
      if (how === 'not') throw new Error('no network')
      this.countWords()
    })
  }

  /** Loads the module that searches. */
  loadSearch(): void {
    this.search = new Search(this.client)
  }

  mark(name: string): void {
    this.marks[name] ??= performance.now()
  }

  /** Calls a method of the client, or of one of its modules, such as `channels.create`. */
  async call(name: string, args: readonly unknown[]): Promise<Outcome> {
    const [ownName = '', moduleName] = name.split('.').toReversed()
    const owner =
      {
        channels: this.channels,
        shop: this.shop,
        words: this.words,
        search: this.search,
        archive: this.archive,
        organizer: this.organizer,
        callLog: this.callLog,
        unsent: this.unsent,
      }[moduleName ?? ''] ?? this.client
    const method: unknown = Reflect.get(owner, ownName)
    if (typeof method !== 'function') throw new TypeError(`no method ${name}`)
    try {
      return { answer: await Reflect.apply(method, owner, [...args]) }
    } catch (error) {
      return describe(error)
    }
  }

  /** Sends all messages at once, without waiting for one before sending the next. */
  sendAll(contact: string, texts: readonly string[], options?: SendOptions): Promise<Outcome[]> {
    return Promise.all(
      texts.map((text) => this.call('send', options ? [contact, text, options] : [contact, text])),
    )
  }
}

const systemRandom = (length: number) => crypto.getRandomValues(new Uint8Array(length))

function describe(error: unknown): { code: ClientErrorCode; refusal?: string } {
  if (!(error instanceof ClientError)) throw error
  return { code: error.code, ...(error.refusal === undefined ? {} : { refusal: error.refusal }) }
}

function optionsOf({ pauses, isSealed }: AppSettings): Omit<ClientOptions, 'store' | 'relayUrl'> {
  const { clock, random } = pauses === 'brief' ? briefPauses : { clock: systemClock, random: systemRandom }
  const after: typeof clock.after =
    pauses === 'third' ? (ms, run) => clock.after(ms < 3000 ? ms / 50 : ms * 100, run) : clock.after
  return {
    clock: {
      now: clock.now,
      after: (ms, run) => {
        const { hurry } = globalThis.settings
        return hurry === undefined ? after(ms, run) : systemClock.after(ms / hurry, run)
      },
    },
    // The client asks for four random bytes to choose a pause, and for more bytes to make keys and ids.
    random: (length) => (pauses === 'third' && length === 4 ? new Uint8Array(4).fill(255) : random(length)),
    ...(isSealed ? { secrets: passphraseVault() } : {}),
  }
}

declare global {
  var settings: AppSettings
  var app: TestApp
  var failure: string | undefined
  var isReady: true
}

try {
  const client = await SharedClient.open({
    ...optionsOf(settings),
    relayUrl: settings.relayUrl,
    name: 'test',
  })
  globalThis.app = new TestApp(client)
  if (client.identity) await client.connect()
  if (client.identity && settings.firstMessageTo !== undefined)
    await client.send(settings.firstMessageTo, 'first')
} catch (error) {
  globalThis.failure = describe(error).code
}
globalThis.isReady = true
