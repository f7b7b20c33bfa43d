// The credential of a device's leaf in a group (crypto_v 3): an account certifies the device's signature key
// with its identity.
import { type AccountKeys, equalBytes, writeAccountKeys } from './account-keys.ts'
import { ByteReader, ByteWriter } from './byte-record.ts'
import { type Bytes, checkBytes, checkKey, concatBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { sign, verifySignature } from './signature.ts'

/** How far in the future a certificate's time may be, for clocks that differ: 10 minutes. */
export const LEAF_CERTIFICATE_FUTURE_MS = 600_000

/** The most bytes of a certificate. */
export const MAX_LEAF_CERTIFICATE_BYTES = 512

const LABEL = 'sotto-leaf-certificate-v1'
const FORMAT = 1
const DEVICE_BYTES = 16
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** A host and perhaps a port: printable ASCII without spaces. */
const RELAY = /^[\x21-\x7e]{1,255}$/
const DEVICE = /^[0-9a-f]{32}$/
/** The last millisecond that dates reach. */
const MAX_TIME = 8.64e15

/** What a certificate says. */
export interface LeafCertificate {
  /** The host that the account's logins are bound to. */
  readonly relay: string
  /** 16 random bytes, in lower-case hexadecimal. */
  readonly device: string
  readonly account: AccountKeys
  /** The Ed25519 key that the leaf signs with, 32 bytes. */
  readonly signaturePublicKey: Uint8Array
  /** When it was signed, in milliseconds since 1970. */
  readonly time: number
}

/** What `signLeafCertificate` needs: what the certificate says, and the account's Ed25519 private key. */
export interface SignLeafCertificateInput extends LeafCertificate {
  readonly privateKey: Uint8Array
}

/** What a certificate must say to be accepted. */
export interface ExpectedLeaf {
  readonly relay: string
  /** The keys that this device has recorded for the account. */
  readonly account: AccountKeys
  /** The key that the leaf itself names. */
  readonly signaturePublicKey: Uint8Array
  /** The present time, in milliseconds since 1970. */
  readonly now: number
}

/**
 * The certificate: format 1, the relay, the device (16 bytes), the account's X25519 and Ed25519 keys, the
 * leaf's signature key, the time (8 bytes), and the account's Ed25519 signature (RFC 8032) over a label and
 * all of that. Rejects with `INVALID_ARGUMENT`, `INVALID_KEY`.
 */
export async function signLeafCertificate(input: SignLeafCertificateInput): Promise<Bytes> {
  const body = encodeBody(input)
  return concatBytes(body, await sign(input.privateKey, signedBytes(body)))
}

/**
 * What a certificate says, which nothing has verified yet. Throws `INVALID_ENCODING` for bytes that
 * `signLeafCertificate` does not write, among them other formats.
 */
export function readLeafCertificate(certificate: Uint8Array): LeafCertificate {
  return split(certificate).says
}

/**
 * Whether the certificate is signed by the account, says what is expected, and is at most
 * `LEAF_CERTIFICATE_FUTURE_MS` from the future. Its age does not matter: a leaf ends with its group. Rejects
 * only with `INVALID_ARGUMENT` and `INVALID_KEY` for what is expected, and `UNAVAILABLE`.
 */
export async function verifyLeafCertificate(
  certificate: Uint8Array,
  expected: ExpectedLeaf,
): Promise<boolean> {
  const { account, signaturePublicKey, relay, now } = expected
  for (const key of [account.x25519, account.ed25519, signaturePublicKey]) checkKey(key, 'an expected key')
  if (!Number.isFinite(now)) throw new CryptoError('INVALID_ARGUMENT', 'now must be a time')
  const found = splitOrNone(certificate)
  if (!found) return false
  const { says, body, signature } = found
  const isExpected =
    says.relay === relay &&
    says.time <= now + LEAF_CERTIFICATE_FUTURE_MS &&
    equalBytes(says.account.x25519, account.x25519) &&
    equalBytes(says.account.ed25519, account.ed25519) &&
    equalBytes(says.signaturePublicKey, signaturePublicKey)
  return isExpected && verifySignature(account.ed25519, signedBytes(body), signature)
}

interface Split {
  readonly says: LeafCertificate
  readonly body: Uint8Array
  readonly signature: Uint8Array
}

function splitOrNone(certificate: Uint8Array): Split | undefined {
  try {
    return split(certificate)
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

function split(certificate: Uint8Array): Split {
  checkBytes(certificate, 'certificate', undefined, 'INVALID_ENCODING')
  if (certificate.length > MAX_LEAF_CERTIFICATE_BYTES) throw invalid('a certificate is too long')
  const reader = new ByteReader(certificate)
  if (reader.number() !== FORMAT) throw invalid('the format of a certificate is unknown')
  const says: LeafCertificate = {
    relay: reader.text(),
    device: bytesToHex(reader.fixed(DEVICE_BYTES)),
    account: { x25519: reader.fixed(KEY_BYTES), ed25519: reader.fixed(KEY_BYTES) },
    signaturePublicKey: reader.fixed(KEY_BYTES),
    time: reader.u64(),
  }
  const signature = reader.fixed(SIGNATURE_BYTES)
  reader.end()
  if (!RELAY.test(says.relay)) throw invalid('the relay of a certificate is no host')
  if (says.time > MAX_TIME) throw invalid('the time of a certificate is out of range')
  return { says, body: certificate.subarray(0, -SIGNATURE_BYTES), signature }
}

function encodeBody({ relay, device, account, signaturePublicKey, time }: LeafCertificate): Bytes {
  if (typeof relay !== 'string' || !RELAY.test(relay)) throw wrong('relay must be a host')
  if (typeof device !== 'string' || !DEVICE.test(device))
    throw wrong('device must be 16 bytes in lower-case hexadecimal')
  if (!(time <= MAX_TIME)) throw wrong('time is out of range')
  checkKey(signaturePublicKey, 'signaturePublicKey')
  const writer = new ByteWriter().number(FORMAT).text(relay).fixed(hexToBytes(device))
  writeAccountKeys(writer, account, 'the account')
  return writer.fixed(signaturePublicKey).u64(time).done()
}

function signedBytes(body: Uint8Array): Bytes {
  return new ByteWriter().text(LABEL).fixed(body).done()
}

function wrong(message: string): CryptoError {
  return new CryptoError('INVALID_ARGUMENT', message)
}

function invalid(message: string): CryptoError {
  return new CryptoError('INVALID_ENCODING', message)
}
