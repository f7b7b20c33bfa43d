// The work before a registration: a string that gives the challenge a hash with leading zeros.
import { checkText, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { sha256, startSha256 } from './sha256.ts'

const HEX_DIGITS = 64
const DEFAULT_ATTEMPTS_PER_STEP = 4096
const ASCII_ZERO = 48
const ASCII_NINE = 57

/**
 * A challenge as the relay gave it, and how many zeros the hex SHA-256 of challenge and nonce must begin
 * with.
 */
export interface ProofOfWorkChallenge {
  readonly challenge: string
  /** Hex digits, 0 to 64. Each one more takes 16 times the attempts; 4 takes 65,536 on average. */
  readonly difficulty: number
}

/** How to search for the nonce. */
export interface SolveProofOfWorkInput extends ProofOfWorkChallenge {
  /** Told the number of attempts so far after each step. */
  readonly onProgress?: ((attempts: number) => void) | undefined
  /** After this many attempts the search throws `WORK_NOT_FOUND`. Without it the search has no end. */
  readonly maxAttempts?: number | undefined
  /**
   * Attempts between two calls of `onProgress`, and two pauses; 4,096 unless told, some milliseconds of work.
   */
  readonly attemptsPerStep?: number | undefined
}

/** How to search without holding up the event loop. */
export interface SolveProofOfWorkInStepsInput extends SolveProofOfWorkInput {
  /** Stops the search, which then throws `ABORTED`. */
  readonly signal?: AbortSignal | undefined
  /** Resolves once others have had their turn. A zero timeout unless told. */
  readonly pause?: (() => Promise<void>) | undefined
}

/**
 * The first decimal nonce, counting up from "0", that solves the challenge. Blocks until it is found: for
 * workers and command lines. Throws `INVALID_ARGUMENT`, `WORK_NOT_FOUND`.
 */
export function solveProofOfWork(input: SolveProofOfWorkInput): string {
  const steps = search(input)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    input.onProgress?.(step.value)
  }
}

/**
 * As `solveProofOfWork`, giving way to the event loop after every step, so that a page stays alive meanwhile.
 * Rejects with `INVALID_ARGUMENT`, `WORK_NOT_FOUND` or `ABORTED`.
 */
export async function solveProofOfWorkInSteps(input: SolveProofOfWorkInStepsInput): Promise<string> {
  const pause = input.pause ?? nextTurn
  const steps = search(input)
  for (;;) {
    if (input.signal?.aborted) throw new CryptoError('ABORTED', 'the proof of work was aborted')
    const step = steps.next()
    if (step.done) return step.value
    input.onProgress?.(step.value)
    await pause()
  }
}

/** What `verifyProofOfWork` looks at: the challenge, and the nonce a client sent, which may be any string. */
export interface VerifyProofOfWorkInput extends ProofOfWorkChallenge {
  readonly nonce: string
}

/**
 * Whether the hex SHA-256 of the UTF-8 of challenge and nonce begins with `difficulty` zeros. False for a
 * nonce that is not a string or is empty; throws `INVALID_ARGUMENT` only for the relay's own part, challenge
 * and difficulty.
 */
export function verifyProofOfWork({ challenge, nonce, difficulty }: VerifyProofOfWorkInput): boolean {
  checkChallenge(challenge, difficulty)
  if (typeof nonce !== 'string' || nonce === '') return false
  return beginsWithZeros(sha256(encodeUtf8(challenge + nonce)), difficulty)
}

/** Yields the attempts so far after each step and returns the nonce. */
function* search(input: SolveProofOfWorkInput): Generator<number, string> {
  const { challenge, difficulty, maxAttempts = Number.POSITIVE_INFINITY } = input
  const { attemptsPerStep = DEFAULT_ATTEMPTS_PER_STEP } = input
  checkChallenge(challenge, difficulty)
  if (!(maxAttempts >= 1) || !(attemptsPerStep >= 1)) {
    throw new CryptoError('INVALID_ARGUMENT', 'maxAttempts and attemptsPerStep must be 1 or more')
  }

  // The challenge is hashed once, and only what follows for each nonce; nonces are counted as ASCII digits in
  // place. Both are for speed: the search is the one place of this package where a phone's user waits.
  const hashWith = startSha256(encodeUtf8(challenge))
  let nonce = new Uint8Array([ASCII_ZERO])
  for (let attempts = 1; attempts <= maxAttempts; attempts += 1) {
    if (beginsWithZeros(hashWith(nonce), difficulty)) return String.fromCharCode(...nonce)
    if (attempts % attemptsPerStep === 0) yield attempts
    nonce = increment(nonce)
  }
  throw new CryptoError('WORK_NOT_FOUND', 'no proof of work within the attempts allowed')
}

function increment(digits: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  for (let at = digits.length - 1; at >= 0; at -= 1) {
    const digit = digits[at] ?? ASCII_ZERO
    if (digit < ASCII_NINE) {
      digits[at] = digit + 1
      return digits
    }
    digits[at] = ASCII_ZERO
  }
  const longer = new Uint8Array(digits.length + 1).fill(ASCII_ZERO)
  longer[0] = ASCII_ZERO + 1
  return longer
}

function beginsWithZeros(digest: Uint8Array, hexDigits: number): boolean {
  const wholeBytes = hexDigits >> 1
  for (let at = 0; at < wholeBytes; at += 1) if (digest[at] !== 0) return false
  return hexDigits % 2 === 0 || (digest[wholeBytes] ?? 0) < 16
}

function checkChallenge(challenge: string, difficulty: number): void {
  checkText(challenge, 'challenge')
  if (!Number.isInteger(difficulty) || difficulty < 0 || difficulty > HEX_DIGITS) {
    throw new CryptoError('INVALID_ARGUMENT', 'difficulty must be a whole number from 0 to 64')
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
