// Tokens: JSON web tokens of one algorithm (HS256), and the list of those that died before their time.
import { type AccountUuid, ProtocolError } from '@sotto/protocol'
import { errors as joseErrors, jwtVerify, SignJWT } from 'jose'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import type { RelayKeys } from './relay-keys.ts'

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

const Claims = v.object({ sub: v.string(), jti: v.string(), exp: v.number() })

/** Issues, reads and kills tokens. */
export class Tokens {
  readonly #storage: Storage
  readonly #keys: RelayKeys
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
    this.#keys = parts.keys
    this.#clock = parts.clock
    this.#randomBytes = parts.randomBytes
    this.#lifeSeconds = parts.lifeSeconds
  }

  async issue(uuid: AccountUuid): Promise<{ token: string; expires_in: number }> {
    const issuedAt = Math.floor(this.#clock.now() / 1000)
    const [key] = this.#keys
    const token = await new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: key.kid })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(uuid)
      .setJti(randomText(this.#randomBytes, 16))
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + this.#lifeSeconds)
      .sign(key.secret)
    return { token, expires_in: this.#lifeSeconds }
  }

  /** @throws ProtocolError `UNAUTHENTICATED` where the token is none of ours. */
  async read(token: string): Promise<TokenState> {
    const { claims, expired } = await this.#verify(token)
    const state = await this.stateOf(this.#storage.sql, claims.sub, claims.jti)
    return {
      account: state.account,
      uuid: claims.sub,
      jti: claims.jti,
      expiresAt: claims.exp * 1000,
      dead: state.dead ?? (expired ? 'expired' : undefined),
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

  async #verify(token: string): Promise<{ claims: v.InferOutput<typeof Claims>; expired: boolean }> {
    const options = {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      currentDate: new Date(this.#clock.now()),
    }
    try {
      const { payload } = await jwtVerify(
        token,
        (header: { kid?: string }) => this.#secretOf(header.kid),
        options,
      )
      return { claims: v.parse(Claims, payload), expired: false }
    } catch (error) {
      // jose checks the signature and the other claims before it looks at the time.
      if (error instanceof joseErrors.JWTExpired)
        return { claims: v.parse(Claims, error.payload), expired: true }
      throw new ProtocolError('UNAUTHENTICATED')
    }
  }

  #secretOf(kid: string | undefined): Uint8Array {
    const key = this.#keys.find((candidate) => candidate.kid === kid)
    if (!key) throw new ProtocolError('UNAUTHENTICATED')
    return key.secret
  }
}
