// The challenge that an account signs at login. Nothing else is signed here.
import { decodeBase64, decodeBase64Url, encodeBase64 } from './base64.ts'
import { CryptoError } from './crypto-error.ts'
import { sign, verifySignature } from './signature.ts'

const VERSION = 'relay-auth-v1'
const NONCE_BYTES = 32

// A host name, IPv4 address or bracketed IPv6 address, with or without a port.
const CHALLENGE =
  /^relay-auth-v1:((?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?):([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}):([A-Za-z0-9_-]{43})$/

/** The parts of `relay-auth-v1:<host>:<uuid>:<nonce>`. */
export interface AuthChallenge {
  readonly version: 'relay-auth-v1'
  /** The relay's host, with its port if it has one: `relay.example`, `localhost:8080`, `[::1]:8080`. */
  readonly host: string
  /** The account that is logging in. */
  readonly uuid: string
  /** Base64url of 32 random bytes. */
  readonly nonce: string
}

/**
 * The parts of a challenge, or undefined for any other text. Before it signs, a client compares `host` with
 * the relay it called and `uuid` with its own account. Otherwise one relay could make it sign another relay's
 * challenge.
 */
export function parseAuthChallenge(challenge: string): AuthChallenge | undefined {
  if (typeof challenge !== 'string') return undefined
  const [, host, uuid, nonce] = CHALLENGE.exec(challenge) ?? []
  if (host === undefined || uuid === undefined || nonce === undefined) return undefined
  return isNonce(nonce) ? { version: VERSION, host, uuid, nonce } : undefined
}

/**
 * The Base64 Ed25519 signature (RFC 8032) over the challenge's UTF-8. Throws `INVALID_CHALLENGE` for a text
 * that is not a challenge: the same key signs call signals, and a relay must not get one signed here. Throws
 * `INVALID_KEY`.
 */
export async function signAuthChallenge(privateKey: Uint8Array, challenge: string): Promise<string> {
  if (parseAuthChallenge(challenge) === undefined) {
    throw new CryptoError('INVALID_CHALLENGE', 'not an authentication challenge')
  }
  return encodeBase64(await sign(privateKey, challenge))
}

/**
 * Whether `signature` (Base64) is valid for `publicKey` and this challenge; false for any malformed input.
 */
export async function verifyAuthChallenge(
  publicKey: Uint8Array,
  challenge: string,
  signature: string,
): Promise<boolean> {
  if (parseAuthChallenge(challenge) === undefined) return false
  let bytes: Uint8Array
  try {
    bytes = decodeBase64(signature)
  } catch {
    return false
  }
  return verifySignature(publicKey, challenge, bytes)
}

function isNonce(text: string): boolean {
  try {
    return decodeBase64Url(text).length === NONCE_BYTES
  } catch {
    return false
  }
}
