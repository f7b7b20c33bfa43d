// Work that comes round: one job after the other, never two rounds at once.
import type { Log } from './log.ts'

/** One job; it must be safe to run again after a failure, and end soon once its signal is given. */
export interface MaintenanceJob {
  readonly name: string
  run(signal: AbortSignal): Promise<void> | void
}

export function startMaintenance(
  jobs: readonly MaintenanceJob[],
  everyMs: number,
  log: Log,
): { stop(): Promise<void> } {
  let round: Promise<void> | undefined
  const stopping = new AbortController()
  const runAll = async (): Promise<void> => {
    for (const job of jobs) {
      try {
        await job.run(stopping.signal)
      } catch (error) {
        log.error('maintenance_failed', { error, reason: job.name })
      }
    }
    round = undefined
  }
  const timer = setInterval(() => {
    round ??= runAll()
  }, everyMs)
  return {
    stop: async () => {
      clearInterval(timer)
      stopping.abort()
      await round
    },
  }
}
