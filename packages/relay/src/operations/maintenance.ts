// Runs the periodic tasks: one task at a time, and never two passes at once.
import { isDiskFull, type Storage } from '../storage/storage.ts'
import type { ClockTrust } from './clock-trust.ts'
import type { Log } from './log.ts'
import type { Sliced } from './slices.ts'
import { TurnOver, type Turns } from './turns.ts'

const EVERY_MS = 60_000

/** One task. It must be safe to run again after a failure, and must end soon after its signal aborts. */
export interface MaintenanceTask {
  readonly name: string
  /** True for a task that makes things expire: a clock that jumped ahead would make them expire too early. */
  readonly needsTrustedClock?: boolean
  /** True for a task that one node does at a time. Its transactions fail when the turn is over. */
  readonly onOneNode?: boolean
  run(work: Sliced): Promise<void> | void
}

/** Starts the periodic passes. Each begins with a check of the clock. */
export function startMaintenance(
  tasks: readonly MaintenanceTask[],
  parts: { clockTrust: ClockTrust; log: Log; storage: Storage; turns: Turns; everyMs?: number },
): { stop(): Promise<void> } {
  const { clockTrust, log, storage, turns, everyMs = EVERY_MS } = parts
  let pass: Promise<void> | undefined
  const stopping = new AbortController()
  const runOne = async ({ name, needsTrustedClock, onOneNode, run }: MaintenanceTask): Promise<void> => {
    const turn = onOneNode ? turns.current : { storage, signal: stopping.signal }
    if (!turn) return
    const signal = AbortSignal.any([turn.signal, stopping.signal])
    try {
      if (needsTrustedClock && !(await clockTrust.isTrusted())) return
      await run({ storage: turn.storage, signal })
    } catch (error) {
      if (error instanceof TurnOver) return // The lease has said so.
      // The log says once that the disk is full, and not with every task.
      if (!isDiskFull(error)) log.error('maintenance_failed', { error, reason: name })
    }
  }
  const runAll = async (): Promise<void> => {
    await runOne({ name: 'clock', run: () => clockTrust.check() })
    for (const task of tasks) await runOne(task)
    pass = undefined
  }
  const timer = setInterval(() => (pass ??= runAll()), everyMs)
  return {
    stop: async () => {
      clearInterval(timer)
      stopping.abort()
      await pass
    },
  }
}
