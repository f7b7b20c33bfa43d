// The client of one identity: builds its parts, wires them, and gives each frame to the part it is for.
import type { RelayFrame } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Confirmations } from './confirmations.ts'
import { Connection } from './connection.ts'
import type { Context } from './context.ts'
import type { Emitter } from './events.ts'
import { Friends } from './friends.ts'
import { Http } from './http.ts'
import { type ActiveIdentity, forgetKeys } from './identity.ts'
import { Inbox } from './inbox.ts'
import { Incoming } from './incoming.ts'
import { Journal } from './journal.ts'
import type { Platform } from './options.ts'
import { Outbox } from './outbox.ts'
import { Receipts } from './receipts.ts'
import { Retractions } from './retractions.ts'
import { Sessions } from './sessions.ts'
import { Turns } from './turns.ts'
import { Typing } from './typing.ts'

/** All that works for one identity. */
export class Engine {
  identity: ActiveIdentity
  readonly http: Http
  readonly journal: Journal
  readonly sessions: Sessions
  readonly friends: Friends
  readonly connection: Connection
  readonly outbox: Outbox
  readonly receipts: Receipts
  readonly retractions: Retractions
  readonly typing: Typing
  readonly #emitter: Emitter
  readonly #confirmations: Confirmations
  readonly #inbox: Inbox
  readonly #incoming: Incoming
  /** Of frames and what else is received: each is decided on before the next. */
  readonly #turns = new Turns()
  /** What is being decided on. */
  readonly #working = new Set<Promise<unknown>>()
  #stopped = false

  constructor(platform: Platform, identity: ActiveIdentity, emitter: Emitter) {
    this.#emitter = emitter
    this.identity = identity
    this.http = new Http(platform)
    this.http.useTokens(identity.login)
    this.journal = new Journal(platform.store, (error) => this.#onStoreFailure(error))
    const { clock, store } = platform
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
      onOpen: () => this.#onOpen(),
      onFrame: (frame, bytes) => this.#incoming.push(frame, bytes),
      onHeartbeat: () => this.outbox.onHeartbeat(),
      onPing: () => this.receipts.onPing(),
      onPong: () => this.receipts.onPong(),
      onGoaway: (reason) => emitter.emit('goaway', { reason }),
      onError: (error) => emitter.emit('error', error),
    })
    const context: Context = {
      platform,
      store,
      journal: this.journal,
      emitter,
      sessions: this.sessions,
      send: (frame) => this.connection.send(frame),
      reopen: () => this.connection.reopen(),
      hintFriendSync: () => this.friends.hint(),
    }
    this.#confirmations = new Confirmations(context)
    this.outbox = new Outbox(context)
    this.receipts = new Receipts(context)
    this.retractions = new Retractions(context, this.outbox, this.#confirmations)
    this.typing = new Typing(context)
    this.#inbox = new Inbox(context, this.#confirmations)
    this.#incoming = new Incoming({
      handle: (frame) => this.#inTurn(() => this.#handle(frame)),
      onError: (error) => emitter.emit('error', error),
      onFlood: () => this.connection.reopen(),
    })
  }

  /** Reads what the store holds. To be awaited before anything else. */
  async load(): Promise<void> {
    await this.friends.load()
    await this.sessions.load()
    await this.outbox.load()
    await this.receipts.load()
    await this.retractions.load()
  }

  /** Stops for good; resolves once everything already decided on is stored. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#incoming.stop()
    await this.#emitter.onStop?.(this)
    this.connection.stop()
    this.#confirmations.stop()
    this.outbox.stop()
    this.retractions.stop()
    this.receipts.stop()
    this.friends.stop()
    await this.outbox.settled()
    await Promise.allSettled(this.#working)
    await this.journal.settled()
  }

  /** Drops every key from memory. After `stop` only: what is decrypted without its key is lost. */
  forgetKeys(): void {
    this.sessions.forgetKeys()
    forgetKeys(this.identity)
  }

  /** One after another: what was kept for later must not be read while a frame takes it back. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.work(this.#turns.take(work))
  }

  /** Has `stop` wait for what was begun: what it writes must not come after the end. */
  work<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#working.delete(tracked))
    this.#working.add(tracked)
    return tracked
  }

  async #handle(frame: RelayFrame): Promise<void> {
    await this.journal.room()
    if ('from' in frame && 'conv_id' in frame && this.#isNewAlias(frame.conv_id, frame.from))
      this.friends.hint()
    if ('call_id' in frame) {
      this.#emitter.onCall?.(frame)
      if (frame.type !== 'error') return
    }
    switch (frame.type) {
      case 'msg':
        return this.#kept(frame.conv_id, this.#inbox.onMsg(frame))
      case 'ack':
        return this.outbox.onAck(frame)
      case 'delivered':
      case 'read':
        return this.receipts.onReceipt(frame)
      case 'retract':
        return this.#kept(frame.conv_id, this.retractions.onRetract(frame))
      case 'retract_ack':
        return this.retractions.onRetractAck(frame)
      case 'typing':
        return this.typing.onTyping(frame)
      case 'friend_request':
      case 'friend_accepted':
        return this.friends.hint()
      case 'sync_end':
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
      default:
        return unhandled(frame)
    }
  }

  /** Whether a peer seems to go by another alias than before, which the friend list would explain. */
  #isNewAlias(conversationId: string | undefined, aliasId: string): boolean {
    const session = conversationId === undefined ? undefined : this.sessions.find(conversationId)
    return session !== undefined && !this.sessions.isTheirAlias(session, aliasId)
  }

  // A mark for what follows would confirm this, too.
  async #kept(conversationId: string, handled: Promise<void>): Promise<void> {
    try {
      await handled
    } catch (error) {
      this.#confirmations.hold(conversationId)
      this.#onStoreFailure(toStoreFailure(error))
    }
  }

  async #onErrorFrame(frame: Extract<RelayFrame, { type: 'error' }>): Promise<void> {
    if ((await this.outbox.onError(frame)) || this.retractions.onError(frame) || this.receipts.onError(frame))
      return
    this.#emitter.emit('error', new ClientError('REFUSED', `the relay refused a frame: ${frame.error}`))
  }

  #onOpen(): void {
    this.#confirmations.onOpen()
    this.friends.hint()
    this.outbox.onOpen()
    this.retractions.onOpen()
    this.receipts.onOpen()
  }

  #onState(state: Connection['state']): void {
    if (state !== 'connected') this.outbox.onDown()
    this.#emitter.emit('network_state', state)
  }

  #onReadable(): void {
    // Not of the present call: sessions are decided on at once, and what waits for them follows.
    this.#inTurn(() => this.#inbox.retryAllOffline()).catch((error: unknown) =>
      this.#onStoreFailure(toStoreFailure(error)),
    )
    this.outbox.resume()
  }

  // What cannot be stored cannot be confirmed or sent: the relay keeps it until this client is opened anew.
  #onStoreFailure(error: ClientError): void {
    if (this.#stopped) return
    this.connection.stop()
    this.#emitter.emit('error', error)
  }
}

function toStoreFailure(error: unknown): ClientError {
  return error instanceof ClientError
    ? error
    : new ClientError('STORE_FAILED', 'the store could not be read', { cause: error })
}

function unhandled(frame: never): never {
  throw new ClientError('BAD_REPLY', `unhandled frame ${JSON.stringify(frame)}`)
}
