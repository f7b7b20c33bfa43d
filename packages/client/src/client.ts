// The library's entry: `SottoClient`, with which an application uses a relay. names.ts has the other exports.
import type { OutgoingContent } from '@sotto/crypto'
import type { FriendProfile, FriendshipStatus, ReplyOf, UserLookup } from '@sotto/protocol'
import {
  type CreateIdentityInput,
  createIdentity,
  type RecoverIdentityInput,
  recoverIdentity,
} from './account/account.ts'
import type { Account, ClientOf, LogOutOptions } from './client-types.ts'
import { type SecurityCode, trust } from './contacts/contacts.ts'
import { Device } from './device.ts'
import type { Engine } from './engine.ts'
import type {
  ClientEventHandler,
  ClientEventName,
  ClientEvents,
  EventStreamOptions,
  NetworkState,
} from './events/events.ts'
import {
  type Conversation,
  countUnsent,
  describeConversation,
  listConversations,
  listMessages,
  type SendOptions,
} from './messages/messages.ts'
import { grantModuleAccess } from './module-access.ts'
import type { ClientOptions } from './platform/platform.ts'
import type {
  MessageRange,
  MessagesAround,
  StoredIdentity,
  StoredMessage,
  TrustState,
} from './stores/stores.ts'

export * from './names.ts'

/**
 * What every client can do: a `SottoClient`, or the `SharedClient` of a page. Await every method: some return
 * their value at once in a `SottoClient`.
 */
export type Client = ClientOf<SottoClient>

/**
 * A client of one relay for the one identity of a device.
 *
 * Every method that takes a contact accepts the contact's alias or the id of the conversation with it.
 * Methods that change something resolve once the change is stored. Only the methods for friends and for the
 * account need a connection.
 */
export class SottoClient {
  readonly #device: Device

  private constructor(device: Device) {
    this.#device = device
    grantModuleAccess(this, device)
  }

  /**
   * Opens a client on its store, with the identity saved there, if any. Does not connect. If a passphrase
   * seals the store, the client is locked: call `unlock` first. If it throws, the store stays open: it can be
   * given again, or closed.
   * @throws ClientError `INVALID_ARGUMENT`, `NO_WEBSOCKET`, `STORE_FAILED`, `LOCKED` for a sealed store
   *   without `secrets`, `UNSUPPORTED` if the browser lacks cryptography that could not be loaded.
   */
  static async open(options: ClientOptions): Promise<SottoClient> {
    return new SottoClient(await Device.open(options))
  }

  /** The identity of this device; undefined if it has none or the client is locked. */
  get identity(): StoredIdentity | undefined {
    return this.#device.identity
  }

  /** Whether the client is locked. Everything that needs an identity then throws `LOCKED`. */
  get isLocked(): boolean {
    return this.#device.isLocked
  }

  /** Whether the recovery phrase and the session keys are sealed in the store. */
  get isSealed(): boolean {
    return this.#device.lock.isSealed
  }

  /** Whether only a passphrase opens these secrets, so that `unlock` needs it. */
  get hasPassphrase(): boolean {
    return this.#device.lock.hasPassphrase
  }

  /**
   * Removes the keys from memory until `unlock`: ends the calls, disconnects, stores the frames being
   * received, and drops the key of the sealed secrets and everything opened with it. Private keys and session
   * keys are overwritten. Phrases and tokens are strings, which JavaScript cannot overwrite; the garbage
   * collector removes them later.
   * @throws ClientError `INVALID_ARGUMENT` if nothing is sealed.
   */
  async lock(): Promise<void> {
    this.#device.checkNotClosed()
    await this.#device.lock.lock()
  }

  /**
   * Opens the sealed secrets, and connects again if the client was connected. Takes about a second with a
   * passphrase; other vaults need none. Does nothing if the client is not locked.
   * @throws ClientError `WRONG_PASSPHRASE`, `STORE_FAILED` if the vault or a secret was altered.
   */
  async unlock(passphrase?: string): Promise<void> {
    this.#device.checkNotClosed()
    await this.#device.lock.unlock(passphrase)
  }

  /**
   * Sets, changes or removes (`undefined`) the passphrase, in one write; for clients with a
   * `passphraseVault()` in `secrets`. Setting it seals secrets that were stored in plain. After removing it,
   * the vault in `secrets` that needs no passphrase seals them; without such a vault they are stored in
   * plain.
   * @throws ClientError `LOCKED`, `INVALID_ARGUMENT`, `STORE_FAILED`.
   */
  async setPassphrase(passphrase: string | undefined): Promise<void> {
    this.#device.checkOpen()
    await this.#device.lock.setPassphrase(passphrase)
  }

  /**
   * Checks that the given passphrase is the user's, for example before the recovery phrase is shown on a
   * device that was left unlocked. Takes about a second.
   * @throws ClientError `WRONG_PASSPHRASE`, `INVALID_ARGUMENT` if none is set, `LOCKED`, `STORE_FAILED`.
   */
  async checkPassphrase(passphrase: string): Promise<void> {
    this.#device.checkOpen()
    await this.#device.lock.checkPassphrase(passphrase)
  }

