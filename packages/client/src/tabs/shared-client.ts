// One client for all tabs of an origin: one tab runs it and the others send it requests.
import type { OutgoingContent } from '@sotto/crypto'
import type { CreateIdentityInput, RecoverIdentityInput } from '../account/account.ts'
import type { SottoClient } from '../client.ts'
import { ClientError } from '../client-error.ts'
import type {
  ClientEventHandler,
  ClientEventName,
  ClientEvents,
  EventStreamOptions,
  NetworkState,
} from '../events/events.ts'
import type { SendOptions } from '../messages/messages.ts'
import { grantModuleAccess } from '../module-access.ts'
import {
  type ClientOptions,
  decideSurroundings,
  type Platform,
  randomUuid,
  SerialQueue,
} from '../platform/platform.ts'
import { generateMnemonic } from '../secrecy/secrecy.ts'
import type { ClientStore } from '../stores/stores.ts'
import {
  IndexedDbStore,
  type PublicIdentity,
  publicPart,
  type StoredIdentity,
  type StoredMessage,
} from '../stores/stores.ts'
import { ForwardedMethods } from './forwarded-methods.ts'
import { Tab } from './tab.ts'
import { clientMethod, mediaPass, type OwnName, relayRequest, syncIdentity } from './tab-methods.ts'

/** Options of `SharedClient.open`. */
export interface SharedClientOptions extends Omit<ClientOptions, 'store'> {
  /**
   * The name of the shared client, such as `sotto`. Tabs of one origin with the same name share one client.
   */
  readonly name: string
  /**
   * Opens the store in the tab that runs the client, and again in each tab that runs it later. If it throws,
   * all methods of this tab throw that error from then on. By default an `IndexedDbStore` with that name.
   */
  readonly openStore?: () => Promise<ClientStore>
}

/** The members that the class must declare itself. It inherits the other methods of a client. */
type OwnMembers = { readonly [N in OwnName | 'send']: unknown }

/**
 * One client for all tabs of an origin. With a `SottoClient` in each, the tabs would disconnect each other at
 * the relay. Every tab opens it with the same options:
 *
 *     const client = await SharedClient.open({ name: 'sotto', relayUrl })
 *
 * One tab runs the client. The other tabs send it requests and receive every event. When that tab is closed,
 * crashes or is frozen by the browser, another tab takes over and gets the unanswered requests again; nothing
 * is done twice.
 *
 * A `SharedClient` has all methods of a `SottoClient`. Methods that return a value at once there return a
 * promise here; only `identity`, `networkState`, `isLocked`, `isSealed` and `hasPassphrase` are values here,
 * too.
 *
 * All tabs share the connection and the lock: `connect`, `disconnect` and `lock` in one tab act for every
 * tab.
 *
 * Neither the recovery phrase nor a passphrase crosses from one tab to another: `identity` is without the
 * phrase. `recoveryPhrase`, `create`, `recover`, `unlock`, `checkPassphrase` and `setPassphrase` make the
 * calling tab take over the client. A client whose secrets are sealed by a passphrase is therefore locked
 * again when another tab takes over; other vaults open without the user.
 *
 * `Media` works in the calling tab. For each chunk, that tab is sent the conversation's key and overwrites it
 * after use. The key never leaves the origin.
 *
 * Events may be lost while one tab takes over from another. `onTakeover` reports each takeover, so that the
 * application can read again what it shows.
 */
export class SharedClient extends ForwardedMethods implements OwnMembers {
  readonly #tab: Tab
  readonly #platform: Omit<Platform, 'store'>
  /**
   * Runs `create` and `recover` one at a time, in the order of the calls, although making a phrase takes
   * time.
   */
  readonly #identityQueue = new SerialQueue()

  private constructor(tab: Tab, platform: Omit<Platform, 'store'>) {
    super((name, args) => tab.ask(clientMethod(name), args))
    this.#tab = tab
    this.#platform = platform
    grantModuleAccess(this, {
      platform,
      emitter: tab.events.emitter,
      request: (request) => tab.ask(relayRequest, [request]),
      askMediaPass: (contact, deadToken) => tab.ask(mediaPass, [contact, deadToken]),
      host: (part) => tab.host(part),
      runHere: (work) => tab.runHere(work),
    })
  }

  /**
   * Joins the other tabs, or becomes the first.
   * @throws ClientError `INVALID_ARGUMENT`, `UNSUPPORTED`, `NO_ANSWER` if the tab that runs the client does
   *   not answer, `OUTDATED_TAB`, and what `openStore` throws.
   */
  static async open(options: SharedClientOptions): Promise<SharedClient> {
    const { name, openStore = () => IndexedDbStore.open(name), ...surroundings } = options
    const platform = decideSurroundings(surroundings)
    if (name === '') throw new ClientError('INVALID_ARGUMENT', 'a shared client needs a name')
    if (typeof document !== 'object' || typeof BroadcastChannel !== 'function' || !navigator.locks)
      throw new ClientError('UNSUPPORTED', 'tabs share a client by Web Locks, which need a page over https')
    const tab = new Tab({ name: `sotto ${name}`, surroundings, platform, openStore })
    await tab.open()
    return new SharedClient(tab, platform)
  }

  /** The identity of this device, if it has one, without its phrase. */
  get identity(): PublicIdentity | undefined {
    return this.#tab.events.state.identity
  }

