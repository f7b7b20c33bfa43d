// Key packages: what a device uploads so that others can begin a group with it while it is away.
import type { Bytes } from '@sotto/crypto'
import {
  type Capabilities,
  type CustomExtension,
  defaultCredentialTypes,
  encode,
  generateKeyPackageWithKey,
  type KeyPackage,
  keyPackageEncoder,
  makeCustomExtension,
  makeKeyPackageRef,
  mlsMessageEncoder,
  type PrivateKeyPackage,
  protocolVersions,
  wireformats,
} from 'ts-mls'
import { concatBytes, encodeNumber, encodeVector, equalBytes, Reader } from './bytes.ts'
import { type LeafKeys, memberOf } from './group.ts'
import { readMessage } from './inspect.ts'
import { asMlsError, invalid } from './mls-error.ts'
import { SUITE_ID, suite } from './suite.ts'

/** When a key package may be used, in seconds since 1970. */
export interface KeyPackageLifetime {
  notBefore: number
  notAfter: number
}

/**
 * The lifetime of a leaf in MLS. The library compares it with the system's clock, but here time is passed in:
 * so a leaf has no end, and the lifetime of a key package stands in an extension of it, under its signature.
 */
const NO_END = { notBefore: 0n, notAfter: 0xffffffffffffn }
const LIFETIME_EXTENSION = 0xf053
const CAPABILITIES: Capabilities = {
  versions: [protocolVersions.mls10],
  ciphersuites: [SUITE_ID],
  extensions: [LIFETIME_EXTENSION],
  proposals: [],
  credentials: [defaultCredentialTypes.basic],
}
const SECRETS_VERSION = 1
/** Version, suite, the vector of the key to join by (1,216 bytes). What follows is the leaf. */
const LEAF_AT = 2 + 2 + 2 + 1216
/** A signature of 64 bytes as a vector. */
const SIGNATURE_BYTES = 2 + 64

/** New signature keys for a leaf (Ed25519, 32 bytes each). */
export function newSignatureKeys(): Promise<{ publicKey: Bytes; privateKey: Bytes }> {
  return asMlsError('the signature keys', async () => {
    const { publicKey, signKey } = await (await suite()).signature.keygen()
    return { publicKey: new Uint8Array(publicKey), privateKey: new Uint8Array(signKey) }
  })
}

/**
 * A new key package. `secrets` open the Welcome that names its `reference` (32 bytes). Keep them until then,
 * and erase them after.
 */
export function createKeyPackage(
  leaf: LeafKeys,
  lifetime: KeyPackageLifetime,
): Promise<{ keyPackage: Bytes; secrets: Bytes; reference: Bytes }> {
  return asMlsError('the key package', async () => {
    const { publicPackage, privatePackage } = await generate(leaf, [
      makeCustomExtension({ extensionType: LIFETIME_EXTENSION, extensionData: encodeLifetime(lifetime) }),
    ])
    const { initPrivateKey, hpkePrivateKey } = privatePackage
    return {
      keyPackage: encodeKeyPackage(publicPackage),
      secrets: concatBytes(encodeNumber(SECRETS_VERSION, 1), initPrivateKey, hpkePrivateKey),
      reference: new Uint8Array(await makeKeyPackageRef(publicPackage, (await suite()).hash)),
    }
  })
}

/** A key package as its reader sees it. */
export interface KeyPackageContent extends KeyPackageLifetime {
  credential: Bytes
  signaturePublicKey: Bytes
  /** What a Welcome to it names, 32 bytes. */
  reference: Bytes
}

/**
 * Reads a key package and checks its signatures. Certificate and lifetime are for the caller to check.
 */
export function readKeyPackage(keyPackage: Uint8Array): Promise<KeyPackageContent> {
  return asMlsError('the key package', async () => {
    const decoded = decodeKeyPackage(keyPackage)
    await verifySignatures(decoded)
    const { credential, signaturePublicKey } = memberOf(decoded.leafNode, 0)
    const reference = new Uint8Array(await makeKeyPackageRef(decoded, (await suite()).hash))
    return { credential, signaturePublicKey, reference, ...lifetimeOf(decoded) }
  })
}

/** Decodes a key package of our shape, without a look at its signatures. */
export function decodeKeyPackage(bytes: Uint8Array): KeyPackage {
  const message = readMessage(bytes)
  if (message.wireformat !== wireformats.mls_key_package) throw invalid('not a key package')
  const { keyPackage } = message
  if (keyPackage.cipherSuite !== SUITE_ID) throw invalid('a key package of another suite')
  if (keyPackage.initKey.length !== 1216 || keyPackage.leafNode.extensions.length > 0)
    throw invalid('a key package of another shape')
  if (!equalBytes(encodeKeyPackage(keyPackage), bytes)) throw invalid('a key package in an unusual encoding')
  lifetimeOf(keyPackage)
  return keyPackage
}

