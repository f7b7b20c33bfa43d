// Runs one identity: creates its parts, connects them, and passes each frame to the right part.
import { accountEndpoints, type CallFrameType, isErrorCode, type RelayFrame } from '@sotto/protocol'
import { type ActiveIdentity, accountKeyMismatch, forgetKeys } from './account/account.ts'
import { asClientError, ClientError } from './client-error.ts'
import { Friends, Sessions } from './contacts/contacts.ts'
import { changesBy, type Emitter } from './events/events.ts'
import type { CallSecrecy } from './forward-secrecy/call-secrecy.ts'
import type { LateContext, LateForward } from './forward-secrecy/late-forward.ts'
import { openLateForward } from './forward-secrecy/provided.ts'
import { Messages, type UserSecrecy } from './messages/messages.ts'
import { type Clock, type Platform, SerialQueue } from './platform/platform.ts'
import { Journal, type SessionRecord, type StoreChange } from './stores/stores.ts'
import { Connection, Http, Incoming } from './wire/wire.ts'

/** The frames about calls: signals of the other side, and refusals of signals that this side sent. */
export type CallFrameOrRefusal = Extract<RelayFrame, { readonly type: CallFrameType | 'error' }>

/** A frame of a call that nothing handles yet, and when it came, in milliseconds since 1970. */
export interface EarlyCallFrame {
  readonly frame: CallFrameOrRefusal
  readonly atMs: number
}

/** How many early frames are kept: those of some calls, each with its candidates. */
const MAX_EARLY = 64

/** The hooks of an application's calls. Calls outlive an engine, so the device holds the hooks. */
export interface CallHooks {
  /** The latest frames that came before `onFrame` was set: an application may load its calls later. */
  readonly early: EarlyCallFrame[]
  /** Handles the frames of calls. */
  onFrame?: ((frame: CallFrameOrRefusal) => void) | undefined
  /** Sends the last signals before an engine stops, while it has a connection and keys. Never rejects. */
  onStop?: (engine: Engine) => Promise<void>
}

/** All parts that run for one identity. */
export class Engine {
  identity: ActiveIdentity
  readonly http: Http
  readonly journal: Journal
  readonly sessions: Sessions
  readonly friends: Friends
  readonly connection: Connection
  readonly messages: Messages
  readonly #emitter: Emitter
  readonly #callHooks: CallHooks
  readonly #clock: Clock
  readonly #platform: Platform
  /** Version 3, if the application has it. */
  readonly #forward: LateForward | undefined
  readonly #incoming: Incoming
  /** How many connections have opened. */
  #connections = 0
  /** The connection of the last frame that was handled. */
  #handled = 0
  /** Handles frames, and retries stored unreadable messages, one after another. */
  readonly #queue = new SerialQueue()
  /** The running work that `stop` waits for. */
  readonly #working = new Set<Promise<unknown>>()
  /** The request for this account's key on this connection. */
  #keyCheck: Promise<void> | undefined
  /** Aborted by `stop`. */
  readonly #stopping = new AbortController()

