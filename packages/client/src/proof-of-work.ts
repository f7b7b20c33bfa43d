// The work before a registration: what it is, who may do it, and doing it in slices on the thread that asks.
import { solveProofOfWork } from '@sotto/crypto'
import { delay } from './clock.ts'
import type { Clock } from './options.ts'

/** Work to be done: a string `nonce` such that the hex SHA-256 of `challenge + nonce` begins with `difficulty` zeros. */
export interface ProofOfWork {
  readonly challenge: string
  readonly difficulty: number
  /** After this many attempts the search is given up with an error; the relay is asked for another challenge. */
  readonly maxAttempts: number
  /** To be told now and then how many attempts were made so far. */
  readonly onProgress: (attempts: number) => void
  /** Ends the search with an error. */
  readonly signal: AbortSignal | undefined
}

/** Does a proof of work; resolves with the nonce. */
export type ProofOfWorkSolver = (work: ProofOfWork) => Promise<string>

/** A solver that works on its own thread, ten milliseconds at a time by noble, seventy by WebCrypto. */
export function solveInSlices(clock: Clock): ProofOfWorkSolver {
  return (work) => solveProofOfWork({ ...work, pause: () => delay(clock, 0) })
}
