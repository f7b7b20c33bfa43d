// The proof of work before a registration, done in slices on the calling thread.
import { solveProofOfWork } from '@sotto/crypto'
import { type Clock, delay, type ProofOfWorkSolver } from '../platform/platform.ts'

/**
 * A solver that works on the calling thread in slices: of ten milliseconds with noble, of seventy with
 * WebCrypto.
 */
export function solveInSlices(clock: Clock): ProofOfWorkSolver {
  return (work) => solveProofOfWork({ ...work, pause: () => delay(clock, 0) })
}
