// Cryptography the runtime lacks, loaded before a client does anything, or somebody who has no client yet asks about phrases.
import {
  generateMnemonic as generate,
  loadPrimitives,
  type RandomBytes,
  validateMnemonic as validate,
} from '@sotto/crypto'
import { ClientError } from './client-error.ts'

/**
 * Loads what this runtime lacks of cryptography, where that is a script of its own: nothing that is received later may fail
 * for a script that did not come.
 * @throws ClientError `UNSUPPORTED`
 */
export async function loadCryptography(): Promise<void> {
  try {
    await loadPrimitives()
  } catch (cause) {
    throw new ClientError('UNSUPPORTED', 'the cryptography this browser lacks could not be loaded', { cause })
  }
}

/**
 * A new recovery phrase: 12 lower-case English words, one space between (BIP-39), of 128 bits from `randomBytes`. A
 * promise, as its checksum is hashed by the browser.
 * @throws ClientError `UNSUPPORTED` where the cryptography that this browser lacks could not be loaded.
 */
export async function generateMnemonic(randomBytes: RandomBytes): Promise<string> {
  await loadCryptography()
  return generate(randomBytes)
}

/**
 * Whether `phrase`, however it is spaced and capitalised, is 12 words of the English BIP-39 list with the right checksum. A
 * promise, as the checksum is hashed by the browser: `if (validateMnemonic(phrase))` without `await` is always true.
 * @throws ClientError `UNSUPPORTED` where the cryptography that this browser lacks could not be loaded.
 */
export async function validateMnemonic(phrase: string): Promise<boolean> {
  await loadCryptography()
  return validate(phrase)
}