  /** Whether the client that all tabs share has a connection. */
  get networkState(): NetworkState {
    return this.#tab.events.state.networkState
  }

  /** Whether the client is locked. Everything that needs an identity throws `LOCKED` then. */
  get isLocked(): boolean {
    return this.#tab.events.state.isLocked
  }

  /** Whether the recovery phrase and the session keys are sealed in the store. */
  get isSealed(): boolean {
    return this.#tab.events.state.isSealed
  }

  /** Whether only a passphrase opens these secrets, so that `unlock` needs it. */
  get hasPassphrase(): boolean {
    return this.#tab.events.state.hasPassphrase
  }

  /** Calls `handler` for each event of the shared client; returns a function that stops it. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    return this.#tab.events.emitter.on(name, handler)
  }

  /** See `SottoClient.events`. */
  events<N extends ClientEventName>(
    name: N,
    options: EventStreamOptions = {},
  ): AsyncIterableIterator<ClientEvents[N], undefined> {
    const stream = this.#tab.events.emitter.stream(name, options)
    if (this.#tab.hasEnded) stream.end()
    return stream
  }

  /**
   * Calls `handler` after a tab has taken over the client. Events may be lost then: read again what is shown.
   */
  onTakeover(handler: () => void): () => void {
    return this.#tab.events.onTakeover(handler)
  }

  /**
   * Says how this tab gets the modules that the application loads by need, such as `Search`. If this tab runs
   * the client and another tab calls a module that nobody has made here, `load` runs here and makes it. All
   * tabs then go on as they are. If `load` does not make it, or fails, which the event `error` says
   * (`HANDLER_FAILED`), the calling tab takes over the client. The same happens without a `load`. Call this
   * when the client is opened.
   */
  loadModulesWith(load: () => Promise<unknown>): void {
    this.#tab.loadModules = load
  }

  /**
   * See `SottoClient.create`. Runs in this tab. The phrase is `mnemonic`, or a new one that `recoveryPhrase`
   * returns.
   * @throws ClientError also `NO_ANSWER` if another tab is busy with an identity.
   */
  async create(input: CreateIdentityInput): Promise<PublicIdentity> {
    // A second attempt, after the browser froze this tab during the first, must use the same phrase.
    let mnemonic: string | Promise<string> | undefined = input.mnemonic
    return this.#runForIdentity(async (client) => {
      mnemonic ??= generateMnemonic(this.#platform.random)
      return client.create({ ...input, mnemonic: await mnemonic })
    })
  }

  /** See `SottoClient.recover`. Runs in this tab. */
  recover(input: RecoverIdentityInput): Promise<PublicIdentity> {
    return this.#runForIdentity((client) => client.recover(input))
  }

  /** See `SottoClient.recoveryPhrase`. This tab takes over the client for it. @throws also `NO_ANSWER` */
  recoveryPhrase(): Promise<string> {
    return this.#tab.runHere((client) => client.recoveryPhrase())
  }

  /**
   * See `SottoClient.unlock`. Runs in this tab, which takes over the client and may have to `connect` again.
   */
  unlock(passphrase?: string): Promise<void> {
    return this.#tab.runHere((client) => client.unlock(passphrase))
  }

  /**
   * See `SottoClient.checkPassphrase`. Runs in this tab. If it has to take over the client, which is locked
   * by that, the right passphrase unlocks it again.
   */
  checkPassphrase(passphrase: string): Promise<void> {
    return this.#tab.runHere((client) =>
      client.isLocked ? client.unlock(passphrase) : client.checkPassphrase(passphrase),
    )
  }

  /** See `SottoClient.setPassphrase`. Runs in this tab. */
  setPassphrase(passphrase: string | undefined): Promise<void> {
    return this.#tab.runHere((client) => client.setPassphrase(passphrase))
  }

  /**
   * Opens the store again, in this tab, after a method or the event `error` has said `STORE_FAILED`: a store
   * that has failed, as on a full disk, takes no more writes until then. All tabs go on with the new store
   * (`onTakeover`). The client may have to `unlock` and `connect` again.
   * @throws ClientError `NO_ANSWER`, and what `openStore` throws, which changes nothing
   */
  reopen(): Promise<void> {
    return this.#tab.reopen()
  }

  /** Leaves the other tabs. The client ends with the last tab. */
  close(): Promise<void> {
    return this.#tab.close()
  }

  /** See `SottoClient.syncIdentity`. */
  syncIdentity(): Promise<PublicIdentity> {
    return this.#tab.ask(syncIdentity, [])
  }

  /** See `SottoClient.send`. Messages sent by one tab keep their order. */
  send(
    contact: string,
    content: string | OutgoingContent,
    options: SendOptions = {},
  ): Promise<StoredMessage> {
    // This tab chooses the id, so that a repeated request, to any tab, stores one message only.
    const id = options.id ?? randomUuid(this.#platform.random)
    return this.#tab.ask(clientMethod('send'), [contact, content, { ...options, id }])
  }

  #runForIdentity(run: (client: SottoClient) => Promise<StoredIdentity>): Promise<PublicIdentity> {
    return this.#identityQueue.run(() => this.#tab.runHere(async (client) => publicPart(await run(client))))
  }
}
