// Locks and unlocks a client. Concurrent calls run one after another.
import { ClientError } from '../client-error.ts'
import { SerialQueue } from '../platform/platform.ts'
import type { Secrets } from '../stores/stores.ts'

/** The parts of a client that locking needs. */
export interface Lockable {
  /** Loads the identity in the store. */
  load(): Promise<void>
  /** Stops the engine, and drops its keys. */
  stop(): Promise<void>
  /** Whether it is connected or connecting. */
  isConnecting(): boolean
  connect(): void
  /** Called when it was locked or unlocked. */
  changed(): void
}

/** The lock of a client. */
export class Lock {
  readonly #secrets: Secrets
  readonly #client: Lockable
  /** Runs locking, unlocking, and work that neither may interrupt. */
  readonly queue = new SerialQueue()
  #isLocked: boolean
  #connectsOnUnlock = false

  constructor(secrets: Secrets, client: Lockable) {
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

  get hasPassphrase(): boolean {
    return this.#secrets.hasPassphrase
  }

  async lock(): Promise<void> {
    if (!this.isSealed) throw new ClientError('INVALID_ARGUMENT', 'no secrets are sealed')
    this.#isLocked = true
    this.#client.changed()
    await this.queue.run(async () => {
      // An unlocking that was running has ended by now, and may have cleared this.
      this.#isLocked = true
      this.#client.changed()
      if (this.#client.isConnecting()) this.#connectsOnUnlock = true
      await this.#client.stop()
      this.#secrets.lock()
    })
  }

  unlock(passphrase: string | undefined): Promise<void> {
    return this.queue.run(async () => {
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

  checkPassphrase(passphrase: string): Promise<void> {
    return this.queue.run(() => this.#secrets.check(passphrase))
  }

  setPassphrase(passphrase: string | undefined): Promise<void> {
    return this.queue.run(() => this.#secrets.protect(passphrase))
  }

  /** Makes the next `unlock` stay disconnected. */
  stayDisconnected(): void {
    this.#connectsOnUnlock = false
  }
}
