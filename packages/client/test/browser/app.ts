// The app under test: what an application in a page does with the client, and a handle for the test to hold it by.

import { SharedClient } from '../../src/browser.ts'
import type { ClientOptions, SendOptions } from '../../src/client.ts'
import {
  Channels,
  ClientError,
  type ClientErrorCode,
  type ClientEventName,
  Media,
  VanityShop,
} from '../../src/client.ts'
import { passphraseVault } from '../../src/stores/passphrase-vault.ts'

/** What a test tells the app before its script runs. */
export interface AppSettings {
  readonly relayUrl: string
  /** Waits before reconnecting are the longest they can be. */
  readonly isPatient?: boolean
  /** Time runs this many times as fast for whatever begins to wait. Looked at each time, so that a test can change it. */
  readonly hurry?: number
  /** The secrets in the store are sealed by a passphrase, once there is one. */
  readonly isSealed?: boolean
  /** The message to send as soon as there is an identity, to this contact. */
  readonly firstMessageTo?: string
}

/** What a call came to. */
export type Outcome = { readonly answer: unknown } | { readonly code: string; readonly refusal?: string }

/** An event as it was heard. */
export interface HeardEvent {
  readonly name: ClientEventName | 'takeover'
  readonly event: unknown
}

class TestApp {
  readonly client: SharedClient
  readonly channels: Channels
  readonly shop: VanityShop
  readonly media: Media
  readonly heard: HeardEvent[] = []
  /** Milliseconds since the page began to load. */
  readonly marks: Record<string, number> = {}

  constructor(client: SharedClient) {
    this.client = client
    this.channels = new Channels(client)
    this.shop = new VanityShop(client)
    this.media = new Media(client)
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
    ]
    for (const name of names) client.on(name, (event) => this.heard.push({ name, event }))
    client.on('error', (error) => this.heard.push({ name: 'error', event: describe(error) }))
    client.onTakeover(() => this.heard.push({ name: 'takeover', event: null }))
    client.on('network_state', (state) => this.mark(state))
    client.on('status_change', ({ message }) => this.mark(message.status))
  }

  mark(name: string): void {
    this.marks[name] ??= performance.now()
  }

  /** Calls a method of the client, or of one of its modules: `channels.create`. */
  async call(name: string, args: readonly unknown[]): Promise<Outcome> {
    const [ownName = '', moduleName] = name.split('.').toReversed()
    const owner = { channels: this.channels, shop: this.shop }[moduleName ?? ''] ?? this.client
    const method: unknown = Reflect.get(owner, ownName)
    if (typeof method !== 'function') throw new TypeError(`no method ${name}`)
    try {
      return { answer: await Reflect.apply(method, owner, [...args]) }
    } catch (error) {
      return describe(error)
    }
  }

  /** Sends messages without waiting for one before the next. */
  sendAll(contact: string, texts: readonly string[], options?: SendOptions): Promise<Outcome[]> {
    return Promise.all(
      texts.map((text) => this.call('send', options ? [contact, text, options] : [contact, text])),
    )
  }
}

function describe(error: unknown): { code: ClientErrorCode; refusal?: string } {
  if (!(error instanceof ClientError)) throw error
  return { code: error.code, ...(error.refusal === undefined ? {} : { refusal: error.refusal }) }
}

function optionsOf({ isPatient, isSealed }: AppSettings): Omit<ClientOptions, 'store' | 'relayUrl'> {
  return {
    clock: {
      now: () => Date.now(),
      after: (ms, run) => {
        const timer = setTimeout(run, ms / (globalThis.settings.hurry ?? 1))
        return () => clearTimeout(timer)
      },
    },
    // Lots are drawn with four bytes, keys and ids with more.
    random: (length) =>
      isPatient && length === 4
        ? new Uint8Array(length).fill(255)
        : crypto.getRandomValues(new Uint8Array(length)),
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
