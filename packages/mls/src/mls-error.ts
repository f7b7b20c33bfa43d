// The only error class of this package, and how everything that can fail becomes one of its codes.
import { CryptoError } from '@sotto/crypto'

/**
 * The kind of failure. Callers decide by the code. The message is for developers and never contains key
 * material or plaintext.
 *
 * - `INVALID`: bytes that are not what they should be, were altered, are of another group or epoch, or whose
 *   key was used and erased. The same input fails again.
 * - `REFUSED`: `check` refused a leaf. Nothing has changed.
 * - `TOO_FAR`: a message whose number lies more than `MAX_FORWARD_STEPS` ahead of its sender's last one.
 * - `UNAVAILABLE`: this device could not compute, for example for want of memory or of cryptography. The
 *   input may be right: try again.
 * - `VERSION`: an encoded group of another version of this package, or of another cipher suite.
 */
export type MlsErrorCode = 'INVALID' | 'REFUSED' | 'TOO_FAR' | 'UNAVAILABLE' | 'VERSION'

/** The only error that this package throws. */
export class MlsError extends Error {
  override readonly name = 'MlsError'
  readonly code: MlsErrorCode

  constructor(code: MlsErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** An error of `INVALID`. */
export function invalid(message: string): MlsError {
  return new MlsError('INVALID', message)
}

/**
 * Runs `work` and makes every failure an `MlsError`. What the cryptography throws is classified where it is
 * called (suite.ts). The MLS library itself computes without platform: if it throws, then for the input's
 * sake, except for want of memory or stack.
 */
export async function asMlsError<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toMlsError(what, error)
  }
}

/** Like `asMlsError`, for synchronous work. */
export function asMlsErrorSync<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toMlsError(what, error)
  }
}

function toMlsError(what: string, error: unknown): MlsError {
  if (error instanceof MlsError) return error
  if (isPlatformFailure(error))
    return new MlsError('UNAVAILABLE', `${what}: this device could not compute it`)
  return invalid(`${what}: ${error instanceof Error ? error.message : 'unreadable'}`)
}

/** Whether an error is the device's: too little memory or stack, or cryptography that is missing. */
export function isPlatformFailure(error: unknown): boolean {
  if (error instanceof CryptoError) return error.code === 'UNAVAILABLE'
  if (error instanceof DOMException) return true
  // Out of memory, an allocation that failed, and too deep a stack. A DataView out of bounds is a RangeError,
  // too, but the library catches those.
  if (error instanceof RangeError)
    return /memory|alloc|array (buffer )?(length|size)|stack/i.test(error.message)
  // Engines have errors of their own for too deep a recursion.
  return error instanceof Error && error.name === 'InternalError' && /recursion|memory/i.test(error.message)
}
