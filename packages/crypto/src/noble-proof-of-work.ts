// The proof of work with noble on every runtime. A separate entry, for workers.
import { findNonce } from './noble-nonce.ts'
import { type SolveProofOfWorkInput, searchNonce } from './nonce-search.ts'

/** Like `solveProofOfWork`, but by default without pauses: for workers. */
export function solveProofOfWorkByNoble(input: SolveProofOfWorkInput): Promise<string> {
  return searchNonce(findNonce, { pause: () => Promise.resolve(), ...input })
}
