// Cryptography the runtime lacks, loaded before a client does anything.
import { loadPrimitives } from '@sotto/crypto'
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
