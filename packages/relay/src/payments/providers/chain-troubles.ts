// Says why payments of a chain wait: in the log when it begins, once an hour while it lasts, and when it
// ends; in the store, for the operator's commands and the readiness.
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { Storage } from '../../storage/storage.ts'
import { type ChainState, type ChainTrouble, setTrouble } from '../chain-store.ts'

const AGAIN_AFTER_MS = 3_600_000

/** The troubles of one chain. It has at most one at a time. */
export class ChainTroubles {
  readonly #scope: string
  readonly #parts: { readonly log: Log; readonly storage: Storage; readonly clock: Clock }
  #current: { readonly kind: ChainTrouble; readonly hosts: string; loggedAt: number } | undefined

  constructor(scope: string, parts: { readonly log: Log; readonly storage: Storage; readonly clock: Clock }) {
    this.#scope = scope
    this.#parts = parts
  }

  /** The present trouble. */
  get current(): ChainTrouble | undefined {
    return this.#current?.kind
  }

  /**
   * Begins a trouble, or notes that it lasts.
   * @param hosts the endpoints concerned
   * @param height the block from which on payments wait
   */
  async set(kind: ChainTrouble, hosts: readonly string[], height: number): Promise<void> {
    const now = this.#parts.clock.monotonic()
    const names = hosts.join(' ')
    const before = this.#current
    const isNew = before?.kind !== kind || before.hosts !== names
    this.#current = { kind, hosts: names, loggedAt: isNew ? now : before.loggedAt }
    if (isNew) await this.#store()
    if (!isNew && now - this.#current.loggedAt < AGAIN_AFTER_MS) return
    this.#current.loggedAt = now
    const fields = { reason: this.#scope, url: names, count: height }
    const { log } = this.#parts
    if (kind === 'stopped') log.error('chain_stopped', fields)
    else if (kind === 'disagree') log.error('chain_endpoints_disagree', fields)
    else log.warn('chain_endpoints_few', fields)
  }

  /** Ends the trouble, if it is one of these. */
  async clear(...kinds: readonly ChainTrouble[]): Promise<void> {
    if (!this.#current || !kinds.includes(this.#current.kind)) return
    this.forget()
    await this.#store()
  }

  /** Ends the trouble, which the store no longer has. */
  forget(): void {
    if (this.#current) this.#parts.log.info('chain_trouble_over', { reason: this.#scope })
    this.#current = undefined
  }

  /** Stores the trouble again, if another node has overwritten it. */
  async settle({ trouble }: ChainState): Promise<void> {
    if (this.#current && this.#current.kind !== trouble) await this.#store()
  }

  async #store(): Promise<void> {
    const { storage, clock } = this.#parts
    const trouble = this.#current && { ...this.#current, now: clock.now() }
    await storage.transaction((sql) => setTrouble({ sql }, this.#scope, trouble))
  }
}
