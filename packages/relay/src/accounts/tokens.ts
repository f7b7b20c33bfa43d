// Tokens: JSON web tokens with one algorithm (HS256), and the list of those that were revoked or replaced.
import { ProtocolError } from '@sotto/protocol'
import { createDecoder, createSigner, createVerifier, type SignerSync, type VerifierSync } from 'fast-jwt'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { Together } from '../operations/together.ts'
import { type AccountId, list, query, type Storage } from '../storage/storage.ts'
import type { Account } from './accounts.ts'
import type { LiveKeys, RelayKey } from './relay-keys.ts'
import type { Suspension } from './suspensions.ts'
import { createTokenId, readTokenId } from './token-ids.ts'

const ALGORITHM = 'HS256'
const ISSUER = 'sotto-relay'
const AUDIENCE = 'sotto'

/** Why a token that this relay issued is dead. */
export type DeathReason = 'expired' | 'revoked' | 'replaced'

/** A token that this relay issued, and whether it is still valid. */
export interface TokenState {
  readonly account: AccountId | undefined
  readonly uuid: string
  readonly jti: string
  readonly expiresAt: number
  /** Undefined while the token is valid. A replaced token is still valid for HTTP. */
  readonly dead: DeathReason | undefined
  /** Set while the account is suspended. */
  readonly suspension: Suspension | undefined
}

interface AccountRow {
  readonly uuid: string
  readonly id: AccountId
  readonly logged_out_at: number
  /** Null if the account is not suspended. */
  readonly suspended_for: string | null
  readonly ends_at: number | null
}

const Header = v.object({ header: v.object({ kid: v.string() }) })
const Claims = v.object({ sub: v.string(), jti: v.string(), exp: v.number() })
const decodeHeader = createDecoder({ complete: true })

/** What is known of a token without its signature. */
interface TokenOwner {
  readonly uuid: string
  readonly jti: string
}

/** Whether a token is dead, for any other reason than its age, and its account. */
export interface TokenLife extends Pick<TokenState, 'account' | 'suspension'> {
  readonly dead: 'revoked' | 'replaced' | undefined
}

/** Issues, reads and kills tokens. */
export class Tokens {
  readonly #storage: Storage
  readonly #keys: LiveKeys
  /** Made when they are first needed, by kid. */
  readonly #signers = new Map<string, typeof SignerSync>()
  readonly #verifiers = new Map<string, typeof VerifierSync>()
  readonly #clock: Clock
  readonly #randomBytes: RandomBytes
  readonly #lifeSeconds: number
  readonly #lives: Together<TokenOwner, TokenLife>

  constructor(parts: {
    storage: Storage
    keys: LiveKeys
    clock: Clock
    randomBytes: RandomBytes
    lifeSeconds: number
  }) {
    this.#storage = parts.storage
    this.#keys = parts.keys
    this.#clock = parts.clock
    this.#randomBytes = parts.randomBytes
    this.#lifeSeconds = parts.lifeSeconds
    this.#lives = new Together((owners) => this.#readLives(owners))
  }

