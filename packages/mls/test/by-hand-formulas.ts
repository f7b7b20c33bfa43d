// The formulas of MLS (RFC 9420) that a passive reader needs, from the RFC, with Node's SHA-256, AES and
// Ed25519 and noble's X-Wing: nothing of the MLS library, and nothing of `packages/mls`.
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { shake256 } from '@noble/hashes/sha3.js'
import { ml_kem768_x25519 } from '../../crypto/test/noble-hybrid.ts'
import { composed, openAes } from './compose-hpke.ts'

export const EMPTY = new Uint8Array(0)
export const utf8 = (text: string) => new TextEncoder().encode(text)
export const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))
export const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** Throws if something is not as it must be. */
export function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`by hand: ${what}`)
}

/** A big-endian number. */
export function number(value: number, length: 1 | 2 | 4 | 8): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return new Uint8Array(bytes.subarray(8 - length))
}

/** A vector with its length in front (section 2.1.2), for fewer than 2^14 bytes. */
export function vector(bytes: Uint8Array): Uint8Array {
  return join(bytes.length < 64 ? number(bytes.length, 1) : number(0x4000 | bytes.length, 2), bytes)
}

/** Reads what `number` and `vector` write. */
export class Reader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length
  }

  take(length: number): Uint8Array {
    must(this.at + length <= this.bytes.length, 'the bytes end too early')
    this.at += length
    return this.bytes.slice(this.at - length, this.at)
  }

  number(length: 1 | 2 | 4 | 8): number {
    return this.take(length).reduce((value, byte) => value * 256 + byte, 0)
  }

  vector(): Uint8Array {
    const first = this.number(1)
    must(first < 0x80, 'a vector of 2^14 bytes or more')
    return this.take(first < 0x40 ? first : (first & 0x3f) * 256 + this.number(1))
  }

  /** The bytes since a place. */
  since(start: number): Uint8Array {
    return this.bytes.slice(start, this.at)
  }
}

export const hash = (...parts: Uint8Array[]) =>
  new Uint8Array(
    createHash('sha256')
      .update(join(...parts))
      .digest(),
  )
export const mac = (key: Uint8Array, data: Uint8Array) =>
  new Uint8Array(createHmac('sha256', key).update(data).digest())

/** HKDF-Extract (RFC 5869, section 2.2). */
export const extract = (salt: Uint8Array, secret: Uint8Array) => mac(salt, secret)

/** `ExpandWithLabel` (section 8), for up to 32 bytes: one round of HKDF-Expand (RFC 5869, section 2.3). */
export function expandWithLabel(secret: Uint8Array, label: string, context: Uint8Array, length = 32) {
  const info = join(number(length, 2), vector(utf8(`MLS 1.0 ${label}`)), vector(context))
  return mac(secret, join(info, number(1, 1))).slice(0, length)
}

/** `DeriveSecret` (section 8). */
export const deriveSecret = (secret: Uint8Array, label: string) => expandWithLabel(secret, label, EMPTY)

/** `VerifyWithLabel` (section 5.1.2). */
export function verifyWithLabel(key: Uint8Array, label: string, content: Uint8Array, signature: Uint8Array) {
  const x = Buffer.from(key).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = join(vector(utf8(`MLS 1.0 ${label}`)), vector(content))
  must(verify(null, signed, publicKey, signature), `the signature of ${label} is wrong`)
}

/** `DecryptWithLabel` (section 5.1.3). */
export function decryptWithLabel(
  seed: Uint8Array,
  label: string,
  context: Uint8Array,
  { kemOutput, ciphertext }: { kemOutput: Uint8Array; ciphertext: Uint8Array },
): Uint8Array {
  const info = join(vector(utf8(`MLS 1.0 ${label}`)), vector(context))
  return openAes(composed(ml_kem768_x25519.decapsulate(kemOutput, seed), info), EMPTY, ciphertext)
}

