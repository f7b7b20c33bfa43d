// The proof of work off the thread that draws the page: in a worker, or in slices where no worker starts.
import { ClientError } from './client-error.ts'
import { systemClock } from './options.ts'
import type { WorkerAnswer, WorkerQuestion } from './pow-worker-messages.ts'
import { type ProofOfWork, type ProofOfWorkSolver, solveInSlices } from './proof-of-work.ts'

/** A worker that has not said a word for this long never will: its script may have been a page saying "not found". */
const START_TIMEOUT_MS = 5000

/**
 * Does a proof of work in a worker: pass it to `SottoClient.open` as `solveProofOfWork`. Where the worker does not start (a
 * bundler that left its script out, a content security policy without `worker-src`), the work is done in slices on the
 * calling thread, so that registering always works.
 */
export const solveInWorker: ProofOfWorkSolver = /* @__PURE__ */ solverIn(
  () => new Worker(new URL('./pow-worker.js', import.meta.url), { type: 'module' }),
)

/**
 * The same with a worker of the caller's making, for bundlers that do not find the script by themselves:
 * `solverIn(() => new Worker('/assets/pow-worker.js', { type: 'module' }))` with `@sotto/client/pow-worker` as its source.
 */
export function solverIn(startWorker: () => Worker): ProofOfWorkSolver {
  const inSlices = solveInSlices(systemClock)
  return async (work) => (await solveWith(startWorker, work)) ?? inSlices(work)
}

/** The nonce, or undefined where the worker did not start. */
function solveWith(startWorker: () => Worker, work: ProofOfWork): Promise<string | undefined> {
  const { challenge, difficulty, maxAttempts, onProgress, signal } = work
  let worker: Worker
  try {
    worker = startWorker()
  } catch {
    return Promise.resolve(undefined)
  }
  return new Promise<string | undefined>((resolve, reject) => {
    const abort = (): void => settle(() => reject(new ClientError('ABORTED', 'the proof of work was ended')))
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
      if ('attempts' in data) tell(data.attempts)
      else if ('nonce' in data) settle(() => resolve(data.nonce))
      else settle(() => reject(new ClientError('BAD_REPLY', data.failure)))
    })
    const tell = (attempts: number): void => {
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
