// The work before a registration: a string that gives the challenge a hash with leading zeros.
import { encodeUtf8 } from './bytes.ts'
import {
  beginsWithZeros,
  checkChallenge,
  type ProofOfWorkChallenge,
  type SolveProofOfWorkInput,
  searchNonce,
} from './nonce-search.ts'
import { primitives } from './primitives.ts'

/**
 * The first decimal nonce, counting up from "0", that solves the challenge. Gives way to the event loop after every step,
 * so that a page stays alive meanwhile. By WebCrypto, which hashes off this thread, it takes several times as long as by
 * noble: a worker can have that (`@sotto/crypto/noble-proof-of-work`). Rejects with `INVALID_ARGUMENT`, `WORK_NOT_FOUND`,
 * `ABORTED` or `UNAVAILABLE`.
 */
export async function solveProofOfWork(input: SolveProofOfWorkInput): Promise<string> {
  const { findNonce } = await primitives()
  return searchNonce(findNonce, input)
}

/** What `verifyProofOfWork` looks at: the challenge, and the nonce a client sent, which may be any string. */
export interface VerifyProofOfWorkInput extends ProofOfWorkChallenge {
  readonly nonce: string
}

/**
 * Whether the hex SHA-256 of the UTF-8 of challenge and nonce begins with `difficulty` zeros. False for a
 * nonce that is not a string or is empty; rejects with `INVALID_ARGUMENT` only for the relay's own part, challenge
 * and difficulty.
 */
export async function verifyProofOfWork(input: VerifyProofOfWorkInput): Promise<boolean> {
  checkChallenge(input)
  const { challenge, nonce, difficulty } = input
  if (typeof nonce !== 'string' || nonce === '') return false
  const { sha256 } = await primitives()
  return beginsWithZeros(await sha256(encodeUtf8(challenge + nonce)), difficulty)
}