/** `HPKECiphertext` (section 7.6). */
export function readCiphertext(reader: Reader) {
  return { kemOutput: reader.vector(), ciphertext: reader.vector() }
}

/** The seed of X-Wing's `DeriveKeyPair` (draft-connolly-cfrg-xwing-kem, section 5.6). */
export const seedOf = (material: Uint8Array) => new Uint8Array(shake256(material, { dkLen: 32 }))
export const publicKeyOf = (seed: Uint8Array) => new Uint8Array(ml_kem768_x25519.getPublicKey(seed))

/** A `LeafNode` (section 7.2), with its bytes and those that its signature covers. */
export interface HandLeaf {
  readonly bytes: Uint8Array
  readonly encryptionKey: Uint8Array
  readonly signatureKey: Uint8Array
  readonly identity: Uint8Array
  /** Only of a leaf that a commit brought. */
  readonly parentHash: Uint8Array | undefined
}

/** Reads a leaf and verifies its signature (section 7.2). `groupId` and `index`: where it is. */
export function readLeaf(reader: Reader, groupId: Uint8Array, index: number): HandLeaf {
  const start = reader.at
  const [encryptionKey, signatureKey] = [reader.vector(), reader.vector()]
  must(reader.number(2) === 1, 'the credential is not a basic one')
  const identity = reader.vector()
  const capabilities = Array.from({ length: 5 }, () => Buffer.from(reader.vector()).toString('hex'))
  must(capabilities.join() === '0001,f053,f053,,0001', 'the capabilities are not those of the profile')
  const source = reader.number(1)
  must(source === 1 || source === 3, 'the leaf is neither of a key package nor of a commit')
  const parentHash = source === 3 ? reader.vector() : undefined
  if (source === 1) must(isSame(reader.take(16), join(number(0, 8), number(2 ** 48 - 1, 8))), 'the lifetime')
  must(reader.vector().length === 0, 'the leaf has extensions')
  const signed = reader.since(start)
  const place = source === 3 ? join(vector(groupId), number(index, 4)) : EMPTY
  verifyWithLabel(signatureKey, 'LeafNodeTBS', join(signed, place), reader.vector())
  return { bytes: reader.since(start), encryptionKey, signatureKey, identity, parentHash }
}

/** A tree of two leaves. `rootKey` is undefined if the root is blank. */
export interface HandTree {
  readonly leaves: readonly [HandLeaf, HandLeaf]
  readonly rootKey: Uint8Array | undefined
}

/** Reads a `ratchet_tree` extension (section 12.4.3.3) of two leaves. */
export function readTree(extension: Uint8Array, groupId: Uint8Array): HandTree {
  const reader = new Reader(new Reader(extension).vector())
  const leaf = (index: number) => {
    must(reader.number(1) === 1 && reader.number(1) === 1, 'a leaf is missing')
    return readLeaf(reader, groupId, index)
  }
  const left = leaf(0)
  let rootKey: Uint8Array | undefined
  if (reader.number(1) === 1) {
    must(reader.number(1) === 2, 'the root is a leaf')
    rootKey = reader.vector()
    must(reader.vector().length === 0 && reader.vector().length === 0, 'the root has more than a key')
  }
  const tree: HandTree = { leaves: [left, leaf(1)], rootKey }
  must(reader.isAtEnd, 'the tree has more than two leaves')
  return tree
}

/** The hash of a leaf (section 7.8). */
export const leafHash = ({ bytes }: HandLeaf, index: number) =>
  hash(number(1, 1), number(index, 4), number(1, 1), bytes)

/** The hash of a tree (section 7.8). Parent hash and unmerged leaves of a root are empty. */
export function treeHash({ leaves, rootKey }: HandTree): Uint8Array {
  const root = rootKey ? join(number(1, 1), vector(rootKey), vector(EMPTY), vector(EMPTY)) : number(0, 1)
  const [left, right] = leaves.map((leaf, index) => vector(leafHash(leaf, index)))
  return hash(number(2, 1), root, left ?? EMPTY, right ?? EMPTY)
}
