// The client that all tabs of an origin share: one of them runs it, the others ask it, and an application sees no difference.
import type { OutgoingContent } from '@sotto/crypto'
import type { FriendProfile, FriendshipStatus, ReplyOf, UserLookup } from '@sotto/protocol'
import type { Account, SottoClient } from '../client.ts'
import { ClientError } from '../client-error.ts'
import { randomUuid } from '../clock.ts'
import type { Conversation } from '../conversations.ts'
import { generateMnemonic } from '../cryptography.ts'
import { giveDoor } from '../door.ts'
import type { EventStreamOptions } from '../event-stream.ts'
import type { ClientEventHandler, ClientEventName, ClientEvents, NetworkState } from '../events.ts'
import type { CreateIdentityInput, RecoverIdentityInput } from '../identity.ts'
import { type ClientOptions, decideSurroundings, type Platform } from '../options.ts'
import type { SendOptions } from '../outbox.ts'
import { IndexedDbStore } from '../stores/indexeddb-store.ts'
import {
  type PublicIdentity,
  publicPart,
  type StoredIdentity,
  type StoredMessage,
  type TrustState,
} from '../stores/records.ts'
import type { ClientStore, MessageRange } from '../stores/store.ts'
import type { SecurityCode } from '../trust.ts'
import { Turns } from '../turns.ts'
import { methods } from './methods.ts'
import { Tab } from './tab.ts'

/** Options of `SharedClient.open`. */
export interface SharedClientOptions extends Omit<ClientOptions, 'store'> {
  /** Names the identity that the tabs share, such as `sotto`. Tabs with the same name, on one origin, are together. */
  readonly name: string
  /**
   * Opens the store, in the tab that runs the client; called again in whichever tab runs it next. What it throws, every
   * call of this tab throws from then on. Unless told, an `IndexedDbStore` of that name.
   */
  readonly openStore?: () => Promise<ClientStore>
}

/** The methods of a type, each answering a promise. */
type Promised<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never
}
type AtHand = 'identity' | 'networkState' | 'isLocked' | 'isSealed'
type EachTabsOwn = 'on' | 'events' | 'create' | 'recover' | 'close' | 'syncIdentity'
type SharedMethods = Promised<Omit<SottoClient, AtHand | EachTabsOwn>>

/**
 * One client for all tabs of an origin, in place of a `SottoClient` in each, which the relay would have throw each other
 * out. Opened in every tab, with the same options:
 *
 *     const client = await SharedClient.open({ name: 'sotto', relayUrl })
 *
 * One tab runs the client; the others ask it, and hear every event. When it is closed, crashes, or is frozen by the browser,
 * another goes on, and is asked again what was not answered; nothing is done twice for that. A `SottoClient`'s methods are
 * all here; those that answer at once there answer a promise here, and only `identity`, `networkState`, `isLocked` and
 * `isSealed` are at hand.
 *
 * The connection is all tabs': `connect` and `disconnect` of one are those of every one.
 *
 * Neither the recovery phrase nor a passphrase crosses from one tab to another: `identity` is without the phrase, and
 * `recoveryPhrase`, `create`, `recover`, `unlock` and `setPassphrase` run in the tab that calls them, which takes the client
 * over for that. So where secrets are sealed by a passphrase, the client is locked again when another tab takes over;
 * other vaults open by themselves.
 *
 * `Media` works in the tab that asks: the key of the conversation crosses to it for each chunk, to no other origin, and
 * is overwritten there.
 *
 * Events that came just when one tab took over from another may be lost. `onTakeover` says that it happened: what is
 * shown is to be read again then.
 */
export class SharedClient implements SharedMethods {
  readonly #tab: Tab
  readonly #platform: Omit<Platform, 'store'>
  /** The words of an identity take time to be made, in which none asked for later may overtake it. */
  readonly #making = new Turns()

  private constructor(tab: Tab, platform: Omit<Platform, 'store'>) {
    this.#tab = tab
    this.#platform = platform
    giveDoor(this, {
      platform,
      emitter: tab.voice.emitter,
      request: (request) => tab.ask(methods.request, [request]),
      askMediaPass: (contact, deadToken) => tab.ask(methods.mediaPass, [contact, deadToken]),
    })
  }

  /**
   * Joins the other tabs, or is the first.
   * @throws ClientError `INVALID_ARGUMENT`, `UNSUPPORTED`, `NO_ANSWER` where the tab that runs the client does not answer,
   * `OUTDATED_TAB`, and what `openStore` throws.
   */
  static async open(options: SharedClientOptions): Promise<SharedClient> {
    const { name, openStore = () => IndexedDbStore.open(name), ...surroundings } = options
    const platform = decideSurroundings(surroundings)
    if (name === '') throw new ClientError('INVALID_ARGUMENT', 'what tabs share needs a name')
    if (typeof document !== 'object' || typeof BroadcastChannel !== 'function' || !navigator.locks)
      throw new ClientError('UNSUPPORTED', 'tabs share a client by Web Locks, which pages over https have')
    const tab = new Tab({ name: `sotto ${name}`, surroundings, platform, openStore })
    await tab.open()
    return new SharedClient(tab, platform)
  }

