// HPKE (RFC 9180) by its formulas, with noble's HKDF and Node's AES: a composition that is not ours.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { expand, extract } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { hex } from './vectors.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

/** RFC 9180, section 5.1, with noble's HKDF alone: the keys of a shared secret of X-Wing. */
export function composed(shared: Uint8Array, info: Uint8Array) {
  const suiteId = join(utf8('HPKE'), hex('647a00010002'))
  const labeledExtract = (salt: Uint8Array, label: string, ikm: Uint8Array) =>
    extract(sha256, join(utf8('HPKE-v1'), suiteId, utf8(label), ikm), salt)
  const labeledExpand = (prk: Uint8Array, label: string, context: Uint8Array, length: number) =>
    expand(
      sha256,
      prk,
      join(Uint8Array.of(0, length), utf8('HPKE-v1'), suiteId, utf8(label), context),
      length,
    )
  const none = new Uint8Array(0)
  const context = join(
    Uint8Array.of(0),
    labeledExtract(none, 'psk_id_hash', none),
    labeledExtract(none, 'info_hash', info),
  )
  const secret = labeledExtract(shared, 'secret', none)
  return {
    key: labeledExpand(secret, 'key', context, 32),
    nonce: labeledExpand(secret, 'base_nonce', context, 12),
    exported: (of: Uint8Array) =>
      new Uint8Array(labeledExpand(labeledExpand(secret, 'exp', context, 32), 'sec', of, 32)),
  }
}

type AesKeys = { key: Uint8Array; nonce: Uint8Array }

/** Ciphertext and tag of AES-256-GCM, by Node. */
export function sealAes({ key, nonce }: AesKeys, aad: Uint8Array, plaintext: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad)
  return join(cipher.update(plaintext), cipher.final(), cipher.getAuthTag())
}

/** The plaintext of AES-256-GCM, by Node. Throws if the tag is wrong. */
export function openAes({ key, nonce }: AesKeys, aad: Uint8Array, sealed: Uint8Array): Uint8Array {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(aad).setAuthTag(sealed.subarray(-16))
  return join(cipher.update(sealed.subarray(0, -16)), cipher.final())
}
