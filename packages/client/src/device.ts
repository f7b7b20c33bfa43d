// The identity of a device and its engine: loads, replaces, changes, locks and deletes it.
import { accountEndpoints, type ReplyOf } from '@sotto/protocol'
import {
  type ActiveIdentity,
  accountKeyMismatch,
  checkNickname,
  Lock,
  loadIdentity,
  type PreparedIdentity,
  type RegistrationWatch,
} from './account/account.ts'
import { ClientError } from './client-error.ts'
import type { Account } from './client-types.ts'
import { type CallHooks, Engine } from './engine.ts'
import { Emitter, type ToldState, tellChanges } from './events/events.ts'
import { loadForwardSecrecy } from './forward-secrecy/provided.ts'
import { type ClientOptions, decideOptions, type Platform, SerialQueue } from './platform/platform.ts'
import { loadCryptography } from './secrecy/secrecy.ts'
import { openSecrets, publicPart, type Secrets, type StoredIdentity } from './stores/stores.ts'
import type { RelayRequest } from './wire/wire.ts'
import { Http } from './wire/wire.ts'

/** The device's identity and the engine that runs for it. */
export class Device {
  readonly lock: Lock
  readonly emitter: Emitter
  /** Set by the application's calls, if it has them. */
  readonly callHooks: CallHooks = { early: [] }
  /** Runs before the store is closed: what the parts of modules have to store. */
  readonly closing: (() => Promise<void>)[] = []
  readonly #platform: Platform
  /** Runs changes of the identity in order: each must see the result of the one before. */
  readonly #identityQueue = new SerialQueue()
  /** Runs account requests in order, so that the later of two answers is the newer one. */
  readonly #accountQueue = new SerialQueue()
  #engine: Engine | undefined
  /** How often another identity has replaced the previous one. */
  #replacements = 0
  /** Resolves once the previous engine has stopped. */
  #stopped: Promise<void> = Promise.resolve()
  #closed = false
  /** Aborts the preparation of an identity. */
  #abort = new AbortController()
  /** The state in the latest events. */
  #emitted: ToldState

  /** Opens a device on its store. See `SottoClient.open`. */
  static async open(options: ClientOptions): Promise<Device> {
    const platform = decideOptions(options)
    const { store, random } = platform
    await loadCryptography()
    const secrets = await openSecrets({
      store,
      randomBytes: random,
      vaults: [options.secrets ?? []].flat(),
    })
    const device = new Device(platform, secrets, new Emitter())
    if (!device.isLocked) await device.load()
    return device
  }

