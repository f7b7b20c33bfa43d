// The worker that does the proof of work: one challenge in, progress and a nonce out. Loaded as a module of its own.
import { solveProofOfWork } from '@sotto/crypto'
import type { WorkerAnswer, WorkerQuestion } from './pow-worker-messages.ts'

globalThis.addEventListener('message', ({ data }: MessageEvent<WorkerQuestion>) => {
  try {
    const nonce = solveProofOfWork({ ...data, onProgress: (attempts) => answer({ attempts }) })
    answer({ nonce })
  } catch (error) {
    answer({ failure: String(error) })
  }
})

function answer(message: WorkerAnswer): void {
  globalThis.postMessage(message)
}
