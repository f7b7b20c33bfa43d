// Encrypts a push message for one browser, so that its push service cannot read it: RFC 8291, that is the
// aes128gcm encoding of RFC 8188 with a key that relay and browser derive.
import { createCipheriv, hkdfSync } from 'node:crypto'
import { publicKeyOf, sharedSecret } from './p256.ts'

/** The keys a browser sent when it subscribed. */
export interface BrowserKeys {
  /** The browser's public key on P-256: 65 bytes. */
  readonly p256dh: Uint8Array
  /** A secret that the browser gives only to senders it subscribed with: 16 bytes. */
  readonly auth: Uint8Array
}

/** Random values. Every message needs new ones. */
export interface FreshKeys {
  /** A private key on P-256: 32 bytes. */
  readonly privateKey: Uint8Array
  /** 16 bytes. */
  readonly salt: Uint8Array
}

/** The record size of RFC 8188. Every message of the relay fits into one record. */
const RECORD_BYTES = 4096
const TAG_BYTES = 16
/** The delimiter that ends the last record (RFC 8188, 2). */
const END = 2

/**
 * @returns the body to send, with `Content-Encoding: aes128gcm`
 * @throws if `p256dh` is not a point on the curve, or the text does not fit into one record
 */
export function encryptPush(text: string, to: BrowserKeys, fresh: FreshKeys): Uint8Array<ArrayBuffer> {
  const record = Buffer.concat([Buffer.from(text), Buffer.of(END)])
  if (record.length + TAG_BYTES > RECORD_BYTES) throw new Error('a push message is too long')
  const publicKey = publicKeyOf(fresh.privateKey)
  const { key, nonce } = deriveKeys(to, fresh, publicKey)

  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(record), cipher.final(), cipher.getAuthTag()])
  const header = Buffer.alloc(5)
  header.writeUInt32BE(RECORD_BYTES)
  header.writeUInt8(publicKey.length, 4)
  return Buffer.concat([fresh.salt, header, publicKey, sealed])
}

// RFC 8291, 3.3 and 3.4.
function deriveKeys(to: BrowserKeys, fresh: FreshKeys, publicKey: Uint8Array) {
  const secret = sharedSecret(fresh.privateKey, to.p256dh)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), to.p256dh, publicKey])
  const material = hkdf(secret, to.auth, info, 32)
  return {
    key: hkdf(material, fresh.salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16),
    nonce: hkdf(material, fresh.salt, Buffer.from('Content-Encoding: nonce\0'), 12),
  }
}

function hkdf(material: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', material, salt, info, bytes))
}