  private constructor(platform: Platform, secrets: Secrets, emitter: Emitter) {
    const { solveProofOfWork: solve } = platform
    const onFallback = (error: ClientError): void => emitter.emit('error', error)
    this.#platform = {
      ...platform,
      store: secrets.store,
      solveProofOfWork: solve && ((work) => solve({ ...work, onFallback })),
    }
    this.emitter = emitter
    this.lock = new Lock(secrets, {
      load: () => this.load(),
      stop: () => this.#stopEngine(),
      isConnecting: () => this.engine !== undefined && this.engine.connection.state !== 'disconnected',
      connect: () => this.#engine?.connection.start(),
      changed: () => this.#emitChanges(),
    })
    this.#emitted = { isLocked: this.isLocked }
  }

  /** The platform. Its store seals the secrets. */
  get platform(): Platform {
    return this.#platform
  }

  /** The engine of the identity; undefined without an identity or while locked. */
  get engine(): Engine | undefined {
    return this.#engine
  }

  get identity(): StoredIdentity | undefined {
    return this.isLocked ? undefined : this.#engine?.identity.stored
  }

  get isLocked(): boolean {
    return this.lock.isLocked
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** @throws ClientError `NO_IDENTITY`, `LOCKED`, `CLOSED` */
  needEngine(): Engine {
    this.checkOpen()
    if (!this.#engine) throw new ClientError('NO_IDENTITY', 'no identity yet')
    return this.#engine
  }

  /** Loads the identity in the store. */
  async load(): Promise<void> {
    const identity = await loadIdentity(this.#platform)
    if (identity) await this.#use(identity)
    this.#emitChanges()
  }

  /**
   * Replaces the identity, once the engine of the previous one has stopped. `close` aborts the preparation,
   * so that a closed client registers nothing.
   */
  take<I extends RegistrationWatch>(
    input: I,
    prepare: (platform: Platform, input: I) => Promise<PreparedIdentity>,
  ): Promise<StoredIdentity> {
    return this.#identityQueue.run(async () => {
      this.checkOpen()
      const { identity, changes } = await this.#prepare(input, prepare)
      // A running unlock would load the previous identity.
      return this.lock.queue.run(async () => {
        this.checkOpen()
        // No write of the previous identity may come after the new one's.
        const before = this.#engine?.identity
        const token = before?.login.token
        await this.#stopEngine()
        this.#replacements += 1
        await this.#platform.store.write(changes)
        await this.#use(identity)
        this.#emitChanges()
        if (before?.stored.uuid !== identity.stored.uuid) void this.#logOut(token).catch(() => {})
        return identity.stored
      })
    })
  }

  /** See `SottoClient.restore`. */
  async restore(): Promise<Account | null> {
    this.checkOpen()
    if (!this.engine) return null
    this.engine.identity.login.dropAnyToken()
    const { aliasId, nickname } = await this.sync()
    return { aliasId, nickname }
  }

  /** Fetches the account's current alias and nickname from the relay, and stores them. */
  sync(): Promise<StoredIdentity> {
    const engine = this.needEngine()
    return this.#accountQueue.run(async () =>
      this.#follow(engine, await engine.http.call(accountEndpoints.getMe, {})),
    )
  }

  async setNickname(text: string): Promise<void> {
    const engine = this.needEngine()
    const body = { nickname: checkNickname(text) }
    await this.#accountQueue.run(async () =>
      this.#follow(engine, await engine.http.call(accountEndpoints.patchMe, { body })),
    )
  }

  /**
   * Ends the calls, disconnects, erases everything on this device if `erase`, and ends the token. What needs
   * the network comes last, so that without one all else is done.
   */
  async logOut(erase: boolean): Promise<void> {
    const engine = this.needEngine()
    const { login } = engine.identity
    const { token } = login
    const erasing = this.#replacements
    this.lock.stayDisconnected()
    await this.callHooks.onStop?.(engine)
    engine.connection.stop()
    login.dropAnyToken()
    if (erase) await this.#erase(engine, erasing)
    await this.#logOut(token)
  }

  /** Makes every token of the account dead. The connection opens again with a new one. */
  async logOutEverywhere(): Promise<void> {
    const { http, identity } = this.needEngine()
    await http.call(accountEndpoints.authLogoutAll, {})
    identity.login.dropAnyToken()
  }

  /**
   * Deletes the account, then everything on this device. If the account is already deleted, only the latter.
   */
  async deleteAccount(): Promise<void> {
    const engine = this.needEngine()
    const replacements = this.#replacements
    try {
      await engine.http.call(accountEndpoints.deleteMe, {})
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'ACCOUNT_NOT_FOUND')) throw error
    }
    await this.#erase(engine, replacements)
  }

  /** Sends a request, with the account's token if the endpoint needs one. */
  async request(request: RelayRequest): Promise<string> {
    this.checkNotClosed()
    const http = request.auth === 'none' ? new Http(this.#platform) : this.needEngine().http
    return http.request(request)
  }

  /**
   * Stops the engine, ends the streams of events, and closes the store.
   * @throws what a part of a module threw when it stored the rest, after all else is closed
   */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#abort.abort()
    await this.lock.queue.settled()
    await this.#engine?.stop()
    this.#engine?.forgetKeys()
    const finished = await Promise.allSettled(this.closing.map(async (finish) => finish()))
    this.emitter.end()
    await this.#platform.store.close()
    for (const each of finished) if (each.status === 'rejected') throw each.reason
  }

  /** @throws ClientError `LOCKED`, `CLOSED` */
  checkOpen(): void {
    this.checkNotClosed()
    if (this.isLocked) throw new ClientError('LOCKED', 'the client is locked')
  }

  /** @throws ClientError `CLOSED` */
  checkNotClosed(): void {
    if (this.#closed) throw new ClientError('CLOSED', 'the client is closed')
  }

  /**
   * Deletes everything on this device.
   * @param replacements how often the identity had been replaced when this one was to be erased
   */
  #erase(engine: Engine, replacements: number): Promise<void> {
    // After a lock or unlock the device has another engine or none, but still the same account.
    const clear = async (): Promise<void> => {
      if (this.#replacements !== replacements)
        throw new ClientError('NO_IDENTITY', 'another identity has replaced it')
      await this.#stopEngine()
      await engine.journal.write([{ change: 'clear' }])
      if (this.#platform.forwardSecrecy) await (await loadForwardSecrecy()).eraseKeys(this.#platform)
      this.#emitChanges()
    }
    return this.#identityQueue.run(() => this.lock.queue.run(clear))
  }

  /**
   * Ends a token at the relay. Without a network, it lives until it expires.
   * @throws ClientError `NETWORK`, …
   */
  async #logOut(token: string | undefined): Promise<void> {
    if (token === undefined) return
    const http = new Http(this.#platform)
    http.useTokens({ getToken: async () => token, dropToken: () => {} })
    try {
      await http.call(accountEndpoints.authLogout, {})
    } catch (error) {
      // A token that the relay refuses has ended.
      if (!(error instanceof ClientError && error.retry === 'login')) throw error
    }
  }

  async #prepare<I extends RegistrationWatch>(
    input: I,
    prepare: (platform: Platform, input: I) => Promise<PreparedIdentity>,
  ): Promise<PreparedIdentity> {
    // A new one each time, because another reason to abort may have come with the previous input.
    this.#abort = new AbortController()
    const { signal } = input
    const end = (): void => this.#abort.abort(signal?.reason)
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end)
    try {
      return await prepare(this.#platform, { ...input, signal: this.#abort.signal })
    } catch (error) {
      this.checkNotClosed()
      throw error
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  async #use(identity: ActiveIdentity): Promise<void> {
    const engine = new Engine(this.#platform, identity, this.emitter, this.callHooks)
    await engine.load()
    this.#engine = engine
    // The client may have been closed or locked meanwhile.
    if (this.#closed || this.isLocked) await this.#stopEngine()
    this.checkOpen()
  }

  /** Stops the engine. Resolves once no engine runs any more, even if an earlier call stopped it. */
  #stopEngine(): Promise<void> {
    const engine = this.#engine
    this.#engine = undefined
    if (engine) this.#stopped = engine.stop().then(() => engine.forgetKeys())
    return this.#stopped
  }

  /** Stores the alias and nickname that the relay reports. The relay decides these, but never the keys. */
  async #follow(requester: Engine, me: ReplyOf<'getMe'>): Promise<StoredIdentity> {
    const engine = this.needEngine()
    const { stored } = engine.identity
    if (stored.signingPublicKey !== requester.identity.stored.signingPublicKey)
      throw new ClientError('NO_IDENTITY', 'another identity has replaced it')
    const isOther =
      me.uuid !== stored.uuid ||
      me.ed25519_public_key !== stored.signingPublicKey ||
      // Two accounts never get the same alias.
      engine.sessions.isAlias(me.alias_id)
    if (isOther) throw new ClientError('BAD_REPLY', 'the relay answered with another account')
    if (me.x25519_public_key !== stored.ecdhPublicKey) throw accountKeyMismatch()
    const followed: StoredIdentity = { ...stored, aliasId: me.alias_id, nickname: me.nickname }
    await engine.journal.write([{ change: 'identity', identity: followed }])
    engine.identity = { ...engine.identity, stored: followed, isKeyProven: true }
    this.#emitChanges()
    return followed
  }

  /** Emits events for changes of the identity and of the lock. */
  #emitChanges(): void {
    const { identity, isLocked } = this
    const before = this.#emitted
    this.#emitted = { identity: identity && publicPart(identity), isLocked }
    tellChanges(this.emitter, before, this.#emitted)
  }
}