/** A key package for a leaf of our own that goes to nobody: the beginning of a group, or a rejoin. */
export function generateForOwnLeaf(
  leaf: LeafKeys,
): Promise<{ publicPackage: KeyPackage; privatePackage: PrivateKeyPackage }> {
  return generate(leaf, [])
}

/** The private parts of a key package, from the bytes of `createKeyPackage`. */
export function readSecrets(secrets: Uint8Array, leaf: LeafKeys): PrivateKeyPackage {
  const reader = new Reader(secrets)
  if (reader.number(1) !== BigInt(SECRETS_VERSION)) throw invalid('the secrets are of another version')
  const [initPrivateKey, hpkePrivateKey] = [reader.take(32), reader.take(32)]
  if (reader.left > 0) throw invalid('bytes follow the secrets')
  return { initPrivateKey, hpkePrivateKey, signaturePrivateKey: new Uint8Array(leaf.signaturePrivateKey) }
}

function generate(leaf: LeafKeys, extensions: CustomExtension[]) {
  if (leaf.signaturePublicKey.length !== 32 || leaf.signaturePrivateKey.length !== 32)
    throw invalid("a leaf's signature keys have 32 bytes each")
  return suite().then((cipherSuite) =>
    generateKeyPackageWithKey({
      cipherSuite,
      credential: { credentialType: defaultCredentialTypes.basic, identity: new Uint8Array(leaf.credential) },
      signatureKeyPair: {
        publicKey: new Uint8Array(leaf.signaturePublicKey),
        signKey: new Uint8Array(leaf.signaturePrivateKey),
      },
      capabilities: CAPABILITIES,
      lifetime: NO_END,
      extensions,
      leafNodeExtensions: [],
    }),
  )
}

function encodeKeyPackage(keyPackage: KeyPackage): Bytes {
  const message = { version: protocolVersions.mls10, wireformat: wireformats.mls_key_package, keyPackage }
  return new Uint8Array(encode(mlsMessageEncoder, message))
}

function encodeLifetime({ notBefore, notAfter }: KeyPackageLifetime): Bytes {
  if (![notBefore, notAfter].every((time) => Number.isSafeInteger(time) && time >= 0) || notBefore > notAfter)
    throw invalid('a lifetime is two whole numbers of seconds, the earlier first')
  return concatBytes(encodeNumber(notBefore, 8), encodeNumber(notAfter, 8))
}

function lifetimeOf({ extensions }: KeyPackage): KeyPackageLifetime {
  const [extension] = extensions
  if (extensions.length !== 1 || extension?.extensionType !== LIFETIME_EXTENSION)
    throw invalid('a key package without exactly one lifetime')
  const reader = new Reader(extension.extensionData)
  const [notBefore, notAfter] = [Number(reader.number(8)), Number(reader.number(8))]
  if (reader.left > 0 || !Number.isSafeInteger(notBefore) || !Number.isSafeInteger(notAfter))
    throw invalid('a key package with a lifetime that is none')
  return { notBefore, notAfter }
}

/**
 * Verifies the two signatures (RFC 9420, sections 7.3 and 10.1). The library does it only when a package is
 * added. What is signed ends where the signature begins.
 */
async function verifySignatures(keyPackage: KeyPackage): Promise<void> {
  const { signature } = await suite()
  const whole = encode(keyPackageEncoder, keyPackage)
  const signed = whole.subarray(0, whole.length - SIGNATURE_BYTES)
  const extensions = encodeVector(
    concatBytes(
      ...keyPackage.extensions.map((given) =>
        concatBytes(encodeNumber(given.extensionType, 2), encodeVector(given.extensionData)),
      ),
    ),
  )
  const leaf = signed.subarray(LEAF_AT, signed.length - extensions.length - SIGNATURE_BYTES)
  const { leafNode } = keyPackage
  const parts = [
    { label: 'KeyPackageTBS', content: signed, given: keyPackage.signature },
    { label: 'LeafNodeTBS', content: leaf, given: leafNode.signature },
  ]
  for (const { label, content, given } of parts) {
    const message = labeled(label, content)
    if (!(await signature.verify(leafNode.signaturePublicKey, message, given)))
      throw invalid('a key package with a wrong signature')
  }
}

/** The content of a signature (RFC 9420, section 5.1.2). */
export function labeled(label: string, content: Uint8Array): Bytes {
  return concatBytes(encodeVector(new TextEncoder().encode(`MLS 1.0 ${label}`)), encodeVector(content))
}
