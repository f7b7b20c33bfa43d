// The worker that does the proof of work: one challenge in, progress and a nonce out. Loaded as a module of its own.
import { solveProofOfWorkByNoble } from '@sotto/crypto/noble-proof-of-work'
import type { WorkerAnswer, WorkerQuestion } from './pow-worker-messages.ts'

globalThis.addEventListener('message', ({ data }: MessageEvent<WorkerQuestion>) => {
  solveProofOfWorkByNoble({ ...data, onProgress: (attempts) => answer({ attempts }) }).then(
    (nonce) => answer({ nonce }),
    (error: unknown) => answer({ failure: String(error) }),
  )
})

function answer(message: WorkerAnswer): void {
  globalThis.postMessage(message)
}
