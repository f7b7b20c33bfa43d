// The library's entry: SottoClient, through which an application speaks with a relay. What else it gives away is in names.ts.
import type { OutgoingContent } from '@sotto/crypto'
import type { FriendProfile, FriendshipStatus, ReplyOf, UserLookup } from '@sotto/protocol'
import { type Conversation, describeConversation } from './conversations.ts'
import { loadCryptography } from './cryptography.ts'
import { Device } from './device.ts'
import { giveDoor } from './door.ts'
import type { Engine } from './engine.ts'
import type { EventStreamOptions } from './event-stream.ts'
import {
  type ClientEventHandler,
  type ClientEventName,
  type ClientEvents,
  Emitter,
  type NetworkState,
} from './events.ts'
import {
  type CreateIdentityInput,
  createIdentity,
  type RecoverIdentityInput,
  recoverIdentity,
} from './identity.ts'
import { type ClientOptions, decideOptions } from './options.ts'
import type { SendOptions } from './outbox.ts'
import type { StoredIdentity, StoredMessage, TrustState } from './stores/records.ts'
import { SealedStore } from './stores/sealed-store.ts'
import type { MessageRange } from './stores/store.ts'
import { markVerified, type SecurityCode, securityCodeOf, trustStateOf, verifyCode } from './trust.ts'

export * from './names.ts'

/** Who a restored or new identity is. */
export interface Account {
  readonly aliasId: string
  readonly nickname: string
}

/**
 * A client of one relay for the one identity of a device.
 *
 * A contact is named by its alias or by the id of the conversation with it; every method takes either. Methods that change
 * something resolve once the change is stored; none but those of friends and account needs a connection.
 */
export class SottoClient {
  readonly #device: Device
  readonly #emitter: Emitter

  private constructor(device: Device, emitter: Emitter) {
    this.#device = device
    this.#emitter = emitter
    giveDoor(this, device)
  }

  /**
   * Opens a client on its store, with the identity saved there if there is one. Speaks with nobody yet. Locked, where the
   * store is sealed by a passphrase: `unlock` comes first.
   * @throws ClientError `INVALID_ARGUMENT`, `NO_WEBSOCKET`, `STORE_FAILED`, `LOCKED` for a sealed store without `secrets`,
   *   `UNSUPPORTED` where the cryptography that this browser lacks could not be loaded.
   */
  static async open(options: ClientOptions): Promise<SottoClient> {
    const platform = decideOptions(options)
    const { store, random } = platform
    await loadCryptography()
    const secrets = await SealedStore.open({
      store,
      randomBytes: random,
      vaults: [options.secrets ?? []].flat(),
    })
    const emitter = new Emitter()
    const device = new Device(platform, secrets, emitter)
    if (!device.isLocked) await device.load()
    return new SottoClient(device, emitter)
  }

  /** The identity of this device, if it has one; none while the client is locked. */
  get identity(): StoredIdentity | undefined {
    return this.#device.identity
  }

  /** Whether the keys are put away. Everything that needs an identity throws `LOCKED` then. */
  get isLocked(): boolean {
    return this.#device.isLocked
  }

  /** Whether the recovery phrase and the session keys are sealed in the store. */
  get isSealed(): boolean {
    return this.#device.lock.isSealed
  }

  /**
   * Puts the keys away, until `unlock`: hangs up, disconnects, lets what is being received be stored, drops the key of the
   * sealed secrets and everything opened with it. Private keys and session keys are overwritten; phrases and tokens are strings,
   * which JavaScript cannot overwrite, and go when the garbage collector comes.
   * @throws ClientError `INVALID_ARGUMENT` where nothing is sealed.
   */
  async lock(): Promise<void> {
    this.#device.checkNotClosed()
    await this.#device.lock.lock()
  }

  /**
   * Opens the sealed secrets, and brings the client back to where it was: connected, if it was. Takes a second or so with
   * a passphrase; other vaults need none. Does nothing while the client is not locked.
   * @throws ClientError `WRONG_PASSPHRASE`, `STORE_FAILED` where the vault or a secret was altered.
   */
  async unlock(passphrase?: string): Promise<void> {
    this.#device.checkNotClosed()
    await this.#device.lock.unlock(passphrase)
  }

