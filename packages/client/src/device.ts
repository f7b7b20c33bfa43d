// The identity of a device and what works for it: taken up, changed, put away and deleted.
import { accountEndpoints, type ReplyOf } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Engine } from './engine.ts'
import type { Emitter } from './events.ts'
import { Http } from './http.ts'
import { type ActiveIdentity, checkNickname, loadIdentity, type PreparedIdentity } from './identity.ts'
import { Lock } from './lock.ts'
import type { Platform } from './options.ts'
import type { RelayRequest } from './relay-request.ts'
import { type ToldState, tellChanges } from './state-events.ts'
import { publicPart, type StoredIdentity } from './stores/records.ts'
import type { SealedStore } from './stores/sealed-store.ts'
import { Turns } from './turns.ts'

/** Which identity a device has, and the engine that works for it. */
export class Device {
  readonly lock: Lock
  readonly emitter: Emitter
  readonly #platform: Platform
  /** Each must see what identity the one before has left. */
  readonly #taking = new Turns()
  /** Of two answers of the relay the later is the newer. */
  readonly #asking = new Turns()
  #engine: Engine | undefined
  /** How many identities were taken up in place of the one before. */
  #takes = 0
  /** The end of the engine before. */
  #stopped: Promise<void> = Promise.resolve()
  #closed = false
  #told: ToldState

  constructor(platform: Platform, secrets: SealedStore, emitter: Emitter) {
    this.#platform = { ...platform, store: secrets }
    this.emitter = emitter
    this.lock = new Lock(secrets, {
      load: () => this.load(),
      stop: () => this.#stopEngine(),
      isConnecting: () => this.engine !== undefined && this.engine.connection.state !== 'disconnected',
      connect: () => this.#engine?.connection.start(),
      changed: () => this.#tell(),
    })
    this.#told = { isLocked: this.isLocked }
  }

  /** With the store that seals what is secret. */
  get platform(): Platform {
    return this.#platform
  }

  /** What works for the identity, where there is one and it is not put away. */
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
    if (!this.#engine) throw new ClientError('NO_IDENTITY', 'no identity on this device yet')
    return this.#engine
  }

  /** Takes up the identity in the store. */
  async load(): Promise<void> {
    const identity = await loadIdentity(this.#platform)
    if (identity) await this.#use(identity)
    this.#tell()
  }

  /** Takes up an identity in place of the one there is, once that has come to its end. */
  take(prepare: () => Promise<PreparedIdentity>): Promise<StoredIdentity> {
    return this.#taking.take(async () => {
      this.checkOpen()
      const { identity, changes } = await prepare()
      // An unlocking that is under way would take up the identity before.
      return this.lock.turns.take(async () => {
        this.checkOpen()
        // What the identity before is still writing must not come after its end.
        await this.#stopEngine()
        this.#takes += 1
        await this.#platform.store.write(changes)
        await this.#use(identity)
        this.#tell()
        return identity.stored
      })
    })
  }

  /** Asks the relay by what alias and nickname the account goes now, and follows it. */
  sync(): Promise<StoredIdentity> {
    const engine = this.needEngine()
    return this.#asking.take(async () =>
      this.#follow(engine, await engine.http.call(accountEndpoints.getMe, {})),
    )
  }

  async setNickname(text: string): Promise<void> {
    const engine = this.needEngine()
    const body = { nickname: checkNickname(text) }
    await this.#asking.take(async () =>
      this.#follow(engine, await engine.http.call(accountEndpoints.patchMe, { body })),
    )
  }

  /** Deletes the account, and then everything on this device. Where the account is gone already, the second alone. */
  async deleteAccount(): Promise<void> {
    const engine = this.needEngine()
    const takes = this.#takes
    try {
      await engine.http.call(accountEndpoints.deleteMe, {})
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'ACCOUNT_NOT_FOUND')) throw error
    }
    // Locked or unlocked meanwhile, it may have another engine, or none, and is the same account.
    const clear = async (): Promise<void> => {
      if (this.#takes !== takes)
        throw new ClientError('NO_IDENTITY', 'another identity was taken up meanwhile')
      await this.#stopEngine()
      await engine.journal.write([{ change: 'clear' }])
      this.#tell()
    }
    await this.#taking.take(() => this.lock.turns.take(clear))
  }

  /** Makes a request in the name of the account, or of nobody where it needs no account. */
  async request(request: RelayRequest): Promise<string> {
    this.checkNotClosed()
    const http = request.auth === 'none' ? new Http(this.#platform) : this.needEngine().http
    return http.request(request)
  }

  /** Ends everything, and closes the store. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.lock.turns.settled()
    await this.#engine?.stop()
    this.#engine?.forgetKeys()
    this.emitter.end()
    await this.#platform.store.close()
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

  async #use(identity: ActiveIdentity): Promise<void> {
    const engine = new Engine(this.#platform, identity, this.emitter)
    await engine.load()
    this.#engine = engine
    // Closed or locked meanwhile.
    if (this.#closed || this.isLocked) await this.#stopEngine()
    this.checkOpen()
  }

  /** Resolves once no engine is at work any more, whoever has stopped it. */
  #stopEngine(): Promise<void> {
    const engine = this.#engine
    this.#engine = undefined
    if (engine) this.#stopped = engine.stop().then(() => engine.forgetKeys())
    return this.#stopped
  }

  /** Takes over what the relay says of the account that `asked`. Alias and nickname are its to say, the keys are not. */
  async #follow(asked: Engine, me: ReplyOf<'getMe'>): Promise<StoredIdentity> {
    const engine = this.needEngine()
    const { stored } = engine.identity
    if (stored.signingPublicKey !== asked.identity.stored.signingPublicKey)
      throw new ClientError('NO_IDENTITY', 'another identity was taken up meanwhile')
    const isOther =
      me.uuid !== stored.uuid ||
      me.ed25519_public_key !== stored.signingPublicKey ||
      me.x25519_public_key !== stored.ecdhPublicKey ||
      // No alias is ever given to two.
      engine.sessions.isAlias(me.alias_id)
    if (isOther) throw new ClientError('BAD_REPLY', 'the relay answered with another account')
    const followed: StoredIdentity = { ...stored, aliasId: me.alias_id, nickname: me.nickname }
    await engine.journal.write([{ change: 'identity', identity: followed }])
    engine.identity = { ...engine.identity, stored: followed }
    this.#tell()
    return followed
  }

  /** Tells what has changed of what is at hand. */
  #tell(): void {
    const { identity, isLocked } = this
    const before = this.#told
    this.#told = { identity: identity && publicPart(identity), isLocked }
    tellChanges(this.emitter, before, this.#told)
  }
}