  /** The recovery phrase, to show to the user. @throws ClientError `NO_IDENTITY`, `LOCKED`, `CLOSED` */
  async recoveryPhrase(): Promise<string> {
    return this.#get().identity.stored.mnemonic
  }

  /** The state of the connection to the relay. Changes come as `network_state`. */
  get networkState(): NetworkState {
    return this.#device.engine?.connection.state ?? 'disconnected'
  }

  /** Calls `handler` for each event of this name. Returns a function that removes the handler. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    return this.#device.emitter.on(name, handler)
  }

  /**
   * The events of this name from now on, one after another: `for await (const message of
   * client.events('message'))`. Ends when the client is closed, the signal is aborted or the loop is left. A
   * loop that is slower than the events gets `EVENTS_LOST` after the last buffered event; `messages` still
   * returns everything that is stored.
   */
  events<N extends ClientEventName>(
    name: N,
    options: EventStreamOptions = {},
  ): AsyncIterableIterator<ClientEvents[N], undefined> {
    const stream = this.#device.emitter.stream(name, options)
    if (this.#device.isClosed) stream.end()
    return stream
  }

  /**
   * Registers an identity with a new phrase, or with `mnemonic`. If the phrase already has an account,
   * returns that account. `onProgress` is called for each of the six steps; `signal` aborts.
   * @throws ClientError `IDENTITY_EXISTS` unless `replace`, `INVALID_PHRASE`, `INVALID_ARGUMENT`,
   *   `CHALLENGE_REFUSED`, …
   */
  async create(input: CreateIdentityInput): Promise<StoredIdentity> {
    return this.#device.take(input, createIdentity)
  }

  /**
   * Recovers the account of a phrase.
   * @throws ClientError `ACCOUNT_NOT_FOUND`, `ACCOUNT_KEY_MISMATCH`, `IDENTITY_EXISTS` unless `replace`,
   *   `INVALID_PHRASE`, `CHALLENGE_REFUSED`, …
   */
  async recover(input: RecoverIdentityInput): Promise<StoredIdentity> {
    return this.#device.take(input, recoverIdentity)
  }

  /**
   * Logs in with the saved identity and a fresh token, and fetches its current alias and nickname. Returns
   * null if no identity is saved.
   * @throws ClientError `ACCOUNT_NOT_FOUND` if the account was deleted; `deleteAccount` then clears this
   *   device.
   */
  restore(): Promise<Account | null> {
    return this.#device.restore()
  }

  /** Connects, and stays connected until `disconnect`, `close` or a final goaway. @throws `NO_IDENTITY` */
  connect(): void {
    this.#get().connection.start()
  }

  /** Disconnects until `connect`. Messages sent meanwhile wait. */
  disconnect(): void {
    this.#device.lock.stayDisconnected()
    this.#device.engine?.connection.stop()
  }

  /** Ends the calls and a running `create` or `recover`, closes the client and its store. */
  close(): Promise<void> {
    return this.#device.close()
  }

  /**
   * Fetches the account's current alias and nickname, which another device may have changed, and stores them.
   * A change comes as `identity_changed`.
   */
  syncIdentity(): Promise<StoredIdentity> {
    return this.#device.sync()
  }

  /** Changes the nickname that friends see. */
  setNickname(nickname: string): Promise<void> {
    return this.#device.setNickname(nickname)
  }

  /**
   * Logs this device out: ends the calls, disconnects, and ends its token at the relay. The identity stays,
   * and logs in again at the next `connect` or request. With `erase`, everything on this device is deleted
   * and only the recovery phrase leads back to the account; messages that were not sent yet are lost.
   * @throws ClientError `NETWORK` if the relay was not reached: all else is done, and the token expires by
   *   itself.
   */
  logOut(options: LogOutOptions = {}): Promise<void> {
    return this.#device.logOut(options.erase === true)
  }

  /**
   * Logs the account out everywhere: every token and every connection of it ends at once, for example because
   * one was stolen. A device that has the phrase logs in again by itself, and so does this one. A connected
   * client gets `goaway` with `jwt_revoked`, and connects again.
   */
  logOutEverywhere(): Promise<void> {
    return this.#device.logOutEverywhere()
  }

  /** Deletes the account at the relay permanently, then everything here. Call it again if it fails. */
  deleteAccount(): Promise<void> {
    return this.#device.deleteAccount()
  }

  /** The friend list as of the last synchronisation: friends, and requests sent and received. */
  friends(): readonly FriendProfile[] {
    return this.#get().friends.list()
  }

  /** Fetches the friend list, and creates sessions with friends that have none. */
  syncFriends(): Promise<readonly FriendProfile[]> {
    return this.#get().friends.sync()
  }

  /** Sends a friend request. Returns `accepted` if the other account had already sent one. */
  requestFriend(aliasId: string): Promise<FriendshipStatus> {
    return this.#get().friends.request(aliasId)
  }

  /** Accepts a friend request that this account received. */
  acceptFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.accept(friendshipId)
  }

