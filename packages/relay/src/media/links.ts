// Signed links to one blob, for a store that has no links itself. A link holds the permitted action, the
// object and the expiry, signed with a key of the relay. Nothing is stored for a link.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The keys for links: the first one signs, all of them verify. */
export type LinkKeys = readonly [LinkKey, ...LinkKey[]]
interface LinkKey {
  readonly secret: Uint8Array
}

/** What a link permits. */
export type LinkPurpose = 'read' | 'write'

const EXPIRY_BYTES = 6
const MAC_BYTES = 16

/**
 * Creates a link's text: base64url of expiry (48 bits, ms) ‖ HMAC-SHA256, cut to 16 bytes ‖ the object's
 * name.
 */
export function createLink(
  purpose: LinkPurpose,
  object: string,
  { keys, expiresAt }: { keys: LinkKeys; expiresAt: number },
): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES)
  expiry.writeUIntBE(expiresAt, 0, EXPIRY_BYTES)
  const mac = macOf(keys[0].secret, purpose, expiry, object)
  return Buffer.concat([expiry, mac, Buffer.from(object)]).toString('base64url')
}

/** The object that a link leads to; undefined if the link is not valid for this purpose or has expired. */
export function readLink(
  purpose: LinkPurpose,
  link: string,
  { keys, now }: { keys: LinkKeys; now: number },
): string | undefined {
  const bytes = Buffer.from(link, 'base64url')
  if (bytes.toString('base64url') !== link || bytes.length <= EXPIRY_BYTES + MAC_BYTES) return undefined
  const expiry = bytes.subarray(0, EXPIRY_BYTES)
  const mac = bytes.subarray(EXPIRY_BYTES, EXPIRY_BYTES + MAC_BYTES)
  const object = bytes.subarray(EXPIRY_BYTES + MAC_BYTES).toString()
  const isOurs = keys.some(({ secret }) => timingSafeEqual(mac, macOf(secret, purpose, expiry, object)))
  return isOurs && expiry.readUIntBE(0, EXPIRY_BYTES) > now ? object : undefined
}

function macOf(secret: Uint8Array, purpose: LinkPurpose, expiry: Uint8Array, object: string): Buffer {
  const mac = createHmac('sha256', secret).update(`${purpose}\n`).update(expiry).update(object).digest()
  return mac.subarray(0, MAC_BYTES)
}
