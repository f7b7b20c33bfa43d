// The proof of work before a registration: a nonce that gives the challenge a hash with leading zeros.
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
 * The first decimal nonce, counting up from "0", that solves the challenge. Yields to the event loop after
 * every step, so that a page stays responsive. With WebCrypto, which hashes off this thread, it takes several
 * times as long as with noble, which a worker can use (`@sotto/crypto/noble-proof-of-work`). Rejects with
 * `INVALID_ARGUMENT`, `WORK_NOT_FOUND`, `ABORTED` or `UNAVAILABLE`.
 */
export async function solveProofOfWork(input: SolveProofOfWorkInput): Promise<string> {
  const { findNonce } = await primitives()
  return searchNonce(findNonce, input)
}

/** The arguments of `verifyProofOfWork`: the challenge, and the client's nonce, which may be any string. */
export interface VerifyProofOfWorkInput extends ProofOfWorkChallenge {
  readonly nonce: string
}

/**
 * Whether the hex SHA-256 of the UTF-8 of challenge and nonce begins with `difficulty` zeros. False for a
 * nonce that is empty or not a string. Rejects with `INVALID_ARGUMENT` only for an invalid challenge or
 * difficulty, which come from the relay itself.
 */
export async function verifyProofOfWork(input: VerifyProofOfWorkInput): Promise<boolean> {
  checkChallenge(input)
  const { challenge, nonce, difficulty } = input
  if (typeof nonce !== 'string' || nonce === '') return false
  const { sha256 } = await primitives()
  return beginsWithZeros(await sha256(encodeUtf8(challenge + nonce)), difficulty)
}
