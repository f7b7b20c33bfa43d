// The worker for the proof of work: gets a challenge, sends its progress and the nonce. A separate script.
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
