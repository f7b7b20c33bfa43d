// Group commit: all frames that arrive while one batch is synced to disk go into the next batch. Many frames
// share one sync, so durable commits are nearly as fast as commits without a sync.
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import { frameRefused, type RoomForMessages } from '../operations/disk-space.ts'
import type { Log } from '../operations/log.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import { isDatabaseAway, isDiskFull } from '../storage/storage.ts'
import { Batch, type Operation, type Outcome } from './batch.ts'
import type { BatchStore } from './batch-store.ts'
import type { CommitCounts, SentIdCounts } from './sent-id-counts.ts'

interface Waiting {
  readonly operation: Operation
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

// Bounds how long one transaction takes, and so how long the frames of the next one wait.
const MOST_IN_ONE_COMMIT = 1000

/** Commits frames in groups, in the order of arrival, and gives out their answers after the commit. */
export class GroupCommit {
  readonly #store: BatchStore
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #sentIdCounts: SentIdCounts
  readonly #log: Log
  readonly #space: RoomForMessages
  readonly #metrics: RelayMetrics
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #running: Promise<void> | undefined

  readonly #onRecovered: () => void
  #hasUnknownOutcome = false

  constructor(parts: {
    store: BatchStore
    bus: Bus
    clock: Clock
    limits: Limits
    sentIdCounts: SentIdCounts
    log: Log
    space: RoomForMessages
    metrics: RelayMetrics
    /** Called at the first commit that succeeds after a commit whose outcome is unknown. */
    onRecovered: () => void
  }) {
    this.#onRecovered = parts.onRecovered
    this.#store = parts.store
    this.#bus = parts.bus
    this.#clock = parts.clock
    this.#limits = parts.limits
    this.#sentIdCounts = parts.sentIdCounts
    this.#log = parts.log
    this.#space = parts.space
    this.#metrics = parts.metrics
  }

  /**
   * Carries out an operation. Resolves after the commit is on stable storage: no frame may be acknowledged
   * earlier (protocol, Delivery 1).
   * @throws ProtocolError `RELAY_FULL` if the disk is full, and `INTERNAL` if the commit failed otherwise; it
   *   may then still have taken effect
   */
  submit(operation: Operation): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject })
      this.#waitingBytes += bytesOf(operation)
      this.#running ??= this.#run()
    })
  }

  /** Whether the queue uses more memory than allowed, because the store is slow or does not answer. */
  get isFull(): boolean {
    return this.#waitingBytes > this.#limits.commitBytes
  }

  /** The frames that wait for the commit after the running one. */
  get waitingFrames(): number {
    return this.#waiting.length
  }

  /** The memory of all frames that are not committed. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Resolves once every submitted operation is committed or has failed. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    // Frames that were read from the sockets in the same tick of the event loop share the first commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const group = this.#waiting.slice(0, MOST_IN_ONE_COMMIT)
      this.#waiting = this.#waiting.slice(MOST_IN_ONE_COMMIT)
      await this.#commit(group)
      for (const { operation } of group) this.#waitingBytes -= bytesOf(operation)
    }
    this.#running = undefined
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const startedAt = this.#clock.monotonic()
    try {
      const batch = await this.#write(group)
      const writtenAt = this.#clock.monotonic()
      this.#metrics.commitSeconds.observe((writtenAt - startedAt) / 1000)
      this.#metrics.commitFrames.observe(group.length)
      if (this.#hasUnknownOutcome) this.#onRecovered()
      this.#hasUnknownOutcome = false
      const { outcomes, rings } = batch.finish()
      for (const { account, ring } of rings) this.#bus.ring(account, ring)
      // Connections write in a microtask, and theirs were queued before this one.
      queueMicrotask(() =>
        this.#metrics.deliverySeconds.observe((this.#clock.monotonic() - writtenAt) / 1000),
      )
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index]
        if (outcome) resolve(outcome)
        else reject(new Error('an operation without an outcome'))
      }
    } catch (error) {
      this.#metrics.commitsFailed.count()
      const isFull = isDiskFull(error)
      const isAway = isDatabaseAway(error)
      // The log says once that the disk is full or the database away, and not with every batch.
      if (!isFull && !isAway) this.#log.error('commit_failed', { error, count: group.length })
      this.#hasUnknownOutcome ||= !isFull
      const refusal = isFull ? frameRefused() : isAway ? error : new ProtocolError('INTERNAL')
      for (const { reject } of group) reject(refusal)
    }
  }

  // If the disk is full, commits the same frames once more without the new messages. What remains, such as
  // confirmations, mostly needs no further space.
  async #write(group: readonly Waiting[]): Promise<Batch> {
    const operations = group.map(({ operation }) => operation)
    const attempt = async (takesNew: boolean): Promise<Batch> => {
      let sentIdCounts: CommitCounts | undefined
      const batch = await this.#store.commit(operations, (rows) => {
        sentIdCounts = this.#sentIdCounts.ofCommit() // The store may try more than once.
        const fresh = new Batch(rows, {
          now: this.#clock.now(),
          limits: this.#limits,
          sentIdCounts,
          takesNew,
        })
        for (const operation of operations) fresh.apply(operation)
        return fresh
      })
      sentIdCounts?.keep()
      return batch
    }
    const { takesNew } = this.#space
    try {
      return await attempt(takesNew)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      this.#space.reportFull()
      if (!takesNew) throw error
      return await attempt(false)
    }
  }
}

// Roughly the memory that a waiting frame takes: its payload, its object and the promise of its answer.
function bytesOf({ frame }: Operation): number {
  return 512 + (frame.type === 'msg' ? frame.payload.length + (frame.group_info?.length ?? 0) : 0)
}
