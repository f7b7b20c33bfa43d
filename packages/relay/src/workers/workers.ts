// Several processes that serve one port: starts them, restarts those that die, and stops all together.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { startWorker, type WorkerCommand, type WorkerProcess } from './worker-process.ts'

export { mergedMetrics } from './merged-metrics.ts'
export { type WorkerRole, workerRoleOf } from './worker-messages.ts'
export { workerSettings, workersOf } from './worker-settings.ts'

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 10_000]
/** A worker that ran for so long begins again with the first pause. */
const STEADY_MS = 60_000

interface Parts extends WorkerCommand {
  readonly count: number
  /** How long a worker takes at most to stop. */
  readonly stopSeconds: number
  readonly log: Log
  readonly clock: Clock
}

/** A worker ended before it was ready. */
export class WorkerNotStarted extends Error {
  override readonly name = 'WorkerNotStarted'
}

/** The workers of a relay, by their numbers from 1. */
export class Workers {
  readonly #parts: Parts
  readonly #processes = new Map<number, WorkerProcess>()
  readonly #stopping = new AbortController()
  readonly #kept: Promise<void>[] = []

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The numbers of those that serve. */
  get ready(): number[] {
    return [...this.#processes.values()].filter(({ isReady }) => isReady).map(({ number }) => number)
  }

  /** Whether all serve. */
  get areAllReady(): boolean {
    return this.ready.length === this.#parts.count
  }

  /**
   * Starts all. The first one starts alone, so that a wrong setting is reported once, and the store is
   * brought up to date once.
   * @returns what the first one has to say at the terminal; undefined if they were stopped meanwhile
   * @throws WorkerNotStarted if one ends before it is ready; then none runs
   */
  async start(): Promise<readonly string[] | undefined> {
    const others = Array.from({ length: this.#parts.count - 1 }, (_, index) => index + 2)
    const lines = await this.#startFirstTime(1)
    await Promise.all(others.map((number) => this.#startFirstTime(number)))
    if (this.#stopping.signal.aborted) return undefined
    for (const process of this.#processes.values()) this.#kept.push(this.#keep(process))
    return lines
  }

  /** Stops all, and waits until they have ended. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#stopping.abort()
    const processes = [...this.#processes.values()]
    for (const process of processes) process.kill(signal)
    const late = setTimeout(() => {
      for (const process of processes) process.kill('SIGKILL')
    }, this.#parts.stopSeconds * 1000)
    await Promise.all(processes.map(({ ended }) => ended))
    await Promise.all(this.#kept)
    clearTimeout(late)
  }

  async #startFirstTime(number: number): Promise<readonly string[] | undefined> {
    if (this.#stopping.signal.aborted) return undefined
    const process = this.#start(number)
    const lines = await process.ready
    if (lines || this.#stopping.signal.aborted) return lines
    const reason = await process.ended
    await this.stop()
    throw new WorkerNotStarted(reason)
  }

  #start(number: number): WorkerProcess {
    const process = startWorker(number, this.#parts)
    this.#processes.set(number, process)
    return process
  }

  /** Starts a worker again whenever it ends. */
  async #keep(first: WorkerProcess): Promise<void> {
    const { clock, log } = this.#parts
    const { signal } = this.#stopping
    let process = first
    let startedAt = clock.monotonic()
    let pauseMs = FIRST_PAUSE_MS
    for (;;) {
      const reason = await process.ended
      if (signal.aborted) return
      if (clock.monotonic() - startedAt > STEADY_MS) pauseMs = FIRST_PAUSE_MS
      log.error('worker_ended', { worker: process.number, reason, durationMs: pauseMs })
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      startedAt = clock.monotonic()
      process = this.#start(process.number)
    }
  }
}