  /** The identity of this device, if it has one, without its phrase. */
  get identity(): PublicIdentity | undefined {
    return this.#tab.voice.state.identity
  }

  /** Whether the client that all tabs share has a connection. */
  get networkState(): NetworkState {
    return this.#tab.voice.state.networkState
  }

  /** Whether the keys are put away. Everything that needs an identity throws `LOCKED` then. */
  get isLocked(): boolean {
    return this.#tab.voice.state.isLocked
  }

  /** Whether the recovery phrase and the session keys are sealed in the store. */
  get isSealed(): boolean {
    return this.#tab.voice.state.isSealed
  }

  /** Hears an event, whichever tab it came to; returns what stops hearing it. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    return this.#tab.voice.emitter.on(name, handler)
  }

  /** See `SottoClient.events`. */
  events<N extends ClientEventName>(
    name: N,
    options: EventStreamOptions = {},
  ): AsyncIterableIterator<ClientEvents[N], undefined> {
    const stream = this.#tab.voice.emitter.stream(name, options)
    if (this.#tab.hasEnded) stream.end()
    return stream
  }

  /** Hears that another tab has taken over, or this one: events may have been lost, and what is shown is to be read again. */
  onTakeover(handler: () => void): () => void {
    return this.#tab.voice.onTakeover(handler)
  }

  /**
   * See `SottoClient.create`. Done by this tab. The phrase is `mnemonic`, or to be had from `recoveryPhrase`.
   * @throws ClientError also `NO_ANSWER`, where another tab is busy with an identity.
   */
  async create(input: CreateIdentityInput): Promise<PublicIdentity> {
    // Kept here, so that a second try, after this tab was frozen in the middle, is for the same account.
    let mnemonic: string | Promise<string> | undefined = input.mnemonic
    return this.#makeHere(async (client) => {
      mnemonic ??= generateMnemonic(this.#platform.random)
      return client.create({ ...input, mnemonic: await mnemonic })
    })
  }

  /** See `SottoClient.recover`. Done by this tab. */
  recover(input: RecoverIdentityInput): Promise<PublicIdentity> {
    return this.#makeHere((client) => client.recover(input))
  }

