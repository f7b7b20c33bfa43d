// The library's entry: SottoClient, through which an application speaks with a relay, and the names it needs.
import type { FriendProfile, FriendshipStatus, ReplyOf, UserLookup } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Engine } from './engine.ts'
import { type ClientEventHandler, type ClientEventName, Emitter, type NetworkState } from './events.ts'
import {
  type ActiveIdentity,
  type CreateIdentityInput,
  checkNickname,
  createIdentity,
  loadIdentity,
  type PreparedIdentity,
  type RecoverIdentityInput,
  recoverIdentity,
} from './identity.ts'
import { type ClientOptions, decideOptions, type Platform } from './options.ts'
import type { SendOptions } from './outbox.ts'
import type { SecurityCode } from './sessions.ts'
import type { StoredIdentity, StoredMessage, TrustState } from './stores/records.ts'
import type { MessageRange } from './stores/store.ts'

export type { KeyPair } from '@sotto/crypto'
export { generateMnemonic, normalizeMnemonic, validateMnemonic } from '@sotto/crypto'
export type { FriendProfile, UserLookup } from '@sotto/protocol'
export { ClientError, type ClientErrorCode } from './client-error.ts'
export type {
  ClientEventHandler,
  ClientEventName,
  ClientEvents,
  NetworkState,
  SecurityViolationEvent,
} from './events.ts'
export type { CreateIdentityInput, RecoverIdentityInput } from './identity.ts'
export type { ClientOptions, Clock, FetchLike, SocketClass, SocketLike } from './options.ts'
export type { SendOptions } from './outbox.ts'
export type { SecurityCode } from './sessions.ts'
export { MemoryStore } from './stores/memory-store.ts'
export type {
  MessageStatus,
  OfflineMessage,
  OutboxIntent,
  SessionRecord,
  StoredIdentity,
  StoredMessage,
  TrustState,
} from './stores/records.ts'
export type { ClientStore, MessageRange } from './stores/store.ts'

/** Who a restored or new identity is. */
export interface Account {
  readonly aliasId: string
  readonly nickname: string
}

/** A conversation as a list of conversations shows it. */
export interface Conversation {
  readonly conversationId: string
  /** The contact's alias. */
  readonly contactId: string
  /** What the relay says the contact calls itself; the alias where it says nothing any more. */
  readonly nickname: string
  /** Whether the two are friends at present. */
  readonly isFriend: boolean
  readonly isVerified: boolean
  readonly unread: number
  readonly lastMessage: StoredMessage | undefined
}

/**
 * A client of one relay for the one identity of a device.
 *
 * A contact is named by its alias or by the id of the conversation with it; every method takes either. Methods that change
 * something resolve once the change is stored; none but those of friends and account needs a connection.
 */
export class SottoClient {
  readonly #platform: Platform
  readonly #emitter = new Emitter()
  #engine: Engine | undefined
  #closed = false

  private constructor(platform: Platform) {
    this.#platform = platform
  }

