// The primitives with the browser's WebCrypto: https://w3c.github.io/webcrypto/
import { decodeBase64Url } from './base64.ts'
import { type Bytes, concatBytes } from './bytes.ts'
import { findInBatches } from './nonce-search.ts'
import type { AesGcmInput, Primitives } from './primitives-interface.ts'

/** PKCS #8 of a private key on these curves, without the 32 bytes of the key (RFC 8410, section 7). */
const PKCS8 = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0, 0x04, 0x22, 0x04, 0x20]
const OID_AT = 11
/** The last byte of the curve's object identifier (RFC 8410, section 3). */
const CURVES = { X25519: 0x6e, Ed25519: 0x70 }
/** The u-coordinate of X25519's base point (RFC 7748, section 4.1). */
const BASE_POINT = 9

/** The primitives of one WebCrypto implementation. */
export function webPrimitives(subtle: SubtleCrypto): Primitives {
  const importKey = (
    key: Uint8Array,
    algorithm: AlgorithmIdentifier | HmacImportParams,
    usages: KeyUsage[],
  ): Promise<CryptoKey> => subtle.importKey('raw', plain(key), algorithm, false, usages)

  // WebCrypto does not import raw private keys of these curves.
  const importPrivateKey = async (
    key: Uint8Array,
    curve: keyof typeof CURVES,
    usages: KeyUsage[],
    extractable = false,
  ): Promise<CryptoKey> => {
    const pkcs8 = concatBytes(Uint8Array.from(PKCS8), key)
    pkcs8[OID_AT] = CURVES[curve]
    try {
      return await subtle.importKey('pkcs8', pkcs8, curve, extractable, usages)
    } finally {
      pkcs8.fill(0)
    }
  }

  const x25519 = async (privateKey: Uint8Array, publicKey: Uint8Array): Promise<Bytes> => {
    const [mine, theirs] = await Promise.all([
      importPrivateKey(privateKey, 'X25519', ['deriveBits']),
      importKey(publicKey, 'X25519', []),
    ])
    return bytesOf(subtle.deriveBits({ name: 'X25519', public: theirs }, mine, 256))
  }

  const aesGcm = async (usage: 'encrypt' | 'decrypt', input: AesGcmInput): Promise<Bytes> => {
    const { key, nonce, data, additionalData = new Uint8Array(0) } = input
    const algorithm = { name: 'AES-GCM', iv: plain(nonce), additionalData: plain(additionalData) }
    return bytesOf(subtle[usage](algorithm, await importKey(key, 'AES-GCM', [usage]), plain(data)))
  }

  const deriveBits = async (
    algorithm: HkdfParams | Pbkdf2Params,
    secret: Uint8Array,
    length: number,
  ): Promise<Bytes> =>
    bytesOf(subtle.deriveBits(algorithm, await importKey(secret, algorithm.name, ['deriveBits']), length * 8))

  const sha256 = (bytes: Uint8Array): Promise<Bytes> => bytesOf(subtle.digest('SHA-256', plain(bytes)))

  return {
    implementation: 'web',
    sha256,
    async hmacSha512(key, message) {
      const imported = await importKey(key, { name: 'HMAC', hash: 'SHA-512' }, ['sign'])
      return bytesOf(subtle.sign('HMAC', imported, plain(message)))
    },
    pbkdf2Sha512: ({ password, salt, iterations }) =>
      deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: plain(salt), iterations }, password, 64),
    hkdfSha256: ({ secret, salt, info, length }) =>
      deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: plain(salt), info: plain(info) }, secret, length),
    encryptAesGcm: (input) => aesGcm('encrypt', input),
    decryptAesGcm: (input) => aesGcm('decrypt', input),
    async ed25519PublicKey(privateKey) {
      // The only way to the public key: the JSON form of the key has both halves (RFC 8037, section 2).
      const key = await importPrivateKey(privateKey, 'Ed25519', ['sign'], true)
      const { x = '' } = await subtle.exportKey('jwk', key)
      return decodeBase64Url(x)
    },
    async signEd25519(privateKey, message) {
      const key = await importPrivateKey(privateKey, 'Ed25519', ['sign'])
      return bytesOf(subtle.sign('Ed25519', key, plain(message)))
    },
    async verifyEd25519(publicKey, message, signature) {
      const key = await importKey(publicKey, 'Ed25519', ['verify'])
      return subtle.verify('Ed25519', key, plain(signature), plain(message))
    },
    x25519PublicKey: (privateKey) => x25519(privateKey, new Uint8Array(32).fill(BASE_POINT, 0, 1)),
    x25519SharedSecret: x25519,
    findNonce: findInBatches(sha256),
  }
}

async function bytesOf(buffer: Promise<ArrayBuffer>): Promise<Bytes> {
  return new Uint8Array(await buffer)
}

/** The bytes in a form that WebCrypto accepts: never in shared memory. */
function plain(bytes: Uint8Array): Bytes {
  const { buffer, byteOffset, byteLength } = bytes
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes)
}