  constructor(platform: Platform, identity: ActiveIdentity, emitter: Emitter, callHooks: CallHooks) {
    this.#emitter = emitter
    this.#callHooks = callHooks
    this.identity = identity
    this.http = new Http(platform)
    this.http.useTokens(identity.login)
    const onStoreFailure = (error: unknown): void => this.#onStoreFailure(error)
    const onStored = (stored: readonly StoreChange[]): void => {
      const changes = changesBy(stored)
      if (changes.length > 0) emitter.emit('changes', changes)
    }
    this.journal = new Journal(platform.store, onStoreFailure, onStored, (change) =>
      this.messages.summaries.forget(change),
    )
    const { clock, store } = platform
    this.#clock = clock
    this.#platform = platform
    this.sessions = new Sessions({
      store,
      journal: this.journal,
      emitter,
      clock,
      keys: identity.keys,
      isOwnAlias: (aliasId) => aliasId === this.identity.stored.aliasId,
    })
    this.friends = new Friends({
      platform,
      http: this.http,
      journal: this.journal,
      emitter,
      sessions: this.sessions,
      onReadable: () => this.#onReadable(),
    })
    this.connection = new Connection(platform, this.http, identity.login, identity.stored.uuid, {
      onState: (state) => this.#onState(state),
      onOpen: (features) => this.#onOpen(features),
      onFrame: (frame, bytes) => this.#incoming.push(frame, bytes, this.#connections),
      onHeartbeat: () => this.messages.outbox.onHeartbeat(),
      onPing: () => this.messages.receipts.onPing(),
      onPong: () => this.messages.receipts.onPong(),
      onGoaway: (reason) => {
        if (reason === 'new_device_login') this.#forward?.onOtherDevice()
        emitter.emit('goaway', { reason })
      },
      onError: (error) => emitter.emit('error', error),
    })
    this.#forward = platform.forwardSecrecy ? openLateForward(this.#lateContext()) : undefined
    this.messages = new Messages({
      platform,
      store,
      journal: this.journal,
      emitter,
      sessions: this.sessions,
      send: (frame) => this.connection.send(frame),
      reopen: () => this.connection.reopen(),
      hintFriendSync: () => this.friends.hint(),
      proveOwnKey: () => this.#proveOwnKey(),
      onStoreFailure,
      forward: this.#forward,
    })
    this.#incoming = new Incoming({
      handle: (...received) => this.#enqueue(() => this.#handle(...received)),
      onError: (error) => emitter.emit('error', error),
      onFlood: () => this.connection.reopen(),
    })
  }

  /** Reads the stored state. Await it before anything else. */
  async load(): Promise<void> {
    await this.friends.load()
    await this.sessions.load(this.friends.list())
    await this.messages.load()
  }

  /** Stops permanently. Resolves once the results of all running work are stored. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#forward?.endReports()
    this.#incoming.stop()
    await this.#callHooks.onStop?.(this)
    this.connection.stop()
    this.messages.stop()
    this.friends.stop()
    await this.messages.posting.turns.settled()
    await Promise.allSettled(this.#working)
    await this.#forward?.stop()
    await Promise.allSettled(this.#working)
    await this.journal.settled()
  }

  /** Drops every key from memory. Call it only after `stop`: running work needs the keys. */
  forgetKeys(): void {
    this.sessions.forgetKeys()
    forgetKeys(this.identity)
  }

  /** Runs work one after another: a stored message must not be decrypted while a frame retracts it. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    return this.work(this.#queue.run(work))
  }

  /** Makes `stop` wait for this work, whose writes must not come after the end. */
  work<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#working.delete(tracked))
    this.#working.add(tracked)
    return tracked
  }

  #onCallFrame(frame: CallFrameOrRefusal): void {
    const { onFrame, early } = this.#callHooks
    if (onFrame) return onFrame(frame)
    if (early.push({ frame, atMs: this.#clock.now() }) > MAX_EARLY) early.shift()
    if (frame.type === 'call_offer') this.#emitter.emit('call_waiting', { callId: frame.call_id })
  }

  async #handle(frame: RelayFrame, following: readonly RelayFrame[], connection: number): Promise<void> {
    await this.journal.room()
    // Frames of an ended connection may still wait when the next one opens: what failed counts for them.
    if (connection !== this.#handled) this.messages.confirmations.release()
    this.#handled = connection
    // The other side ended the friendship, which no frame reports.
    if (frame.type === 'error' && frame.error === 'NOT_FRIENDS') this.friends.hint()
    if ('from' in frame && 'conv_id' in frame && this.#isNewAlias(frame.conv_id, frame.from))
      this.friends.hint()
    if ('call_id' in frame) {
      this.#onCallFrame(frame)
      if (frame.type !== 'error') return
    }
    switch (frame.type) {
      case 'friend_request':
      case 'friend_accepted':
        return this.friends.hint()
      case 'sync_end':
        // The frames of the present connection may not all be here yet.
        if (connection === this.#connections)
          this.#forward?.onSynced(frame.incarnation, this.sessions.list().length > 0)
        return this.journal.record([], () => this.#emitter.emit('synced', { count: frame.count }))
      case 'error':
        return this.#onErrorFrame(frame)
      case 'channel_post':
        this.#emitter.emit('channel_post', { channelId: frame.channel_id, post: frame.post })
        return
      case 'payment_confirmed':
        this.#emitter.emit('payment_confirmed', frame)
        return
      case 'pong':
      case 'goaway':
        return
      case 'key_packages_low':
        return this.#forward?.onPackagesLow()
      case 'msg':
        this.#forward?.goOn()
        return this.messages.onFrame(frame, following)
      default:
        return this.messages.onFrame(frame, following)
    }
  }

  /** Whether a contact uses an unknown alias, which the friend list would explain. */
  #isNewAlias(conversationId: string | undefined, aliasId: string): boolean {
    const session = conversationId === undefined ? undefined : this.sessions.find(conversationId)
    return session !== undefined && !this.sessions.isTheirAlias(session, aliasId)
  }

  async #onErrorFrame(frame: Extract<RelayFrame, { type: 'error' }>): Promise<void> {
    if (await this.messages.onError(frame)) return
    const { error, message } = frame
    // The refusal of the next connection says why.
    if (error === 'ACCOUNT_SUSPENDED') return
    const refusal = isErrorCode(error) ? error : undefined
    this.#emitter.emit('error', new ClientError('REFUSED', `${error}: ${message}`, { refusal }))
  }

  /**
   * Whether the relay has this device's key for the account. Asks it once on each connection, until it has.
   */
  async #proveOwnKey(): Promise<boolean> {
    while (!this.identity.isKeyProven) {
      this.#keyCheck ??= this.#checkOwnKey()
      const check = this.#keyCheck
      await check
      // Unless another connection has opened meanwhile, on which this answer does not count.
      if (check === this.#keyCheck) break
    }
    return this.identity.isKeyProven
  }

  #checkOwnKey(): Promise<void> {
    const check: Promise<void> = this.#learnOwnKey().then((isAnswered) => {
      const isOpen = this.connection.state === 'connected' && check === this.#keyCheck
      // The next connection asks again, and gets the messages that are held meanwhile.
      if (!isAnswered && isOpen) this.connection.reopen()
    })
    return check
  }

  /** Asks the relay for the account's key. Returns false if it does not answer with any. */
  async #learnOwnKey(): Promise<boolean> {
    const { signal } = this.#stopping
    try {
      const me = await this.http.call(accountEndpoints.getMe, {}, { signal })
      if (me.x25519_public_key !== this.identity.stored.ecdhPublicKey) throw accountKeyMismatch()
      this.identity = { ...this.identity, isKeyProven: true }
      return true
    } catch (thrown) {
      if (signal.aborted) return true
      const error = asClientError(thrown, 'BAD_REPLY')
      this.#emitter.emit('error', error)
      return error.code !== 'NETWORK' && error.code !== 'REFUSED'
    }
  }

  #onOpen(features: readonly string[]): void {
    this.#keyCheck = undefined
    this.#connections += 1
    this.#forward?.onOpen(features)
    this.friends.hint()
    this.messages.onOpen(features.includes('after'))
  }

  #onState(state: Connection['state']): void {
    if (state !== 'connected') {
      this.messages.outbox.onDown()
      this.#forward?.onDown()
    }
    this.#emitter.emit('network_state', state)
  }

  #lateContext(): LateContext {
    const { journal, sessions, http } = this
    return {
      ...{ journal, sessions, http, platform: this.#platform, emitter: this.#emitter },
      store: this.#platform.store,
      keys: this.identity.keys,
      messages: () => this.messages,
      isConnected: () => this.connection.state === 'connected',
      send: (frame) => this.connection.send(frame),
      hintFriendSync: () => this.friends.hint(),
      sync: () => this.connection.sync(),
      work: (work) => this.work(work),
    }
  }

  /**
   * Whether messages to a contact go under version 3. @throws ClientError as the request does, if only the
   * relay knows it
   */
  async speaks(session: SessionRecord): Promise<boolean> {
    return (await this.#forward?.speaks(session)) ?? false
  }

  /** Version 3; undefined if the application has no forward secrecy. */
  get forward(): Promise<UserSecrecy & { readonly calls: CallSecrecy }> | undefined {
    return this.#forward?.part()
  }

  #onReadable(): void {
    // Not awaited: the sessions are updated first, and the messages that waited for them follow.
    this.#enqueue(() => this.messages.retryOffline()).catch((error: unknown) => this.#onStoreFailure(error))
    this.#forward?.onReadable()
    this.messages.outbox.resume()
  }

  // A message that cannot be stored is neither confirmed nor sent. The relay keeps it until this client is
  // opened again.
  #onStoreFailure(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    this.connection.stop()
    this.#emitter.emit('error', asClientError(error, 'STORE_FAILED'))
  }
}
