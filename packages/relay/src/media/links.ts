// Links to one blob, for a store that has no links itself. A link holds the object, the account that
// requested it, and the expiry, encrypted and authenticated with a key of the relay. Nothing is stored for a
// link.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { RandomBytes } from '../operations/random.ts'

/** The keys for links: the first one makes them, all of them open them. */
export type LinkKeys = readonly [LinkKey, ...LinkKey[]]
interface LinkKey {
  readonly secret: Uint8Array
}

/** What a link permits. */
export type LinkPurpose = 'read' | 'write'

/** What a link leads to, and for whom. */
export interface LinkTarget {
  readonly object: string
  /** The number of the account that requested the link. What passes through the link counts for it. */
  readonly account: number
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const NUMBER_BYTES = 6

/**
 * Creates a link's text: base64url of nonce ‖ AES-256-GCM of (expiry in ms ‖ account ‖ the object's name),
 * with the purpose as additional data. Both numbers have 48 bits.
 */
export function createLink(
  purpose: LinkPurpose,
  { object, account }: LinkTarget,
  { keys, randomBytes, expiresAt }: { keys: LinkKeys; randomBytes: RandomBytes; expiresAt: number },
): string {
  const numbers = Buffer.alloc(2 * NUMBER_BYTES)
  numbers.writeUIntBE(expiresAt, 0, NUMBER_BYTES)
  numbers.writeUIntBE(account, NUMBER_BYTES, NUMBER_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, keyOf(keys[0]), nonce).setAAD(Buffer.from(purpose))
  const sealed = [cipher.update(numbers), cipher.update(object), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([nonce, ...sealed]).toString('base64url')
}

/** What a link leads to; undefined if the link is not valid for this purpose or has expired. */
export function readLink(
  purpose: LinkPurpose,
  link: string,
  { keys, now }: { keys: LinkKeys; now: number },
): LinkTarget | undefined {
  const bytes = Buffer.from(link, 'base64url')
  const isWhole = bytes.length > NONCE_BYTES + 2 * NUMBER_BYTES + TAG_BYTES
  if (bytes.toString('base64url') !== link || !isWhole) return undefined
  for (const key of keys) {
    const plain = opened(purpose, bytes, key)
    if (!plain || plain.readUIntBE(0, NUMBER_BYTES) <= now) continue
    const account = plain.readUIntBE(NUMBER_BYTES, NUMBER_BYTES)
    return { object: plain.subarray(2 * NUMBER_BYTES).toString(), account }
  }
  return undefined
}

function opened(purpose: LinkPurpose, bytes: Buffer, key: LinkKey): Buffer | undefined {
  const decipher = createDecipheriv(CIPHER, keyOf(key), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}

// The relay's secrets may have any length.
function keyOf({ secret }: LinkKey): Buffer {
  return createHmac('sha256', secret).update('media links').digest()
}
