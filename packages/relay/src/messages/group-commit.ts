// Group commit: everything that arrives while one batch is being synced goes into the next. That is why durable is
// nearly as fast as not.
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { Batch, type Operation, type Outcome } from './batch.ts'
import type { BatchStore, PageKeys } from './page.ts'

interface Waiting {
  readonly operation: Operation
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

// Bounds the time one transaction takes, and with it how long the next one's frames wait.
const MOST_IN_ONE_COMMIT = 1000

/** Takes frames in, commits them in groups in the order they came, and lets the answers go afterwards. */
export class GroupCommit {
  readonly #store: BatchStore
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #log: Log
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #running: Promise<void> | undefined

  readonly #lookAgain: () => void
  #hasUnknownOutcome = false

  constructor(parts: {
    store: BatchStore
    bus: Bus
    clock: Clock
    limits: Limits
    log: Log
    /** Called once commits go through again after one of which nobody knows whether it took effect. */
    lookAgain: () => void
  }) {
    this.#lookAgain = parts.lookAgain
    this.#store = parts.store
    this.#bus = parts.bus
    this.#clock = parts.clock
    this.#limits = parts.limits
    this.#log = parts.log
  }

  /**
   * Carries an operation out. Resolves after the commit is on stable storage: nothing may be acknowledged before
   * (protocol, Delivery 1).
   * @throws ProtocolError `INTERNAL` where the commit failed; whether it took effect is then not known
   */
  submit(operation: Operation): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject })
      this.#waitingBytes += bytesOf(operation)
      this.#running ??= this.#run()
    })
  }

  /** True where more is waiting than memory should hold: the store does not keep up, or does not answer. */
  get isOverfull(): boolean {
    return this.#waitingBytes > this.#limits.commitBytes
  }

  /** Resolves once all that was submitted is committed. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    // Frames that were read from the sockets in this turn of the event loop share the first commit.
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
    try {
      const batch = await this.#store.commit(keysOf(group), (page) => {
        const fresh = new Batch(page, this.#clock.now(), this.#limits)
        for (const { operation } of group) fresh.apply(operation)
        return fresh
      })
      if (this.#hasUnknownOutcome) this.#lookAgain()
      this.#hasUnknownOutcome = false
      const { outcomes, deliveries, receipts } = batch.finish()
      for (const { account, ...delivery } of deliveries)
        this.#bus.ring(account, { kind: 'mailbox', ...delivery })
      for (const { account, ...receipt } of receipts) this.#bus.ring(account, { kind: 'receipt', ...receipt })
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index]
        if (outcome) resolve(outcome)
        else reject(new Error('an operation without an outcome'))
      }
    } catch (error) {
      this.#hasUnknownOutcome = true
      this.#log.error('commit_failed', { error, count: group.length })
      for (const { reject } of group) reject(new ProtocolError('INTERNAL')) // The log has the cause, once.
    }
  }
}

// What a frame costs in memory while it waits, roughly: its payload, its object and what waits for its answer.
function bytesOf({ frame }: Operation): number {
  return 512 + (frame.type === 'msg' ? frame.payload.length : 0)
}

function keysOf(group: readonly Waiting[]): PageKeys {
  const frames = group.map(({ operation }) => operation)
  return {
    conversations: new Set(frames.map(({ frame }) => frame.conv_id)),
    sentIds: frames.flatMap((operation) =>
      operation.kind === 'receipt' ? [] : [{ sender: operation.account, id: operation.frame.id }],
    ),
    addressed: frames.flatMap((operation) =>
      operation.kind === 'receipt' ? [] : [{ sender: operation.account, alias: operation.frame.to }],
    ),
  }
}
