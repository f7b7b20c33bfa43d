// Tokens: JSON web tokens of one algorithm (HS256), and the list of those that died before their time.
import { type AccountUuid, ProtocolError } from '@sotto/protocol'
import { createDecoder, createSigner, createVerifier, type SignerSync, type VerifierSync } from 'fast-jwt'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import type { RelayKey, RelayKeys } from './relay-keys.ts'

const ALGORITHM = 'HS256'
const ISSUER = 'sotto-relay'
const AUDIENCE = 'sotto'

/** Why a token that was ours is none any more. */
export type DeathReason = 'expired' | 'revoked' | 'replaced'

/** A token of ours, and whether it still counts. */
export interface TokenState {
  readonly account: AccountId | undefined
  readonly uuid: string
  readonly jti: string
  readonly expiresAt: number
  /** Undefined while it lives. A replaced token still serves HTTP. */
  readonly dead: DeathReason | undefined
}

const Header = v.object({ header: v.object({ kid: v.string() }) })
const Claims = v.object({ sub: v.string(), jti: v.string(), exp: v.number() })
const decodeHeader = createDecoder({ complete: true })

/** Issues, reads and kills tokens. */
export class Tokens {
  readonly #storage: Storage
  readonly #sign: typeof SignerSync
  readonly #verifiers: ReadonlyMap<string, typeof VerifierSync>
  readonly #clock: Clock
  readonly #randomBytes: RandomBytes
  readonly #lifeSeconds: number

  constructor(parts: {
    storage: Storage
    keys: RelayKeys
    clock: Clock
    randomBytes: RandomBytes
    lifeSeconds: number
  }) {
    this.#storage = parts.storage
    this.#sign = signerOf(parts.keys[0])
    this.#verifiers = new Map(parts.keys.map((key) => [key.kid, verifierOf(key)]))
    this.#clock = parts.clock
    this.#randomBytes = parts.randomBytes
    this.#lifeSeconds = parts.lifeSeconds
  }

  issue(uuid: AccountUuid): { token: string; expires_in: number } {
    const iat = Math.floor(this.#clock.now() / 1000)
    const jti = randomText(this.#randomBytes, 16)
    const token = this.#sign({ sub: uuid, jti, iat, exp: iat + this.#lifeSeconds })
    return { token, expires_in: this.#lifeSeconds }
  }

  /** @throws ProtocolError `UNAUTHENTICATED` where the token is none of ours. */
  async read(token: string): Promise<TokenState> {
    const claims = this.#verify(token)
    const expiresAt = claims.exp * 1000
    const state = await this.stateOf(this.#storage.sql, claims.sub, claims.jti)
    return {
      account: state.account,
      uuid: claims.sub,
      jti: claims.jti,
      expiresAt,
      dead: state.dead ?? (expiresAt <= this.#clock.now() ? 'expired' : undefined),
    }
  }

  /** What the store knows of a token: whose it is, and whether it died. A deleted account's tokens are dead. */
  async stateOf(
    sql: Sql,
    uuid: string,
    jti: string,
  ): Promise<{ account: AccountId | undefined; dead: 'revoked' | 'replaced' | undefined }> {
    const [row] = await sql<{ id: AccountId; reason: 'revoked' | 'replaced' | null }>`
      SELECT accounts.id AS id, dead_tokens.reason AS reason
      FROM accounts LEFT JOIN dead_tokens ON dead_tokens.jti = ${jti}
      WHERE accounts.uuid = ${uuid} AND accounts.deleted_at IS NULL`
    if (!row) return { account: undefined, dead: 'revoked' }
    return { account: row.id, dead: row.reason ?? undefined }
  }

  /** Kills a token at once. A revoked one never becomes merely replaced. */
  async kill(jti: string, reason: 'revoked' | 'replaced', expiresAt: number): Promise<void> {
    await this.#storage.transaction(async (sql) => {
      await sql`
        INSERT INTO dead_tokens (jti, reason, expires_at) VALUES (${jti}, ${reason}, ${expiresAt})
        ON CONFLICT (jti) DO UPDATE SET reason = 'revoked' WHERE ${reason} = 'revoked'`
    })
  }

  #verify(token: string): v.InferOutput<typeof Claims> {
    try {
      const { header } = v.parse(Header, decodeHeader(token))
      const verifier = this.#verifiers.get(header.kid)
      if (verifier) return v.parse(Claims, verifier(token))
    } catch {
      // Whatever is wrong with it, it is none of ours.
    }
    throw new ProtocolError('UNAUTHENTICATED')
  }
}

function signerOf({ kid, secret }: RelayKey): typeof SignerSync {
  return createSigner({ key: Buffer.from(secret), algorithm: ALGORITHM, kid, iss: ISSUER, aud: AUDIENCE })
}

// Expiry is read apart: a token of ours that is past its time is answered otherwise than one that never was ours.
function verifierOf({ secret }: RelayKey): typeof VerifierSync {
  return createVerifier({
    key: Buffer.from(secret),
    algorithms: [ALGORITHM],
    allowedIss: ISSUER,
    allowedAud: AUDIENCE,
    requiredClaims: ['iss', 'aud', 'sub', 'jti', 'exp'],
    ignoreExpiration: true,
    cache: false,
  })
}
