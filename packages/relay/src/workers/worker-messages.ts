// What a worker tells the process that started it, and how it knows that it is one.
import * as v from 'valibot'

/** Tells a process that it is a worker, and which. */
export const WORKER = 'SOTTO_WORKER'

/** What a worker tells. */
export const WorkerMessage = v.variant('kind', [
  /** It serves. The lines are for the person at the terminal. */
  v.object({ kind: v.literal('ready'), lines: v.array(v.string()) }),
  /** It cannot start, and the operator can fix the cause. */
  v.object({ kind: v.literal('refused'), reason: v.string() }),
])
/** See {@link WorkerMessage}. */
export type WorkerMessage = v.InferOutput<typeof WorkerMessage>

/** What a process is if it is a worker. */
export interface WorkerRole {
  /** From 1. */
  readonly number: number
  /** Tells the process that started it. */
  tell(message: WorkerMessage): void
  /** Resolves when that process is gone. Then nobody would end this one, and it would keep the port. */
  readonly orphaned: Promise<'orphaned'>
}

/** @returns undefined if this process is no worker */
export function workerRoleOf(
  environment: Readonly<Record<string, string | undefined>>,
): WorkerRole | undefined {
  const number = Number(environment[WORKER] ?? 0)
  if (number === 0 || !process.send) return undefined
  const { promise: orphaned, resolve } = Promise.withResolvers<'orphaned'>()
  process.on('disconnect', () => resolve('orphaned'))
  return { number, orphaned, tell: (message) => void process.send?.(message) }
}