  /**
   * Opens a client on its store, with the identity saved there if there is one. Speaks with nobody yet.
   * @throws ClientError `INVALID_ARGUMENT`, `NO_WEBSOCKET`, `STORE_FAILED`.
   */
  static async open(options: ClientOptions): Promise<SottoClient> {
    const client = new SottoClient(decideOptions(options))
    const identity = await loadIdentity(client.#platform)
    if (identity) await client.#use(identity)
    return client
  }

  /** The identity of this device, if it has one. */
  get identity(): StoredIdentity | undefined {
    return this.#engine?.identity.stored
  }

  get networkState(): NetworkState {
    return this.#engine?.connection.state ?? 'disconnected'
  }

  /** Hears an event; returns what stops hearing it. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    return this.#emitter.on(name, handler)
  }

  /**
   * Registers an identity: of a new phrase, or of `mnemonic`. A phrase that has an account already gets that account.
   * @throws ClientError `IDENTITY_EXISTS` unless `replace`, `INVALID_PHRASE`, `INVALID_ARGUMENT`, `CHALLENGE_REFUSED`, …
   */
  async create(input: CreateIdentityInput): Promise<StoredIdentity> {
    this.#checkOpen()
    return this.#take(await createIdentity(this.#platform, input))
  }

  /**
   * Recovers the account of a phrase.
   * @throws ClientError `ACCOUNT_NOT_FOUND`, `IDENTITY_EXISTS` unless `replace`, `INVALID_PHRASE`, `CHALLENGE_REFUSED`, …
   */
  async recover(input: RecoverIdentityInput): Promise<StoredIdentity> {
    this.#checkOpen()
    return this.#take(await recoverIdentity(this.#platform, input))
  }

  /** Logs the saved identity in with a fresh token, or answers null where none is saved. */
  async restore(): Promise<Account | null> {
    this.#checkOpen()
    if (!this.#engine) return null
    const { login, stored } = this.#engine.identity
    login.dropAnyToken()
    await login.getToken()
    return { aliasId: stored.aliasId, nickname: stored.nickname }
  }

  /** Connects, and stays connected until `disconnect`, `close` or a goaway that is for good. @throws `NO_IDENTITY` */
  connect(): void {
    this.#get().connection.start()
  }

  disconnect(): void {
    this.#engine?.connection.stop()
  }

  /** Ends the client and closes its store. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#engine?.stop()
    await this.#platform.store.close()
  }

  /** Changes the nickname friends see. */
  async setNickname(nickname: string): Promise<void> {
    const engine = this.#get()
    const me = await engine.http.call('patchMe', { body: { nickname: checkNickname(nickname) } })
    await this.#changeIdentity({ ...engine.identity.stored, nickname: me.nickname })
  }

  /** Deletes the account at the relay, for good, and then everything on this device. */
  async deleteAccount(): Promise<void> {
    const engine = this.#get()
    await engine.http.call('deleteMe', {})
    await engine.stop()
    this.#engine = undefined
    await engine.journal.write([{ change: 'clear' }])
  }

  /** The friend list as last synchronised: friends, and requests sent and received. */
  friends(): readonly FriendProfile[] {
    return this.#get().friends.list()
  }

  /** Fetches the friend list, and makes sessions with friends that have none. */
  syncFriends(): Promise<readonly FriendProfile[]> {
    return this.#get().friends.sync()
  }

  /** Asks for friendship; answers `accepted` where the other had asked already. */
  requestFriend(aliasId: string): Promise<FriendshipStatus> {
    return this.#get().friends.request(aliasId)
  }

  acceptFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.accept(friendshipId)
  }

  rejectFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.reject(friendshipId)
  }

