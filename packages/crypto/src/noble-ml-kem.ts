// ML-KEM-768 in JavaScript, for runtimes whose WebCrypto lacks it: https://paulmillr.com/noble/
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import { concatBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import {
  checkMlKemLength,
  ML_KEM_CIPHERTEXT_BYTES,
  ML_KEM_PUBLIC_KEY_BYTES,
  ML_KEM_SEED_BYTES,
  type MlKem768,
} from './ml-kem-interface.ts'

/** Noble's ML-KEM-768. */
export const nobleMlKem: MlKem768 = {
  implementation: 'noble',
  async publicKey(seed) {
    return concatBytes(keysOf(seed).publicKey)
  },
  async encapsulate(publicKey) {
    checkMlKemLength(publicKey, 'the public key', ML_KEM_PUBLIC_KEY_BYTES)
    if (!isPublicKey(publicKey))
      throw new CryptoError('INVALID_KEY', 'the public key is not one of ML-KEM-768')
    const { sharedSecret, cipherText } = ml_kem768.encapsulate(publicKey)
    return { sharedSecret: concatBytes(sharedSecret), ciphertext: concatBytes(cipherText) }
  },
  async decapsulate(seed, ciphertext) {
    checkMlKemLength(ciphertext, 'the ciphertext', ML_KEM_CIPHERTEXT_BYTES)
    const { secretKey } = keysOf(seed)
    try {
      return concatBytes(ml_kem768.decapsulate(ciphertext, secretKey))
    } finally {
      secretKey.fill(0)
    }
  },
}

function keysOf(seed: Uint8Array): { publicKey: Uint8Array; secretKey: Uint8Array } {
  checkMlKemLength(seed, 'the seed', ML_KEM_SEED_BYTES)
  return ml_kem768.keygen(seed)
}

/** The modulus check of FIPS 203, section 7.2: each of the 768 coefficients of 12 bits is below 3,329. */
function isPublicKey(publicKey: Uint8Array): boolean {
  for (let at = 0; at < 1152; at += 3) {
    const [low = 0, middle = 0, high = 0] = publicKey.subarray(at, at + 3)
    if ((low | ((middle & 15) << 8)) >= 3329 || ((middle >> 4) | (high << 4)) >= 3329) return false
  }
  return true
}
