// The proof of work outside the page's thread: in a worker, or in slices on the page's thread if no worker
// starts.
import { ClientError } from '../client-error.ts'
import { type ProofOfWork, type ProofOfWorkSolver, systemClock } from '../platform/platform.ts'
import type { WorkerAnswer, WorkerQuestion } from './pow-worker-messages.ts'
import { solveInSlices } from './proof-of-work.ts'

/** A worker that sends nothing for this long has failed: its script may have been a "not found" page. */
const START_TIMEOUT_MS = 5000

/**
 * Does a proof of work in a worker: pass it to `SottoClient.open` as `solveProofOfWork`. If the worker does
 * not start (its script is not served, or the content security policy has no `worker-src`), the work is done
 * in slices on the calling thread. So registering always works. The event `error` reports it, with
 * `UNSUPPORTED`.
 */
export const solveInWorker: ProofOfWorkSolver = /* @__PURE__ */ solverIn(
  () => new Worker(new URL('./pow-worker.js', import.meta.url), { type: 'module' }),
)

/**
 * The same with a worker that the caller creates, for bundlers that do not find the script: `solverIn(() =>
 * new Worker('/assets/pow-worker.js', { type: 'module' }))` with `@sotto/client/pow-worker` as its source.
 */
export function solverIn(startWorker: () => Worker): ProofOfWorkSolver {
  const inSlices = solveInSlices(systemClock)
  return async (work) => {
    const nonce = await solveWith(startWorker, work)
    if (nonce !== undefined) return nonce
    const message = 'the worker for the proof of work does not start, so this thread does the work'
    work.onFallback?.(new ClientError('UNSUPPORTED', message))
    return inSlices(work)
  }
}

/** The nonce; undefined if the worker did not start. */
function solveWith(startWorker: () => Worker, work: ProofOfWork): Promise<string | undefined> {
  const { challenge, difficulty, maxAttempts, onProgress, signal } = work
  let worker: Worker
  try {
    worker = startWorker()
  } catch {
    return Promise.resolve(undefined)
  }
  return new Promise<string | undefined>((resolve, reject) => {
    const abort = (): void =>
      settle(() => reject(new ClientError('ABORTED', 'the proof of work was aborted')))
    const timer = setTimeout(() => settle(() => resolve(undefined)), START_TIMEOUT_MS)
    const settle = (end: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      worker.terminate()
      end()
    }
    worker.addEventListener('error', () => settle(() => resolve(undefined)))
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerAnswer>) => {
      clearTimeout(timer)
      if ('attempts' in data) report(data.attempts)
      else if ('nonce' in data) settle(() => resolve(data.nonce))
      else settle(() => reject(new ClientError('BAD_REPLY', data.failure)))
    })
    const report = (attempts: number): void => {
      try {
        onProgress(attempts)
      } catch (error) {
        settle(() => reject(error))
      }
    }
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) return abort()
    const question: WorkerQuestion = { challenge, difficulty, maxAttempts }
    worker.postMessage(question)
  })
}