  /**
   * Sets the passphrase, changes it, or takes it away (`undefined`); for clients with a `passphraseVault()` in `secrets`. Each
   * is one write. What lay open is sealed; without a passphrase the secrets are kept by the vault in `secrets` that needs
   * none, and lie open where there is none.
   * @throws ClientError `LOCKED`, `INVALID_ARGUMENT`, `STORE_FAILED`.
   */
  async setPassphrase(passphrase: string | undefined): Promise<void> {
    this.#device.checkOpen()
    await this.#device.lock.setPassphrase(passphrase)
  }

  /** Whether there is a connection to the relay. Changes come as `network_state`. */
  get networkState(): NetworkState {
    return this.#device.engine?.connection.state ?? 'disconnected'
  }

  /** Hears an event; returns what stops hearing it. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    return this.#emitter.on(name, handler)
  }

  /**
   * The events of a name from now on, one after another: `for await (const message of client.events('message'))`. Ends when
   * the client is closed, the signal is aborted or the loop is left. A loop slower than the events is given an `EVENTS_LOST`
   * after the last one that was held for it; what is stored is still to be had from `messages`.
   */
  events<N extends ClientEventName>(
    name: N,
    options: EventStreamOptions = {},
  ): AsyncIterableIterator<ClientEvents[N], undefined> {
    const stream = this.#emitter.stream(name, options)
    if (this.#device.isClosed) stream.end()
    return stream
  }

  /**
   * Registers an identity: of a new phrase, or of `mnemonic`. A phrase that has an account already gets that account.
   * `onProgress` hears of its six steps, `signal` ends it.
   * @throws ClientError `IDENTITY_EXISTS` unless `replace`, `INVALID_PHRASE`, `INVALID_ARGUMENT`, `CHALLENGE_REFUSED`, …
   */
  async create(input: CreateIdentityInput): Promise<StoredIdentity> {
    return this.#device.take(() => createIdentity(this.#device.platform, input))
  }

  /**
   * Recovers the account of a phrase.
   * @throws ClientError `ACCOUNT_NOT_FOUND`, `IDENTITY_EXISTS` unless `replace`, `INVALID_PHRASE`, `CHALLENGE_REFUSED`, …
   */
  async recover(input: RecoverIdentityInput): Promise<StoredIdentity> {
    return this.#device.take(() => recoverIdentity(this.#device.platform, input))
  }

  /**
   * Logs the saved identity in with a fresh token, sees by what alias and nickname it goes now, or answers null where none
   * is saved.
   * @throws ClientError `ACCOUNT_NOT_FOUND` where the account was deleted; `deleteAccount` then clears this device.
   */
  async restore(): Promise<Account | null> {
    this.#device.checkOpen()
    const { engine } = this.#device
    if (!engine) return null
    engine.identity.login.dropAnyToken()
    const { aliasId, nickname } = await this.#device.sync()
    return { aliasId, nickname }
  }

  /** Connects, and stays connected until `disconnect`, `close` or a goaway that is for good. @throws `NO_IDENTITY` */
  connect(): void {
    this.#get().connection.start()
  }

  /** Ends the connection, until `connect`. What is posted meanwhile waits. */
  disconnect(): void {
    this.#device.lock.stayDisconnected()
    this.#device.engine?.connection.stop()
  }

  /** Hangs up, ends the client and closes its store. */
  close(): Promise<void> {
    return this.#device.close()
  }

  /**
   * Asks the relay by what alias and nickname the account goes now, as another device may have changed them, and keeps
   * that. What has changed comes as `identity_changed`.
   */
  syncIdentity(): Promise<StoredIdentity> {
    return this.#device.sync()
  }

  /** Changes the nickname friends see. */
  setNickname(nickname: string): Promise<void> {
    return this.#device.setNickname(nickname)
  }

  /** Deletes the account at the relay, for good, and then everything on this device. To be called again if it fails. */
  deleteAccount(): Promise<void> {
    return this.#device.deleteAccount()
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

  /** Accepts a request that was made to this account. */
  acceptFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.accept(friendshipId)
  }

  /** Rejects a request that was made to this account; who made it is told nothing. */
  rejectFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.reject(friendshipId)
  }

  /** Ends a friendship, or takes back a request. What was written stays on this device. */
  removeFriend(friendshipId: number): Promise<void> {
    return this.#get().friends.remove(friendshipId)
  }

