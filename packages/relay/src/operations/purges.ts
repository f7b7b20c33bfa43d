// Erases what is left of deleted things, in the background. What is deleted is gone for everybody before it
// is purged; a row of the store says what is not purged yet, so that another process can go on.
import type { Log } from './log.ts'
import { within } from './within.ts'
import { workThrough } from './work-through.ts'

/** A request waits at most this long for its purge, which then goes on by itself. */
const MOST_WAIT_MS = 10_000
/** How many things one pass of {@link Purges.resume} purges. */
const MOST_PER_PASS = 500

/** How things of one kind are purged. */
export interface PurgeSteps<Id> {
  /** The first things that are not purged yet, at most so many. */
  find(most: number): Promise<readonly Id[]>
  /**
   * Erases what is left of a thing, and at last its row. Erasing again, after any part of it, is harmless. It
   * ends with an error soon after the signal aborts.
   */
  erase(id: Id, signal: AbortSignal): Promise<void>
}

/** The purges of deleted things of one kind. */
export class Purges<Id> {
  readonly #steps: PurgeSteps<Id>
  readonly #log: Log
  readonly #running = new Map<Id, Promise<void>>()
  readonly #stopping = new AbortController()
  #started: Promise<void> | undefined

  constructor(steps: PurgeSteps<Id>, log: Log) {
    this.#steps = steps
    this.#log = log
  }

  /** Purges a deleted thing. Usually it is purged when this resolves; it never rejects. */
  async purge(id: Id): Promise<void> {
    await within(
      MOST_WAIT_MS,
      this.#purge(id).catch((error: unknown) => this.#failed(error)),
    )
  }

  /** Goes on with what the process before this one did not finish. */
  start(): void {
    this.#started = this.resume().catch((error: unknown) => this.#failed(error))
  }

  /** Purges what was not purged because the process ended, or because it failed. */
  async resume(): Promise<void> {
    const { signal } = this.#stopping
    const onFailure = (error: unknown): void => this.#failed(error)
    await workThrough(await this.#steps.find(MOST_PER_PASS), (id) => this.#purge(id), { onFailure, signal })
  }

  /** Stops after the transactions that are running. What is left is for the next process. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#started
    await Promise.allSettled(this.#running.values())
  }

  #failed(error: unknown): void {
    if (!this.#stopping.signal.aborted) this.#log.error('purge_failed', { error })
  }

  async #purge(id: Id): Promise<void> {
    let running = this.#running.get(id)
    if (!running) {
      running = this.#steps.erase(id, this.#stopping.signal).finally(() => this.#running.delete(id))
      this.#running.set(id, running)
    }
    await running
  }
}
