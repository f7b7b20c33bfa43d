// Watches the settings of PostgreSQL that an administrator can change while the relay runs, and that would
// lose acknowledged messages. SQLite's settings belong to the relay.
import type { Storage, UnsafeSetting } from '../storage/storage.ts'
import type { Log } from './log.ts'

export class DurabilityCheck {
  readonly #storage: Storage
  readonly #log: Log
  #unsafe: UnsafeSetting | undefined

  constructor(parts: { storage: Storage; log: Log }) {
    this.#storage = parts.storage
    this.#log = parts.log
  }

  /** What the last check found. */
  get state(): 'ok' | UnsafeSetting['state'] {
    return this.#unsafe?.state ?? 'ok'
  }

  /** Reads the settings. Logs a wrong one when it appears, and when it is gone. */
  async run(): Promise<void> {
    const { engine } = this.#storage
    if (engine.dialect !== 'postgres') return
    const before = this.#unsafe
    const now = await engine.findUnsafeSetting()
    this.#unsafe = now
    if (now?.state === before?.state) return
    if (now) this.#log[now.losesCommits ? 'error' : 'warn']('database_not_durable', { reason: now.reason })
    else this.#log.info('database_durable_again')
  }
}