  /** Rejects a friend request that this account received. The sender is not notified. */
  rejectFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.reject(friendshipId)
  }

  /** Ends a friendship, or withdraws a friend request. The messages stay on this device. */
  removeFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.remove(friendshipId)
  }

  /**
   * Blocks an account: ends a friendship with it and discards its requests. To that account it looks like
   * unfriending.
   */
  block(aliasId: string): Promise<void> {
    return this.#get().friends.block(aliasId)
  }

  /** Removes a block. The accounts do not become friends again. */
  unblock(aliasId: string): Promise<void> {
    return this.#get().friends.unblock(aliasId)
  }

  /** The blocked accounts, and since when they are blocked (`created_at`, ISO 8601). */
  listBlocks(): Promise<ReplyOf<'listBlocks'>> {
    return this.#get().friends.listBlocks()
  }

  /** The nickname and public keys behind an alias. @throws ClientError `REFUSED` with `NOT_FOUND`, … */
  lookUpUser(aliasId: string): Promise<UserLookup> {
    return this.#get().friends.lookUp(aliasId)
  }

  /**
   * Stores a message and sends it as soon as there is a connection. Its progress comes as `status_change`.
   * The relay accepts the messages of a conversation in the order of these calls. `content` is literal text,
   * or uploaded media: `{ kind: 'image', mediaKey }`.
   * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`, `STORE_FAILED`.
   */
  send(
    contact: string,
    content: string | OutgoingContent,
    options: SendOptions = {},
  ): Promise<StoredMessage> {
    return this.#get().messages.posting.post(contact, content, options)
  }

  /** How many messages and retractions the relay has not acknowledged yet. Works while locked, too. */
  async countUnsent(): Promise<number> {
    this.#device.checkNotClosed()
    return countUnsent(this.#device.platform.store)
  }

  /**
   * Retracts a message of this account: here at once, at the contact as soon as possible. @throws
   * `UNKNOWN_MESSAGE`, …
   */
  async retract(contact: string, messageId: string): Promise<StoredMessage> {
    const engine = this.#get()
    return engine.work(engine.messages.retractions.retract(engine.sessions.get(contact), messageId))
  }

  /** Tells the contact that the user is typing. Call it on every key press; most calls send nothing. */
  notifyTyping(contact: string): void {
    const { messages, sessions } = this.#get()
    messages.typing.notify(sessions.get(contact))
  }

  /** Marks everything received from the contact as read. */
  async markRead(contact: string): Promise<void> {
    const engine = this.#get()
    await engine.work(engine.messages.receipts.markRead(engine.sessions.get(contact)))
  }

  /** The messages of a conversation, or a part of them, in order. */
  async messages(contact: string, part?: MessageRange | MessagesAround): Promise<readonly StoredMessage[]> {
    const { conversationId } = this.#get().sessions.get(contact)
    return listMessages(this.#device.platform.store, conversationId, part)
  }

  /**
   * Every conversation, also archived ones. Pinned ones come first; the others are sorted by the time of
   * their last message, the latest first.
   */
  async conversations(): Promise<readonly Conversation[]> {
    return listConversations(this.#get())
  }

  /** One conversation. @throws ClientError `UNKNOWN_CONTACT` */
  async conversation(contact: string): Promise<Conversation> {
    return describeConversation(this.#get(), contact)
  }

  /** The code that both sides compare to make sure that nobody sits between them. */
  securityCode(contact: string): SecurityCode {
    return trust.securityCodeOf(this.#get().sessions, contact)
  }

  /** Whether the contact is verified, and since when. */
  trustState(contact: string): Promise<TrustState> {
    return trust.stateOf(this.#get().sessions, contact, this.#device.platform.store)
  }

  /** Verifies the contact if `code` is the security code, with or without spaces. Returns whether it is. */
  verifySecurityCode(contact: string, code: string): Promise<boolean> {
    return trust.verifyCode(this.#get().sessions, contact, code, this.#device.platform.clock)
  }

  /** Marks the contact as verified without checking a code: the user has compared it. */
  markVerified(contact: string): Promise<void> {
    return trust.markVerified(this.#get().sessions, contact, this.#device.platform.clock)
  }

  /** Marks the contact as unverified. */
  resetTrust(contact: string): Promise<void> {
    return this.#get().sessions.setTrust(contact, { status: 'unverified' })
  }

  /**
   * Forgets the keys recorded for a contact and records the relay's current ones, unverified. Resolves a
   * `security_violation`; for a user who knows why the keys changed.
   */
  async renewSession(contact: string): Promise<void> {
    await this.#get().friends.renewSession(contact)
  }

  #get(): Engine {
    return this.#device.needEngine()
  }
}
