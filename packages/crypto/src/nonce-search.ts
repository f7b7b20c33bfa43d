// The search for a nonce, for every hash implementation: what solves a challenge, and counting attempts in
// steps.
import { type Bytes, checkText, concatBytes, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

const HEX_DIGITS = 64
const DEFAULT_ATTEMPTS_PER_STEP = 4096
/** Digests requested from WebCrypto at a time. More are not faster, and all of them are in memory at once. */
const BATCH = 512

/**
 * The relay's challenge, and the number of zeros that the hex SHA-256 of challenge and nonce must begin with.
 */
export interface ProofOfWorkChallenge {
  readonly challenge: string
  /** Hex digits, 0 to 64. Each additional one takes 16 times the attempts; 4 takes 65,536 on average. */
  readonly difficulty: number
}

/** Which nonces to try. */
export interface FindNonceInput {
  /** In UTF-8. The hash is over this and the nonce in decimal digits. */
  readonly challenge: Bytes
  readonly isSolution: (digest: Uint8Array) => boolean
  readonly from: number
  readonly count: number
}

/** The first solution among the `count` nonces from `from` on, or undefined if there is none. */
export type FindNonce = (input: FindNonceInput) => number | undefined | Promise<number | undefined>

/** How to search for the nonce. */
export interface SolveProofOfWorkInput extends ProofOfWorkChallenge {
  /** Called with the number of attempts so far after each step. */
  readonly onProgress?: ((attempts: number) => void) | undefined
  /** After this many attempts the search fails with `WORK_NOT_FOUND`. By default there is no limit. */
  readonly maxAttempts?: number | undefined
  /**
   * Attempts between two calls of `onProgress` and two pauses. The default is 4,096: ten milliseconds of work
   * with noble, seventy with WebCrypto.
   */
  readonly attemptsPerStep?: number | undefined
  /** Stops the search between two steps. It then fails with `ABORTED`. */
  readonly signal?: AbortSignal | undefined
  /** Pauses so that other tasks can run. The default is a zero time-out. */
  readonly pause?: (() => Promise<void>) | undefined
}

/**
 * The first nonce, counting up from 0, that solves the challenge. Rejects with what `solveProofOfWork`
 * rejects with.
 */
export async function searchNonce(find: FindNonce, input: SolveProofOfWorkInput): Promise<string> {
  const { signal, onProgress, pause = nextTurn } = input
  const maxAttempts = Math.floor(input.maxAttempts ?? Number.POSITIVE_INFINITY)
  const attemptsPerStep = Math.floor(input.attemptsPerStep ?? DEFAULT_ATTEMPTS_PER_STEP)
  checkChallenge(input)
  if (!(maxAttempts >= 1) || !(attemptsPerStep >= 1)) {
    throw new CryptoError('INVALID_ARGUMENT', 'maxAttempts and attemptsPerStep must be 1 or more')
  }
  const challenge = encodeUtf8(input.challenge)
  const isSolution = (digest: Uint8Array): boolean => beginsWithZeros(digest, input.difficulty)
  for (let attempts = 0; attempts < maxAttempts; ) {
    if (signal?.aborted) throw new CryptoError('ABORTED', 'the proof of work was aborted')
    const count = Math.min(attemptsPerStep, maxAttempts - attempts)
    const nonce = await find({ challenge, isSolution, from: attempts, count })
    if (nonce !== undefined) return String(nonce)
    attempts += count
    if (count < attemptsPerStep) break
    onProgress?.(attempts)
    await pause()
  }
  throw new CryptoError('WORK_NOT_FOUND', 'no proof of work within the allowed attempts')
}

/** Searches with an asynchronous hash, many digests at once. */
export function findInBatches(sha256: (bytes: Uint8Array) => Promise<Uint8Array>): FindNonce {
  return async ({ challenge, isSolution, from, count }) => {
    for (let at = 0; at < count; at += BATCH) {
      const length = Math.min(BATCH, count - at)
      const digests = await Promise.all(
        Array.from({ length }, (_, index) =>
          sha256(concatBytes(challenge, encodeUtf8(String(from + at + index)))),
        ),
      )
      const found = digests.findIndex(isSolution)
      if (found >= 0) return from + at + found
    }
    return undefined
  }
}

/** Whether the hex form of `digest` begins with the required zeros. */
export function beginsWithZeros(digest: Uint8Array, hexDigits: number): boolean {
  const wholeBytes = hexDigits >> 1
  for (let at = 0; at < wholeBytes; at += 1) if (digest[at] !== 0) return false
  return hexDigits % 2 === 0 || (digest[wholeBytes] ?? 0) < 16
}

/** Throws `INVALID_ARGUMENT` for a challenge that no relay issues. */
export function checkChallenge({ challenge, difficulty }: ProofOfWorkChallenge): void {
  checkText(challenge, 'challenge')
  if (!Number.isInteger(difficulty) || difficulty < 0 || difficulty > HEX_DIGITS) {
    throw new CryptoError('INVALID_ARGUMENT', 'difficulty must be a whole number from 0 to 64')
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
