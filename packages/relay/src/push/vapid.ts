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

/** The relay's keys as they are now, the newest first. */
export interface VapidKeys {
  readonly current: readonly [VapidKey, ...VapidKey[]]
}

export class Vapid {
  readonly #keys: VapidKeys
  /** Made when they are first needed, by kid. */
  readonly #signers = new Map<string, Signer>()
  readonly #subject: string | undefined
  readonly #clock: Clock

  /** @param parts.subject how a push service reaches the operator: `mailto:…` or `https://…` */
  constructor(parts: { keys: VapidKeys; subject: string | undefined; clock: Clock }) {
    this.#keys = parts.keys
    this.#subject = parts.subject
    this.#clock = parts.clock
  }

  /** The id of the key that browsers subscribe with. */
  get kid(): string {
    return this.#keys.current[0].kid
  }

  /** The public key that browsers subscribe with: 65 bytes, base64url. */
  get publicKey(): string {
    return this.#signerOf(this.#keys.current[0]).publicKey
  }

  /** The id of the key with this public key; undefined if the relay does not have it. */
  findKid(publicKey: string): string | undefined {
    return this.#keys.current.find((key) => this.#signerOf(key).publicKey === publicKey)?.kid
  }

  /**
   * The `Authorization` header for a push service.
   * @param kid the key that the browser subscribed with
   * @returns undefined if the relay no longer has that key: then nobody can send to the subscription
   */
  authorize(kid: string, origin: string): string | undefined {
    const key = this.#keys.current.find((each) => each.kid === kid)
    if (!key) return undefined
    const signer = this.#signerOf(key)
    const iat = Math.floor(this.#clock.now() / 1000)
    const sub = this.#subject === undefined ? {} : { sub: this.#subject }
    const token = signer.sign({ aud: origin, iat, exp: iat + LIFE_SECONDS, ...sub })
    return `vapid t=${token}, k=${signer.publicKey}`
  }

  #signerOf(key: VapidKey): Signer {
    let signer = this.#signers.get(key.kid)
    if (!signer) {
      signer = signerOf(key)
      this.#signers.set(key.kid, signer)
    }
    return signer
  }
}

function signerOf({ secret }: VapidKey): Signer {
  return {
    publicKey: Buffer.from(publicKeyOf(secret)).toString('base64url'),
    sign: createSigner({ algorithm: 'ES256', key: privateKeyPem(secret) }),
  }
}
