// The proof of work by noble, whatever else this runtime has. An entry of its own, for workers.
import { findNonce } from './noble-nonce.ts'
import { type SolveProofOfWorkInput, searchNonce } from './nonce-search.ts'

/** As `solveProofOfWork`, without giving way in between unless told: for workers. */
export function solveProofOfWorkByNoble(input: SolveProofOfWorkInput): Promise<string> {
  return searchNonce(findNonce, { pause: () => Promise.resolve(), ...input })
}