  /** Issues a token for an account as it was before its login was checked. */
  issue(account: Pick<Account, 'uuid' | 'logged_out_at'>): { token: string; expires_in: number } {
    const iat = Math.floor(this.#clock.now() / 1000)
    const [key] = this.#keys.current
    const origin = { kid: key.kid, loggedOutAt: account.logged_out_at }
    const jti = createTokenId(randomText(this.#randomBytes, 16), origin)
    const token = keptIn(
      this.#signers,
      key,
      signerOf,
    )({ sub: account.uuid, jti, iat, exp: iat + this.#lifeSeconds })
    return { token, expires_in: this.#lifeSeconds }
  }

  /** @throws ProtocolError `UNAUTHENTICATED` if this relay did not issue the token */
  async read(token: string): Promise<TokenState> {
    const claims = this.#verify(token)
    const expiresAt = claims.exp * 1000
    const state = await this.lifeOf({ uuid: claims.sub, jti: claims.jti })
    return {
      account: state.account,
      uuid: claims.sub,
      jti: claims.jti,
      expiresAt,
      dead: state.dead ?? (expiresAt <= this.#clock.now() ? 'expired' : undefined),
      suspension: state.suspension,
    }
  }

  /**
   * The account of a token, whether the account is suspended, and whether the token was revoked or replaced.
   * The tokens of a deleted account count as revoked.
   * @param owner its uuid has the form of one, because one query reads several
   */
  lifeOf(owner: TokenOwner): Promise<TokenLife> {
    return this.#lives.do(owner)
  }

  /** Whether a token was issued under a key that the relay still has, and since the account's last logout. */
  isCurrent(jti: string, loggedOutAt: number): boolean {
    const { kid, loggedOutAt: since } = readTokenId(jti)
    return since === loggedOutAt && (kid === undefined || this.hasKeyOf(jti))
  }

  /** Whether the relay still has the key of a token. Tokens of old versions do not say which key that is. */
  hasKeyOf(jti: string): boolean {
    return this.#findKey(readTokenId(jti).kid) !== undefined
  }

  /** Makes a token dead at once. A revoked token never becomes only replaced. */
  async kill(jti: string, reason: 'revoked' | 'replaced', expiresAt: number): Promise<void> {
    await this.#storage.transaction(async (sql) => {
      await sql`
        INSERT INTO dead_tokens (jti, reason, expires_at) VALUES (${jti}, ${reason}, ${expiresAt})
        ON CONFLICT (jti) DO UPDATE SET reason = 'revoked' WHERE ${reason} = 'revoked'`
    })
  }

  async #readLives(owners: readonly TokenOwner[]): Promise<TokenLife[]> {
    const [only] = owners
    if (only && owners.length === 1) return [await this.#readLife(only)]
    const accounts = await this.#storage.sql<AccountRow>(
      ...query`
        SELECT accounts.uuid AS uuid, accounts.id AS id, accounts.logged_out_at AS logged_out_at,
          suspensions.reason AS suspended_for, suspensions.ends_at AS ends_at
        FROM accounts LEFT JOIN suspensions ON suspensions.account_id = accounts.id
        WHERE accounts.uuid IN ${list(owners.map(({ uuid }) => uuid))} AND accounts.deleted_at IS NULL`,
    )
    const dead = await this.#storage.sql<{ jti: string; reason: 'revoked' | 'replaced' }>(
      ...query`SELECT jti, reason FROM dead_tokens WHERE jti IN ${list(owners.map(({ jti }) => jti))}`,
    )
    const accountOf = new Map(accounts.map((row) => [row.uuid, row]))
    const reasonOf = new Map(dead.map(({ jti, reason }) => [jti, reason]))
    return owners.map(({ uuid, jti }) => this.#lifeFrom(accountOf.get(uuid), jti, reasonOf.get(jti)))
  }

  // Mostly one is asked for at a time, which takes one query.
  async #readLife({ uuid, jti }: TokenOwner): Promise<TokenLife> {
    const [row] = await this.#storage.sql<AccountRow & { dead: 'revoked' | 'replaced' | null }>`
      SELECT accounts.uuid AS uuid, accounts.id AS id, accounts.logged_out_at AS logged_out_at,
        suspensions.reason AS suspended_for, suspensions.ends_at AS ends_at, dead_tokens.reason AS dead
      FROM accounts
      LEFT JOIN dead_tokens ON dead_tokens.jti = ${jti}
      LEFT JOIN suspensions ON suspensions.account_id = accounts.id
      WHERE accounts.uuid = ${uuid} AND accounts.deleted_at IS NULL`
    return this.#lifeFrom(row, jti, row?.dead ?? undefined)
  }

  #lifeFrom(row: AccountRow | undefined, jti: string, died: 'revoked' | 'replaced' | undefined): TokenLife {
    if (!row) return { account: undefined, dead: 'revoked', suspension: undefined }
    const { id: account, suspended_for: reason, ends_at } = row
    const suspension = reason === null ? undefined : { reason, ends_at }
    return { account, dead: this.isCurrent(jti, row.logged_out_at) ? died : 'revoked', suspension }
  }

  #verify(token: string): v.InferOutput<typeof Claims> {
    try {
      const { header } = v.parse(Header, decodeHeader(token))
      const key = this.#findKey(header.kid)
      if (key) return v.parse(Claims, keptIn(this.#verifiers, key, verifierOf)(token))
    } catch {
      // Any failure means that this relay did not issue the token.
    }
    throw new ProtocolError('UNAUTHENTICATED')
  }

  #findKey(kid: string | undefined): RelayKey | undefined {
    return this.#keys.current.find((key) => key.kid === kid)
  }
}

function keptIn<Made>(kept: Map<string, Made>, key: RelayKey, make: (key: RelayKey) => Made): Made {
  let made = kept.get(key.kid)
  if (made === undefined) {
    made = make(key)
    kept.set(key.kid, made)
  }
  return made
}

function signerOf({ kid, secret }: RelayKey): typeof SignerSync {
  return createSigner({ key: Buffer.from(secret), algorithm: ALGORITHM, kid, iss: ISSUER, aud: AUDIENCE })
}

// The verifier ignores expiry. `read` checks it, because an expired token gets another answer than a foreign
// one.
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
