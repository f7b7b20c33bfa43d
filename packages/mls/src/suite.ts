// Our MLS cipher suite, as ts-mls asks for one: X-Wing, AES-256-GCM, HKDF-SHA256, SHA-256, Ed25519.

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, CryptoError } from '@sotto/crypto'
import { type MlKem768, mlKem768 } from '@sotto/crypto/ml-kem'
import { type Primitives, primitives } from '@sotto/crypto/primitives'
import type { CiphersuiteImpl, Hpke, PrivateKey, PublicKey } from 'ts-mls'
import { AEAD_KEY_BYTES, AEAD_NONCE_BYTES, hkdfExpand, hkdfExtract, hpkeExport, hpkeKeys } from './hpke.ts'
import { invalid, isPlatformFailure, MlsError } from './mls-error.ts'
import { derivePrivateKey, XWing } from './x-wing.ts'

/**
 * The number of the suite. It is in the range for private use (RFC 9420, section 17.1), because no standard
 * has this combination.
 */
export const SUITE_ID = 0xf053

const SIGNATURE_BYTES = 64
const KEY_BYTES = 32
const NOTHING = new Uint8Array(0)

let own: Promise<CiphersuiteImpl> | undefined

/** The suite over this runtime's cryptography. Rejects with `UNAVAILABLE`; the next call tries again. */
export function suite(): Promise<CiphersuiteImpl> {
  own ??= Promise.all([primitives(), mlKem768()])
    .then(([chosen, mlKem]) => makeSuite(chosen, mlKem))
    .catch((error: unknown) => {
      own = undefined
      throw isPlatformFailure(error) ? unavailable() : error
    })
  return own
}

/** The suite over given implementations. */
export function makeSuite(chosen: Primitives, mlKem: MlKem768): CiphersuiteImpl {
  return {
    id: SUITE_ID,
    kdf: {
      size: KEY_BYTES,
      extract: async (salt, secret) => hkdfExtract(salt, secret),
      expand: async (key, info, length) => hkdfExpand(key, info, length),
    },
    hash: {
      digest: async (data) => sha256(data),
      mac: async (key, data) => hmac(sha256, key, data),
      verifyMac: async (key, mac, data) => equalInConstantTime(mac, hmac(sha256, key, data)),
    },
    signature: {
      sign: (key, message) => compute(() => chosen.signEd25519(key, message)),
      verify: (key, message, signature) =>
        key.length === KEY_BYTES && signature.length === SIGNATURE_BYTES
          ? verify(chosen, key, message, signature)
          : Promise.resolve(false),
      async keygen() {
        const signKey = randomBytes(KEY_BYTES)
        return { signKey, publicKey: await compute(() => chosen.ed25519PublicKey(signKey)) }
      },
    },
    hpke: makeHpke(chosen, new XWing({ primitives: chosen, mlKem, randomBytes })),
    rng: { randomBytes },
  }
}

/** Random bytes of the platform. */
function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length))
}

function makeHpke(chosen: Primitives, kem: XWing): Hpke {
  const encrypt: Hpke['encryptAead'] = (key, nonce, additionalData = NOTHING, data) =>
    compute(() => chosen.encryptAesGcm({ key, nonce, data, additionalData }))
  const decrypt: Hpke['decryptAead'] = async (key, nonce, additionalData = NOTHING, data) => {
    try {
      return await chosen.decryptAesGcm({ key, nonce, data, additionalData })
    } catch (error) {
      // WebCrypto tells of a wrong tag by this error alone, noble by one without a class of its own.
      if (error instanceof DOMException && error.name === 'OperationError') throw invalid('the tag is wrong')
      throw isPlatformFailure(error) ? unavailable() : invalid('the tag is wrong')
    }
  }
  const receive = async (key: PrivateKey, ciphertext: Uint8Array, info: Uint8Array) =>
    hpkeKeys(await compute(() => kem.decapsulate(bytesOfKey(key), ciphertext)), info)
  const send = async (key: PublicKey, info: Uint8Array) => {
    const { secret, ciphertext } = await compute(() => kem.encapsulate(bytesOfKey(key)))
    return { keys: hpkeKeys(secret, info), enc: ciphertext }
  }
  const keyPair = async (privateKey: Bytes) => ({
    privateKey: privateKeyOf(privateKey),
    publicKey: publicKeyOf(await compute(() => kem.publicKey(privateKey))),
  })
  return {
    keyLength: AEAD_KEY_BYTES,
    nonceLength: AEAD_NONCE_BYTES,
    encryptAead: encrypt,
    decryptAead: decrypt,
    async seal(publicKey, plaintext, info, additionalData) {
      const { keys, enc } = await send(publicKey, info)
      return { enc, ct: await encrypt(keys.key, keys.nonce, additionalData, plaintext) }
    },
    async open(privateKey, enc, ciphertext, info, additionalData) {
      const keys = await receive(privateKey, enc, info)
      return decrypt(keys.key, keys.nonce, additionalData, ciphertext)
    },
    async exportSecret(publicKey, context, length, info) {
      const { keys, enc } = await send(publicKey, info)
      return { enc, secret: hpkeExport(keys, context, length) }
    },
    async importSecret(privateKey, context, enc, length, info) {
      return hpkeExport(await receive(privateKey, enc, info), context, length)
    },
    importPrivateKey: async (key) => privateKeyOf(new Uint8Array(key)),
    importPublicKey: async (key) => publicKeyOf(new Uint8Array(key)),
    exportPrivateKey: async (key) => bytesOfKey(key),
    exportPublicKey: async (key) => bytesOfKey(key),
    deriveKeyPair: async (material) => keyPair(derivePrivateKey(material)),
    generateKeyPair: async () => keyPair(randomBytes(KEY_BYTES)),
  }
}

// ts-mls passes keys around as WebCrypto's objects, and looks into none. Ours carry bytes.
const bytesOfKeys = new WeakMap<object, Bytes>()

function privateKeyOf(bytes: Bytes): PrivateKey {
  return withBytes({ type: 'private', algorithm: { name: 'X-Wing' }, extractable: true, usages: [] }, bytes)
}

function publicKeyOf(bytes: Bytes): PublicKey {
  return withBytes({ type: 'public', algorithm: { name: 'X-Wing' }, extractable: true, usages: [] }, bytes)
}

function withBytes<Key extends object>(key: Key, bytes: Bytes): Key {
  bytesOfKeys.set(key, bytes)
  return key
}

function bytesOfKey(key: object): Bytes {
  const bytes = bytesOfKeys.get(key)
  if (bytes === undefined) throw new MlsError('UNAVAILABLE', 'a key of another suite')
  return bytes
}

/** What the input causes is `INVALID`, everything else `UNAVAILABLE`. */
async function compute<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CryptoError && error.code !== 'UNAVAILABLE') throw invalid(error.message)
    throw unavailable()
  }
}

async function verify(
  chosen: Primitives,
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  try {
    return await chosen.verifyEd25519(key, message, signature)
  } catch (error) {
    // WebCrypto may reject a public key that is no point, with this error.
    if (error instanceof DOMException && error.name === 'DataError') return false
    throw isPlatformFailure(error) ? unavailable() : invalid('the signature could not be read')
  }
}

function unavailable(): MlsError {
  return new MlsError('UNAVAILABLE', 'this device could not compute the cryptography')
}

function equalInConstantTime(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0
}
