// Identifies the relay to push services: signs tokens with the key that browsers received when they
// subscribed (RFC 8292).
import { createSigner, type SignerSync } from 'fast-jwt'
import type { Clock } from '../operations/clock.ts'
import { privateKeyPem, publicKeyOf } from './p256.ts'

/** One of the relay's keys; `secret` is a private key on P-256. Browsers subscribe with the newest. */
export interface VapidKey {
  readonly kid: string
  readonly secret: Uint8Array
}

/** Lifetime of a token. RFC 8292 allows up to a day. */
const LIFE_SECONDS = 12 * 3600

interface Signer {
  readonly publicKey: string
  readonly sign: typeof SignerSync
}

export class Vapid {
  /** The id of the key that browsers subscribe with. */
  readonly kid: string
  readonly #signers: ReadonlyMap<string, Signer>
  readonly #subject: string | undefined
  readonly #clock: Clock

  /** @param parts.subject how a push service reaches the operator: `mailto:…` or `https://…` */
  constructor(parts: {
    keys: readonly [VapidKey, ...VapidKey[]]
    subject: string | undefined
    clock: Clock
  }) {
    this.kid = parts.keys[0].kid
    this.#signers = new Map(parts.keys.map((key) => [key.kid, signerOf(key)]))
    this.#subject = parts.subject
    this.#clock = parts.clock
  }

  /** The public key that browsers subscribe with: 65 bytes, base64url. */
  get publicKey(): string {
    return this.#signers.get(this.kid)?.publicKey ?? ''
  }

  /**
   * The `Authorization` header for a push service.
   * @param kid the key that the browser subscribed with
   * @returns undefined if the relay no longer has that key: then nobody can send to the subscription
   */
  authorize(kid: string, origin: string): string | undefined {
    const signer = this.#signers.get(kid)
    if (!signer) return undefined
    const iat = Math.floor(this.#clock.now() / 1000)
    const sub = this.#subject === undefined ? {} : { sub: this.#subject }
    const token = signer.sign({ aud: origin, iat, exp: iat + LIFE_SECONDS, ...sub })
    return `vapid t=${token}, k=${signer.publicKey}`
  }
}

function signerOf({ secret }: VapidKey): Signer {
  return {
    publicKey: Buffer.from(publicKeyOf(secret)).toString('base64url'),
    sign: createSigner({ algorithm: 'ES256', key: privateKeyPem(secret) }),
  }
}
