// Locking and unlocking a client: one after another, however the calls come.
import { ClientError } from './client-error.ts'
import type { SealedStore } from './stores/sealed-store.ts'
import { Turns } from './turns.ts'

/** The client, as it is locked. */
export interface Lockable {
  /** Takes up the identity in the store. */
  load(): Promise<void>
  /** Stops what works for the identity, and drops its keys. */
  stop(): Promise<void>
  /** Whether it is connected, or tries to be. */
  isConnecting(): boolean
  connect(): void
  /** It is locked, or is not any more. */
  changed(): void
}

/** Whether a client is locked. */
export class Lock {
  readonly #secrets: SealedStore
  readonly #client: Lockable
  /** Locking, unlocking, and what neither may come between. */
  readonly turns = new Turns()
  #isLocked: boolean
  #connectsOnUnlock = false

  constructor(secrets: SealedStore, client: Lockable) {
    this.#secrets = secrets
    this.#client = client
    this.#isLocked = secrets.isLocked
  }

  get isLocked(): boolean {
    return this.#isLocked
  }

  get isSealed(): boolean {
    return this.#secrets.isSealed
  }

  async lock(): Promise<void> {
    if (!this.isSealed) throw new ClientError('INVALID_ARGUMENT', 'nothing to lock: no secrets are sealed')
    this.#isLocked = true
    this.#client.changed()
    await this.turns.take(async () => {
      // An unlocking that was under way has come to its end.
      this.#isLocked = true
      this.#client.changed()
      if (this.#client.isConnecting()) this.#connectsOnUnlock = true
      await this.#client.stop()
      this.#secrets.lock()
    })
  }

  unlock(passphrase: string | undefined): Promise<void> {
    return this.turns.take(async () => {
      if (!this.#isLocked) return
      await this.#secrets.unlock(passphrase)
      this.#isLocked = false
      try {
        await this.#client.load()
      } catch (error) {
        this.#isLocked = true
        this.#secrets.lock()
        throw error
      }
      if (this.#connectsOnUnlock) this.#client.connect()
      this.#connectsOnUnlock = false
    })
  }

  setPassphrase(passphrase: string | undefined): Promise<void> {
    return this.turns.take(() => this.#secrets.protect(passphrase))
  }

  /** Unlocking connects no more. */
  stayDisconnected(): void {
    this.#connectsOnUnlock = false
  }
}