  /**
   * The recovery phrase, to be shown to the user. This tab takes the client over for it.
   * @throws ClientError `NO_IDENTITY`, `NO_ANSWER`
   */
  recoveryPhrase(): Promise<string> {
    return this.#tab.runHere(async ({ identity }) => {
      if (!identity) throw new ClientError('NO_IDENTITY', 'no identity on this device yet')
      return identity.mnemonic
    })
  }

  /** See `SottoClient.lock`. Locks it for all tabs. */
  lock(): Promise<void> {
    return this.#tab.ask(methods.lock, [])
  }

  /** See `SottoClient.unlock`. Done by this tab, which takes the client over; it may have to `connect` again then. */
  unlock(passphrase?: string): Promise<void> {
    return this.#tab.runHere((client) => client.unlock(passphrase))
  }

  /** See `SottoClient.setPassphrase`. Done by this tab. */
  setPassphrase(passphrase: string | undefined): Promise<void> {
    return this.#tab.runHere((client) => client.setPassphrase(passphrase))
  }

  /** Ends this tab's part. The client ends with the last tab. */
  close(): Promise<void> {
    return this.#tab.close()
  }

  /** See `SottoClient.restore`. */
  restore(): Promise<Account | null> {
    return this.#tab.ask(methods.restore, [])
  }

  /** Connects the client that all tabs share. See `SottoClient.connect`. */
  connect(): Promise<void> {
    return this.#tab.ask(methods.connect, [])
  }

  /** Disconnects the client that all tabs share. */
  disconnect(): Promise<void> {
    return this.#tab.ask(methods.disconnect, [])
  }

  /** See `SottoClient.syncIdentity`. */
  syncIdentity(): Promise<PublicIdentity> {
    return this.#tab.ask(methods.syncIdentity, [])
  }

  /** See `SottoClient.setNickname`. */
  setNickname(nickname: string): Promise<void> {
    return this.#tab.ask(methods.setNickname, [nickname])
  }

  /** See `SottoClient.deleteAccount`. */
  deleteAccount(): Promise<void> {
    return this.#tab.ask(methods.deleteAccount, [])
  }

  /** See `SottoClient.friends`. */
  friends(): Promise<readonly FriendProfile[]> {
    return this.#tab.ask(methods.friends, [])
  }

  /** See `SottoClient.syncFriends`. */
  syncFriends(): Promise<readonly FriendProfile[]> {
    return this.#tab.ask(methods.syncFriends, [])
  }

  /** See `SottoClient.requestFriend`. */
  requestFriend(aliasId: string): Promise<FriendshipStatus> {
    return this.#tab.ask(methods.requestFriend, [aliasId])
  }

  /** See `SottoClient.acceptFriend`. */
  acceptFriend(friendshipId: number): Promise<void> {
    return this.#tab.ask(methods.acceptFriend, [friendshipId])
  }

  /** See `SottoClient.rejectFriend`. */
  rejectFriend(friendshipId: number): Promise<void> {
    return this.#tab.ask(methods.rejectFriend, [friendshipId])
  }

  /** See `SottoClient.removeFriend`. */
  removeFriend(friendshipId: number): Promise<void> {
    return this.#tab.ask(methods.removeFriend, [friendshipId])
  }

  /** See `SottoClient.block`. */
  block(aliasId: string): Promise<void> {
    return this.#tab.ask(methods.block, [aliasId])
  }

  /** See `SottoClient.unblock`. */
  unblock(aliasId: string): Promise<void> {
    return this.#tab.ask(methods.unblock, [aliasId])
  }

  /** See `SottoClient.listBlocks`. */
  listBlocks(): Promise<ReplyOf<'listBlocks'>> {
    return this.#tab.ask(methods.listBlocks, [])
  }

  /** See `SottoClient.lookUpUser`. */
  lookUpUser(aliasId: string): Promise<UserLookup> {
    return this.#tab.ask(methods.lookUpUser, [aliasId])
  }

  /** See `SottoClient.send`. Of calls in several tabs, each tab's keep their order. */
  send(
    contact: string,
    content: string | OutgoingContent,
    options: SendOptions = {},
  ): Promise<StoredMessage> {
    // Decided on here, so that the message is one whoever is asked for it, and however often.
    const id = options.id ?? randomUuid(this.#platform.random)
    return this.#tab.ask(methods.send, [contact, content, { ...options, id }])
  }

  /** See `SottoClient.countUnsent`. */
  countUnsent(): Promise<number> {
    return this.#tab.ask(methods.countUnsent, [])
  }

  /** See `SottoClient.retract`. */
  retract(contact: string, messageId: string): Promise<StoredMessage> {
    return this.#tab.ask(methods.retract, [contact, messageId])
  }

  /** See `SottoClient.notifyTyping`. */
  notifyTyping(contact: string): Promise<void> {
    return this.#tab.ask(methods.notifyTyping, [contact])
  }

  /** See `SottoClient.markRead`. */
  markRead(contact: string): Promise<void> {
    return this.#tab.ask(methods.markRead, [contact])
  }

  /** See `SottoClient.messages`. */
  messages(contact: string, range: MessageRange = {}): Promise<readonly StoredMessage[]> {
    return this.#tab.ask(methods.messages, [contact, range])
  }

  /** See `SottoClient.conversations`. */
  conversations(): Promise<readonly Conversation[]> {
    return this.#tab.ask(methods.conversations, [])
  }

  /** See `SottoClient.conversation`. */
  conversation(contact: string): Promise<Conversation> {
    return this.#tab.ask(methods.conversation, [contact])
  }

  /** See `SottoClient.securityCode`. */
  securityCode(contact: string): Promise<SecurityCode> {
    return this.#tab.ask(methods.securityCode, [contact])
  }

  /** See `SottoClient.trustState`. */
  trustState(contact: string): Promise<TrustState> {
    return this.#tab.ask(methods.trustState, [contact])
  }

  /** See `SottoClient.verifySecurityCode`. */
  verifySecurityCode(contact: string, code: string): Promise<boolean> {
    return this.#tab.ask(methods.verifySecurityCode, [contact, code])
  }

  /** See `SottoClient.markVerified`. */
  markVerified(contact: string): Promise<void> {
    return this.#tab.ask(methods.markVerified, [contact])
  }

  /** See `SottoClient.resetTrust`. */
  resetTrust(contact: string): Promise<void> {
    return this.#tab.ask(methods.resetTrust, [contact])
  }

  /** See `SottoClient.renewSession`. */
  renewSession(contact: string): Promise<void> {
    return this.#tab.ask(methods.renewSession, [contact])
  }

  #makeHere(make: (client: SottoClient) => Promise<StoredIdentity>): Promise<PublicIdentity> {
    return this.#making.take(() => this.#tab.runHere(async (client) => publicPart(await make(client))))
  }
}
