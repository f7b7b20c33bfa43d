// Proving to a relay who one is: challenge, signature, token; and renewing the token before it ends.
import { parseAuthChallenge, signAuthChallenge } from '@sotto/crypto'
import { type AccountUuid, accountEndpoints } from '@sotto/protocol'
import { ClientError, throwIfAborted } from './client-error.ts'
import { Backoff, delay } from './clock.ts'
import { type Http, type TokenSource, waitBeforeRetry } from './http.ts'
import type { Platform } from './options.ts'

/** A token is renewed once this share of its life has passed. */
const RENEW_AT = 0.8
const ATTEMPTS = 3
const RETRY = { firstMs: 250, maxMs: 2000 }

/** Who logs in. */
export interface LoginIdentity {
  readonly uuid: AccountUuid
  readonly signingPrivateKey: Uint8Array
}

/** What a login can be watched and ended by. */
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
   * A token that should be alive, fetched where there is none. Calls at the same time share one login.
   * @throws ClientError `CHALLENGE_REFUSED`, and what calls of the relay may throw.
   */
  async getToken(): Promise<string> {
    if (this.#token && this.#platform.clock.now() < this.#token.renewAt) return this.#token.value
    this.#pending ??= this.#logIn({}).finally(() => {
      this.#pending = undefined
    })
    this.#token = await this.#pending
    return this.#token.value
  }

  /** Logs in now, whether there is a token or not. @throws as `getToken`, and `ABORTED` */
  async logIn(watch: LoginWatch): Promise<void> {
    this.#token = await this.#logIn(watch)
  }

  dropToken(token: string): void {
    if (this.#token?.value === token) this.#token = undefined
  }

  /** Forgets the token, whatever it is. */
  dropAnyToken(): void {
    this.#token = undefined
  }

  /** Forgets the token, and signs nothing more: the key is about to be zeros. */
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
        // The challenge expired, or was spent on an answer that got lost: a new one helps.
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
    // Else one relay could pass on the challenge of another, and log in there with our signature.
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
      { body: { user_uuid: uuid, challenge, signature } },
      { retry: 'none', signal },
    )
    return { value: reply.token, renewAt: askedAt + reply.expires_in * 1000 * RENEW_AT }
  }
}

// An account that was deleted has no keys any more: what is signed with these is nobody's signature.
function accountGone(cause: ClientError): ClientError {
  return new ClientError('ACCOUNT_NOT_FOUND', 'this relay has no account with these keys', {
    cause,
    refusal: 'SIGNATURE_INVALID',
  })
}