  /** Ends a friendship, or takes back a request. What was written stays on this device. */
  removeFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.remove(friendshipId)
  }

  block(aliasId: string): Promise<void> {
    return this.#get().friends.block(aliasId)
  }

  unblock(aliasId: string): Promise<void> {
    return this.#get().friends.unblock(aliasId)
  }

  listBlocks(): Promise<ReplyOf<'listBlocks'>> {
    return this.#get().friends.listBlocks()
  }

  lookUpUser(aliasId: string): Promise<UserLookup> {
    return this.#get().friends.lookUp(aliasId)
  }

  /**
   * Stores a message and sends it as soon as there is a connection. Its progress comes as `status_change`.
   * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`, `STORE_FAILED`.
   */
  send(contact: string, text: string, options: SendOptions = {}): Promise<StoredMessage> {
    return this.#get().outbox.post(contact, text, options)
  }

  /** How many own messages and retractions the relay has not acknowledged yet. */
  async countUnsent(): Promise<number> {
    const { store } = this.#platform
    return (await store.listOutbox()).length + (await store.listRetractIntents()).length
  }

  /** Takes an own message back, here at once and at the peer as soon as it can be. @throws `UNKNOWN_MESSAGE`, … */
  async retract(contact: string, messageId: string): Promise<StoredMessage> {
    const { retractions, sessions } = this.#get()
    return retractions.retract(sessions.get(contact), messageId)
  }

  /** Tells the contact that one is typing. To be called on every key; most calls send nothing. */
  notifyTyping(contact: string): void {
    const { typing, sessions } = this.#get()
    typing.notify(sessions.get(contact))
  }

  /** Marks everything the contact has sent so far as read. */
  async markRead(contact: string): Promise<void> {
    const { receipts, sessions } = this.#get()
    await receipts.markRead(sessions.get(contact))
  }

  /** Messages of a conversation, in order. */
  async messages(contact: string, range?: MessageRange): Promise<readonly StoredMessage[]> {
    return this.#platform.store.listMessages(this.#get().sessions.get(contact).conversationId, range)
  }

  /** Every conversation, by the time of its last message, the latest first. */
  async conversations(): Promise<readonly Conversation[]> {
    const { sessions } = this.#get()
    const all = await Promise.all(sessions.list().map((session) => this.conversation(session.conversationId)))
    return all.sort((a, b) => (b.lastMessage?.time ?? 0) - (a.lastMessage?.time ?? 0))
  }

  /** One conversation. @throws ClientError `UNKNOWN_CONTACT` */
  async conversation(contact: string): Promise<Conversation> {
    const { friends, sessions, receipts } = this.#get()
    const { conversationId, theirAliasId } = sessions.get(contact)
    const { store } = this.#platform
    const unread = await store.listMessages(conversationId, { afterSeq: receipts.readSeq(conversationId) })
    const [lastMessage] = await store.listMessages(conversationId, { limit: 1 })
    const friend = friends.list().find((profile) => profile.conversation_id === conversationId)
    const trust = await sessions.trustState(conversationId)
    return {
      conversationId,
      contactId: theirAliasId,
      nickname: friend?.nickname ?? theirAliasId,
      isFriend: friend?.status === 'accepted',
      isVerified: trust.status === 'verified',
      unread: unread.filter((message) => !message.isMe && !message.retracted).length,
      lastMessage,
    }
  }

  /** The code both sides compare to know that nobody sits between them. */
  securityCode(contact: string): SecurityCode {
    return this.#get().sessions.securityCode(contact)
  }

  trustState(contact: string): Promise<TrustState> {
    return this.#get().sessions.trustState(contact)
  }

  /** Verifies the contact if `code` is the security code, however it is spaced; answers whether it is. */
  verifySecurityCode(contact: string, code: string): Promise<boolean> {
    return this.#get().sessions.verifyCode(contact, code)
  }

  /** Verifies the contact on the user's word. */
  markVerified(contact: string): Promise<void> {
    return this.#get().sessions.markVerified(contact)
  }

  resetTrust(contact: string): Promise<void> {
    return this.#get().sessions.resetTrust(contact)
  }

  /**
   * Forgets the keys recorded for a contact and records those the relay gives now, unverified. The way out of a
   * `security_violation`, for a user who knows why the keys changed.
   */
  async renewSession(contact: string): Promise<void> {
    const { friends, sessions } = this.#get()
    await sessions.forget(contact)
    await friends.sync()
  }

  async #take({ identity, changes }: PreparedIdentity): Promise<StoredIdentity> {
    // What the identity before is still writing must not come after its end.
    await this.#engine?.stop()
    this.#engine = undefined
    await this.#platform.store.write(changes)
    await this.#use(identity)
    return identity.stored
  }

  async #use(identity: ActiveIdentity): Promise<void> {
    const engine = new Engine(this.#platform, identity, this.#emitter)
    await engine.load()
    this.#engine = engine
  }

  async #changeIdentity(stored: StoredIdentity): Promise<void> {
    const engine = this.#get()
    await engine.journal.write([{ change: 'identity', identity: stored }])
    engine.identity = { ...engine.identity, stored }
  }

  #get(): Engine {
    this.#checkOpen()
    if (!this.#engine) throw new ClientError('NO_IDENTITY', 'no identity on this device yet')
    return this.#engine
  }

  #checkOpen(): void {
    if (this.#closed) throw new ClientError('CLOSED', 'the client is closed')
  }
}