  /** Blocks an account: a friendship with it ends, and its requests reach nobody. To it, it looks like being unfriended. */
  block(aliasId: string): Promise<void> {
    return this.#get().friends.block(aliasId)
  }

  /** Lifts a block. That does not make the two friends again. */
  unblock(aliasId: string): Promise<void> {
    return this.#get().friends.unblock(aliasId)
  }

  /** The accounts that are blocked, and since when (`created_at`, ISO 8601). */
  listBlocks(): Promise<ReplyOf<'listBlocks'>> {
    return this.#get().friends.listBlocks()
  }

  /** The nickname and public keys behind an alias. @throws ClientError `REFUSED` with `NOT_FOUND`, … */
  lookUpUser(aliasId: string): Promise<UserLookup> {
    return this.#get().friends.lookUp(aliasId)
  }

  /**
   * Stores a message and sends it as soon as there is a connection. Its progress comes as `status_change`. Messages of a
   * conversation are accepted by the relay in the order of these calls. `content` is text, taken literally, or media that
   * were uploaded: `{ kind: 'image', mediaKey }`.
   * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`, `STORE_FAILED`.
   */
  send(
    contact: string,
    content: string | OutgoingContent,
    options: SendOptions = {},
  ): Promise<StoredMessage> {
    return this.#get().outbox.post(contact, content, options)
  }

  /** How many own messages and retractions the relay has not acknowledged yet. Needs no keys: answers while locked, too. */
  async countUnsent(): Promise<number> {
    this.#device.checkNotClosed()
    const { store } = this.#device.platform
    return (await store.listOutbox()).length + (await store.listRetractIntents()).length
  }

  /** Takes an own message back, here at once and at the peer as soon as it can be. @throws `UNKNOWN_MESSAGE`, … */
  async retract(contact: string, messageId: string): Promise<StoredMessage> {
    const engine = this.#get()
    return engine.work(engine.retractions.retract(engine.sessions.get(contact), messageId))
  }

  /** Tells the contact that one is typing. To be called on every key; most calls send nothing. */
  notifyTyping(contact: string): void {
    const { typing, sessions } = this.#get()
    typing.notify(sessions.get(contact))
  }

  /** Marks everything the contact has sent so far as read. */
  async markRead(contact: string): Promise<void> {
    const engine = this.#get()
    await engine.work(engine.receipts.markRead(engine.sessions.get(contact)))
  }

  /** Messages of a conversation, in order. */
  async messages(contact: string, range?: MessageRange): Promise<readonly StoredMessage[]> {
    return this.#device.platform.store.listMessages(this.#get().sessions.get(contact).conversationId, range)
  }

  /** Every conversation, by the time of its last message, the latest first. */
  async conversations(): Promise<readonly Conversation[]> {
    const { sessions } = this.#get()
    const all = await Promise.all(sessions.list().map((session) => this.conversation(session.conversationId)))
    return all.sort((a, b) => (b.lastMessage?.time ?? 0) - (a.lastMessage?.time ?? 0))
  }

  /** One conversation. @throws ClientError `UNKNOWN_CONTACT` */
  async conversation(contact: string): Promise<Conversation> {
    return describeConversation(this.#device.platform.store, this.#get(), contact)
  }

  /** The code both sides compare to know that nobody sits between them. */
  securityCode(contact: string): SecurityCode {
    return securityCodeOf(this.#get().sessions, contact)
  }

  /** Whether the contact is verified, and since when. */
  trustState(contact: string): Promise<TrustState> {
    return trustStateOf(this.#get().sessions, contact, this.#device.platform.store)
  }

  /** Verifies the contact if `code` is the security code, however it is spaced; answers whether it is. */
  verifySecurityCode(contact: string, code: string): Promise<boolean> {
    return verifyCode(this.#get().sessions, contact, code, this.#device.platform.clock)
  }

  /** Verifies the contact on the user's word. */
  markVerified(contact: string): Promise<void> {
    return markVerified(this.#get().sessions, contact, this.#device.platform.clock)
  }

  /** Takes a verification back. */
  resetTrust(contact: string): Promise<void> {
    return this.#get().sessions.setTrust(contact, { status: 'unverified' })
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

  #get(): Engine {
    return this.#device.needEngine()
  }
}
