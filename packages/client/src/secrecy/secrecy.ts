// Cryptography of a client: loading it, recovery phrases, and the encryption of messages.

export { generateMnemonic, loadCryptography, validateMnemonic } from './cryptography.ts'
export {
  canDecrypt,
  decryptPayload,
  encryptMessage,
  MESSAGE_CRYPTO_VERSION,
  nonceOf,
} from './message-secrecy.ts'
export type { Notice as SecrecyNotice } from './version-3/events.ts'
