// Loads cryptography that the runtime lacks: before a client is opened, and before the functions for phrases
// run.
import {
  generateMnemonic as generate,
  loadPrimitives,
  type RandomBytes,
  validateMnemonic as validate,
} from '@sotto/crypto'
import { asClientError } from '../client-error.ts'

/**
 * Loads cryptography that this runtime lacks and that is in a separate script. It is loaded first, so that
 * nothing received later can fail because the script could not be loaded.
 * @throws ClientError `UNSUPPORTED`
 */
export async function loadCryptography(): Promise<void> {
  try {
    await loadPrimitives()
  } catch (cause) {
    throw asClientError(cause, 'UNSUPPORTED')
  }
}

/**
 * Makes a new recovery phrase (BIP-39) from 128 bits of `randomBytes`: 12 lower-case English words, with one
 * space between them. It returns a promise because the browser computes the checksum.
 * @throws ClientError `UNSUPPORTED` if the browser lacks cryptography that could not be loaded.
 */
export async function generateMnemonic(randomBytes: RandomBytes): Promise<string> {
  await loadCryptography()
  return generate(randomBytes)
}

/**
 * Whether `phrase` is 12 words of the English BIP-39 list with the right checksum. Spacing and capitals do
 * not matter. It returns a promise because the browser computes the checksum: `if (validateMnemonic(phrase))`
 * without `await` is always true.
 * @throws ClientError `UNSUPPORTED` if the browser lacks cryptography that could not be loaded.
 */
export async function validateMnemonic(phrase: string): Promise<boolean> {
  await loadCryptography()
  return validate(phrase)
}
