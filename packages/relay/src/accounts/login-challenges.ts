// Login challenges: bound to the relay's host and the account, usable once, and short-lived. A challenge
// contains its own expiry and a MAC, so nothing is stored when one is issued, and requests for challenges
// cannot fill the store. Only used challenges are stored.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccountUuid } from '@sotto/protocol'
import type { RandomBytes } from '../operations/random.ts'
import type { Sql } from '../storage/storage.ts'
import type { RelayKeys } from './relay-keys.ts'

const VERSION = 'relay-auth-v1'
const EXPIRY_BYTES = 6
const SALT_BYTES = 10
const OPEN_BYTES = EXPIRY_BYTES + SALT_BYTES
const MAC_BYTES = 16

/** The contents of a valid challenge. */
export interface ValidChallenge {
  /** Identifies the challenge among the used ones. */
  readonly nonce: string
  readonly expiresAt: number
}

/**
 * Creates a challenge: `relay-auth-v1:<host>:<uuid>:<nonce>`. The nonce is the base64url of expiry (48 bits,
 * ms) ‖ 10 random bytes ‖ HMAC-SHA256 of the host, the uuid, the expiry and the random bytes, cut to 16
 * bytes.
 */
export function createChallenge(
  bound: { host: string; uuid: AccountUuid },
  expiresAt: number,
  parts: { keys: RelayKeys; randomBytes: RandomBytes },
): string {
  const open = Buffer.alloc(OPEN_BYTES)
  open.writeUIntBE(expiresAt, 0, EXPIRY_BYTES)
  open.set(parts.randomBytes(SALT_BYTES), EXPIRY_BYTES)
  const nonce = Buffer.concat([open, macOf(parts.keys[0].secret, bound, open)]).toString('base64url')
  return `${VERSION}:${bound.host}:${bound.uuid}:${nonce}`
}

/**
 * The contents of a challenge; undefined unless this relay issued it for this host and account and it is not
 * expired.
 */
export function readChallenge(
  challenge: string,
  bound: { host: string; uuid: AccountUuid },
  parts: { keys: RelayKeys; now: number },
): ValidChallenge | undefined {
  const prefix = `${VERSION}:${bound.host}:${bound.uuid}:`
  const nonce = challenge.slice(prefix.length)
  if (!challenge.startsWith(prefix) || !/^[A-Za-z0-9_-]{43}$/.test(nonce)) return undefined
  const bytes = Buffer.from(nonce, 'base64url')
  if (bytes.toString('base64url') !== nonce) return undefined
  const open = bytes.subarray(0, OPEN_BYTES)
  const mac = bytes.subarray(OPEN_BYTES)
  const genuine = parts.keys.some((key) => timingSafeEqual(mac, macOf(key.secret, bound, open)))
  const expiresAt = open.readUIntBE(0, EXPIRY_BYTES)
  return genuine && expiresAt > parts.now ? { nonce, expiresAt } : undefined
}

/** Marks a challenge as used. @returns false if it was used already */
export async function useChallenge(sql: Sql, challenge: ValidChallenge): Promise<boolean> {
  const rows = await sql<{ nonce: string }>`
    INSERT INTO used_challenges (nonce, expires_at) VALUES (${challenge.nonce}, ${challenge.expiresAt})
    ON CONFLICT DO NOTHING RETURNING nonce`
  return rows.length > 0
}

function macOf(secret: Uint8Array, bound: { host: string; uuid: string }, open: Uint8Array): Buffer {
  const mac = createHmac('sha256', secret).update(`${bound.host}\n${bound.uuid}\n`).update(open).digest()
  return mac.subarray(0, MAC_BYTES)
}
