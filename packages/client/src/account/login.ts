// Logs in at a relay by signing its challenge, keeps the token, and renews it before it expires.
import { parseAuthChallenge, signAuthChallenge } from '@sotto/crypto'
import { type AccountUuid, accountEndpoints } from '@sotto/protocol'
import { ClientError, throwIfAborted } from '../client-error.ts'
import type { Platform } from '../platform/platform.ts'
import { Backoff, delay } from '../platform/platform.ts'
import { type Http, type TokenSource, waitBeforeRetry } from '../wire/wire.ts'

/** A token is renewed once this share of its lifetime has passed. */
const RENEW_AT = 0.8
const ATTEMPTS = 3
const RETRY = { firstMs: 250, maxMs: 2000 }

/** The identity that logs in. */
export interface LoginIdentity {
  readonly uuid: AccountUuid
  readonly signingPrivateKey: Uint8Array
}

/** Watches a login, and can abort it. */
export interface LoginWatch {
  readonly onStep?: (step: 'challenge' | 'sign' | 'verify') => void
  readonly signal?: AbortSignal | undefined
}

/** A token and when to renew it, in the clock's milliseconds. */
interface Token {
  readonly value: string
  readonly renewAt: number
}

/** Logs one identity in, and holds its token. */
export class Login implements TokenSource {
  readonly #platform: Platform
  readonly #http: Http
  readonly #identity: LoginIdentity
  #token: Token | undefined
  #isForgotten = false
  #pending: Promise<Token> | undefined

  constructor(platform: Platform, http: Http, identity: LoginIdentity) {
    this.#platform = platform
    this.#http = http
    this.#identity = identity
  }

  /**
   * Returns a token that should still be valid. Logs in if there is none; concurrent calls share one login.
   * @throws ClientError `CHALLENGE_REFUSED`, and the errors of calls to the relay
   */
  async getToken(): Promise<string> {
    if (this.#token && this.#platform.clock.now() < this.#token.renewAt) return this.#token.value
    this.#pending ??= this.#logIn({}).finally(() => {
      this.#pending = undefined
    })
    this.#token = await this.#pending
    return this.#token.value
  }

  /** Logs in now, even if there is a token. @throws as `getToken`, and `ABORTED` */
  async logIn(watch: LoginWatch): Promise<void> {
    this.#token = await this.#logIn(watch)
  }

  /** The current token, if there is one. It may have expired. */
  get token(): string | undefined {
    return this.#token?.value
  }

  dropToken(token: string): void {
    if (this.#token?.value === token) this.#token = undefined
  }

  /** Drops the current token. */
  dropAnyToken(): void {
    this.#token = undefined
  }

  /** Drops the token, and signs nothing any more: the key is about to be overwritten with zeros. */
  forget(): void {
    this.#isForgotten = true
    this.#token = undefined
  }

  async #logIn(watch: LoginWatch): Promise<Token> {
    const { clock, random } = this.#platform
    const backoff = new Backoff(random, RETRY)
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#logInOnce(watch)
      } catch (error) {
        if (!(error instanceof ClientError) || attempt >= ATTEMPTS) throw error
        if (error.refusal === 'SIGNATURE_INVALID') throw accountGone(error)
        // The challenge expired, or was used for a login whose answer was lost. A new challenge helps.
        const waitMs = error.refusal === 'CHALLENGE_INVALID' ? 0 : waitBeforeRetry(error, backoff)
        if (waitMs === undefined) throw error
        if (waitMs > 0) await delay(clock, waitMs, watch.signal)
        throwIfAborted(watch.signal)
      }
    }
  }

  #checkNotForgotten(): void {
    if (this.#isForgotten) throw new ClientError('LOCKED', 'the client is locked')
  }

  async #logInOnce({ onStep, signal }: LoginWatch): Promise<Token> {
    const { uuid, signingPrivateKey } = this.#identity
    onStep?.('challenge')
    const { challenge } = await this.#http.call(
      accountEndpoints.authChallenge,
      { body: { user_uuid: uuid } },
      { retry: 'none', signal },
    )
    onStep?.('sign')
    const parts = parseAuthChallenge(challenge)
    // Otherwise a relay could forward the challenge of another relay, and log in there with this signature.
    if (parts?.host !== this.#platform.relayUrl.host || parts.uuid !== uuid) {
      throw new ClientError(
        'CHALLENGE_REFUSED',
        `the relay asks to sign a login at ${parts?.host ?? 'an unknown place'}, not here`,
      )
    }
    this.#checkNotForgotten()
    const signature = await signAuthChallenge(signingPrivateKey, challenge)
    this.#checkNotForgotten()
    onStep?.('verify')
    const askedAt = this.#platform.clock.now()
    const reply = await this.#http.call(
      accountEndpoints.authVerify,
      { body: { user_uuid: uuid, challenge, signature, limited: true } },
      { retry: 'none', signal },
    )
    return { value: reply.token, renewAt: askedAt + reply.expires_in * 1000 * RENEW_AT }
  }
}

// A deleted account has no keys any more, so the relay refuses every signature.
function accountGone(cause: ClientError): ClientError {
  return new ClientError('ACCOUNT_NOT_FOUND', 'this relay has no account with these keys', {
    cause,
    refusal: 'SIGNATURE_INVALID',
  })
}
