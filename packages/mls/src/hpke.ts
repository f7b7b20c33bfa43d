// HPKE (RFC 9180), base mode, with X-Wing, HKDF-SHA256 and AES-256-GCM. An instance serves one message.

import { expand, extract } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { Bytes } from '@sotto/crypto'
import { concatBytes, encodeNumber } from './bytes.ts'

/** Length of a key and of a nonce of AES-256-GCM in bytes. */
export const AEAD_KEY_BYTES = 32
export const AEAD_NONCE_BYTES = 12

/** X-Wing (draft-connolly-cfrg-xwing-kem-09), HKDF-SHA256 and AES-256-GCM (RFC 9180, section 7). */
const SUITE_ID = concatBytes(
  utf8('HPKE'),
  encodeNumber(0x647a, 2),
  encodeNumber(0x0001, 2),
  encodeNumber(0x0002, 2),
)
const VERSION = utf8('HPKE-v1')
const BASE_MODE = encodeNumber(0, 1)
const EMPTY = new Uint8Array(0)

/** The keys of one HPKE context (RFC 9180, section 5.1). */
export interface HpkeKeys {
  key: Bytes
  nonce: Bytes
  exporterSecret: Bytes
}

/** HKDF-SHA256's first half (RFC 5869, section 2.2). */
export function hkdfExtract(salt: Uint8Array, secret: Uint8Array): Bytes {
  return new Uint8Array(extract(sha256, secret, salt))
}

/** HKDF-SHA256's second half (RFC 5869, section 2.3). */
export function hkdfExpand(key: Uint8Array, info: Uint8Array, length: number): Bytes {
  return new Uint8Array(expand(sha256, key, info, length))
}

/** `KeySchedule` of the base mode (RFC 9180, section 5.1). */
export function hpkeKeys(sharedSecret: Uint8Array, info: Uint8Array): HpkeKeys {
  const context = concatBytes(
    BASE_MODE,
    labeledExtract(EMPTY, 'psk_id_hash', EMPTY),
    labeledExtract(EMPTY, 'info_hash', info),
  )
  const secret = labeledExtract(sharedSecret, 'secret', EMPTY)
  return {
    key: labeledExpand(secret, 'key', context, AEAD_KEY_BYTES),
    nonce: labeledExpand(secret, 'base_nonce', context, AEAD_NONCE_BYTES),
    exporterSecret: labeledExpand(secret, 'exp', context, 32),
  }
}

/** `Context.Export` (RFC 9180, section 5.3). */
export function hpkeExport({ exporterSecret }: HpkeKeys, context: Uint8Array, length: number): Bytes {
  return labeledExpand(exporterSecret, 'sec', context, length)
}

function labeledExtract(salt: Uint8Array, label: string, secret: Uint8Array): Bytes {
  return hkdfExtract(salt, concatBytes(VERSION, SUITE_ID, utf8(label), secret))
}

function labeledExpand(key: Uint8Array, label: string, info: Uint8Array, length: number): Bytes {
  const labeled = concatBytes(encodeNumber(length, 2), VERSION, SUITE_ID, utf8(label), info)
  return hkdfExpand(key, labeled, length)
}

function utf8(text: string): Bytes {
  return new TextEncoder().encode(text)
}
