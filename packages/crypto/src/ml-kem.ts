// ML-KEM-768 (FIPS 203): by WebCrypto where it has it, otherwise by noble, from a separate script.
import { decodeBase64Url } from './base64.ts'
import { type Bytes, concatBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import {
  checkMlKemLength,
  ML_KEM_CIPHERTEXT_BYTES,
  ML_KEM_PUBLIC_KEY_BYTES,
  ML_KEM_SEED_BYTES,
  type MlKem768,
} from './ml-kem-interface.ts'

export type { MlKem768 }

/** What WebCrypto adds for ML-KEM (https://wicg.github.io/webcrypto-modern-algos/), not yet in the types. */
interface SubtleMlKem {
  importKey(
    format: 'raw-seed' | 'raw-public',
    key: Bytes,
    algorithm: typeof ALGORITHM,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<CryptoKey>
  encapsulateBits(
    algorithm: typeof ALGORITHM,
    key: CryptoKey,
  ): Promise<{ sharedKey: ArrayBuffer; ciphertext: ArrayBuffer }>
  decapsulateBits(algorithm: typeof ALGORITHM, key: CryptoKey, ciphertext: Bytes): Promise<ArrayBuffer>
}

const ALGORITHM = 'ML-KEM-768'

let loading: Promise<MlKem768> | undefined

/** ML-KEM-768 of this runtime. Rejects with `UNAVAILABLE`; the next call tries again. */
export function mlKem768(): Promise<MlKem768> {
  loading ??= chooseMlKem(globalThis.crypto?.subtle).catch(() => {
    loading = undefined
    throw new CryptoError('UNAVAILABLE', 'ML-KEM, which this runtime lacks, could not be loaded')
  })
  return loading
}

/** WebCrypto's ML-KEM if `subtle` has it and it agrees with itself, otherwise noble's. */
export async function chooseMlKem(subtle: SubtleCrypto | undefined): Promise<MlKem768> {
  const web = subtle && webMlKem(subtle)
  if (web && (await works(web))) return web
  const { nobleMlKem } = await import('./noble-ml-kem.ts')
  return nobleMlKem
}

function webMlKem(subtle: SubtleCrypto): MlKem768 | undefined {
  if (!hasMlKem(subtle)) return undefined
  const importSeed = (seed: Uint8Array, extractable: boolean): Promise<CryptoKey> => {
    checkMlKemLength(seed, 'the seed', ML_KEM_SEED_BYTES)
    return subtle.importKey('raw-seed', concatBytes(seed), ALGORITHM, extractable, ['decapsulateBits'])
  }
  return {
    implementation: 'web',
    async publicKey(seed) {
      // The JSON form of the private key has the public one, too, as with Ed25519.
      const key: JsonWebKey & { pub?: string } = await subtle.exportKey('jwk', await importSeed(seed, true))
      return decodeBase64Url(key.pub ?? '')
    },
    async encapsulate(publicKey) {
      checkMlKemLength(publicKey, 'the public key', ML_KEM_PUBLIC_KEY_BYTES)
      const key = await importPublicKey(subtle, publicKey)
      const { sharedKey, ciphertext } = await subtle.encapsulateBits(ALGORITHM, key)
      return { sharedSecret: new Uint8Array(sharedKey), ciphertext: new Uint8Array(ciphertext) }
    },
    async decapsulate(seed, ciphertext) {
      checkMlKemLength(ciphertext, 'the ciphertext', ML_KEM_CIPHERTEXT_BYTES)
      const key = await importSeed(seed, false)
      return new Uint8Array(await subtle.decapsulateBits(ALGORITHM, key, concatBytes(ciphertext)))
    },
  }
}

async function importPublicKey(subtle: SubtleMlKem, publicKey: Uint8Array): Promise<CryptoKey> {
  try {
    return await subtle.importKey('raw-public', concatBytes(publicKey), ALGORITHM, false, ['encapsulateBits'])
  } catch (error) {
    // The only refusal that is the key's fault. Everything else is the platform's.
    if (error instanceof DOMException && error.name === 'DataError')
      throw new CryptoError('INVALID_KEY', 'the public key is not one of ML-KEM-768')
    throw error
  }
}

function hasMlKem(subtle: object): subtle is SubtleMlKem {
  return 'encapsulateBits' in subtle && 'decapsulateBits' in subtle
}

async function works(web: MlKem768): Promise<boolean> {
  const seed = new Uint8Array(ML_KEM_SEED_BYTES)
  try {
    const { sharedSecret, ciphertext } = await web.encapsulate(await web.publicKey(seed))
    const opened = await web.decapsulate(seed, ciphertext)
    return opened.length === 32 && opened.every((byte, at) => byte === sharedSecret[at])
  } catch {
    return false
  }
}
