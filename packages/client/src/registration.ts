// The way to an account at the relay: keys, work, registration, login. Six steps, told one by one, that can be ended.
import { deriveIdentityKeys, encodeBase64, type IdentityKeys } from '@sotto/crypto'
import { AccountUuid, AliasId, accountEndpoints, check } from '@sotto/protocol'
import { asClientError, ClientError, throwIfAborted } from './client-error.ts'
import { Http } from './http.ts'
import { Login } from './login.ts'
import type { Platform } from './options.ts'

const REGISTER_ATTEMPTS = 3
/** How far past the expected work to search before giving a challenge up. */
const WORK_FACTOR = 64

/** The six steps of a registration, in order. A recovery leaves `proof_of_work` out. */
export const REGISTRATION_STEPS = [
  'derive_keys',
  'proof_of_work',
  'register',
  'challenge',
  'sign',
  'verify',
] as const
/** See {@link REGISTRATION_STEPS}. */
export type RegistrationStep = (typeof REGISTRATION_STEPS)[number]

/** How far a registration has come. Told when a step begins, and now and then during the work. */
export interface RegistrationProgress {
  readonly step: RegistrationStep
  /** The step's number, 1 to 6. It goes back where something has to be done again: a challenge that went stale. */
  readonly number: number
  /**
   * During `proof_of_work`: the attempts made so far as a share of those it takes on average. Work is luck: it may be done
   * at 0.1, and one time in three goes beyond 1.
   */
  readonly shareOfExpectedWork?: number
}

/** What watches a registration and can end it. */
export interface RegistrationWatch {
  /** Told of each step. What it throws ends the registration, as `HANDLER_FAILED`. */
  readonly onProgress?: (progress: RegistrationProgress) => void
  /** Ends the registration, which then throws `ABORTED`; nothing on this device has changed then. */
  readonly signal?: AbortSignal
}

/** An account the relay names. */
export interface NamedAccount {
  readonly uuid: AccountUuid
  readonly aliasId: AliasId
  /** Whether it was there before. */
  readonly recovered: boolean
}

/** The registration of one phrase. */
export class Registration {
  readonly keys: IdentityKeys
  readonly #platform: Platform
  readonly #watch: RegistrationWatch
  readonly #http: Http

  private constructor(platform: Platform, keys: IdentityKeys, watch: RegistrationWatch) {
    this.keys = keys
    this.#platform = platform
    this.#watch = watch
    this.#http = new Http(platform)
  }

  /** Derives the keys. @param mnemonic a valid phrase, normalised */
  static async begin(platform: Platform, mnemonic: string, watch: RegistrationWatch): Promise<Registration> {
    begin(watch, 'derive_keys')
    return new Registration(platform, await deriveIdentityKeys(mnemonic), watch)
  }

  /** Registers the keys, or finds the account they have already. */
  async register(nickname: string): Promise<NamedAccount> {
    const { signal } = this.#watch
    for (let attempt = 1; ; attempt += 1) {
      begin(this.#watch, 'proof_of_work')
      const work = await this.#http.call(accountEndpoints.powChallenge, {}, { signal })
      try {
        const pow_nonce = await this.#work(work.challenge_string, work.difficulty)
        begin(this.#watch, 'register')
        const body = { ...this.#publicKeys(), nickname, pow_nonce, pow_challenge: work.challenge_string }
        const reply = await this.#http.call(accountEndpoints.register, { body }, { signal })
        return { uuid: reply.uuid, aliasId: reply.alias_id, recovered: false }
      } catch (thrown) {
        throwIfAborted(signal)
        const error = asClientError(thrown, 'BAD_REPLY')
        const account = existingAccount(error)
        if (account) return account
        // The challenge went stale while the work was done, or this one had no solution within reason.
        const stale =
          error.refusal === 'POW_INVALID' || error.refusal === 'POW_REQUIRED' || error.code === 'BAD_REPLY'
        if (!stale || attempt >= REGISTER_ATTEMPTS) throw error
      }
    }
  }

  /**
   * Finds the account of the keys: a known key answers with its account before any work is looked at.
   * @throws ClientError `ACCOUNT_NOT_FOUND`
   */
  async find(): Promise<NamedAccount> {
    begin(this.#watch, 'register')
    const body = { ...this.#publicKeys(), nickname: 'recovery' }
    try {
      const reply = await this.#http.call(accountEndpoints.register, { body }, { signal: this.#watch.signal })
      return { uuid: reply.uuid, aliasId: reply.alias_id, recovered: false }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      const account = existingAccount(error)
      if (account) return account
      if (error.refusal !== 'POW_REQUIRED' && error.refusal !== 'POW_INVALID') throw error
      throw new ClientError('ACCOUNT_NOT_FOUND', 'this relay has no account for these words', {
        cause: error,
      })
    }
  }

  /** Logs in: that the account is that of the keys is the relay's claim until it accepts a signature for it. */
  async logIn(account: NamedAccount): Promise<Login> {
    const { signing } = this.keys
    const login = new Login(this.#platform, this.#http, {
      uuid: account.uuid,
      signingPrivateKey: signing.privateKey,
    })
    await login.logIn({ onStep: (step) => begin(this.#watch, step), signal: this.#watch.signal })
    return login
  }

  /** @throws ClientError `ABORTED` */
  checkNotAborted(): void {
    throwIfAborted(this.#watch.signal)
  }

  #work(challenge: string, difficulty: number): Promise<string> {
    const expected = 16 ** difficulty
    return this.#platform.solveProofOfWork({
      challenge,
      difficulty,
      maxAttempts: WORK_FACTOR * expected,
      onProgress: (attempts) => begin(this.#watch, 'proof_of_work', attempts / expected),
      signal: this.#watch.signal,
    })
  }

  #publicKeys(): { ed25519_public_key: string; x25519_public_key: string } {
    return {
      ed25519_public_key: encodeBase64(this.keys.signing.publicKey),
      x25519_public_key: encodeBase64(this.keys.agreement.publicKey),
    }
  }
}

/** Tells of a step, unless all has been ended. */
function begin(watch: RegistrationWatch, step: RegistrationStep, shareOfExpectedWork?: number): void {
  throwIfAborted(watch.signal)
  const number = REGISTRATION_STEPS.indexOf(step) + 1
  try {
    watch.onProgress?.({
      step,
      number,
      ...(shareOfExpectedWork === undefined ? {} : { shareOfExpectedWork }),
    })
  } catch (cause) {
    throw new ClientError('HANDLER_FAILED', 'onProgress threw', { cause })
  }
}

function existingAccount(error: ClientError): NamedAccount | undefined {
  if (error.refusal !== 'ACCOUNT_EXISTS' || !error.account) return undefined
  try {
    return {
      uuid: check(AccountUuid, error.account.uuid),
      aliasId: check(AliasId, error.account.alias_id),
      recovered: true,
    }
  } catch {
    throw new ClientError('BAD_REPLY', 'the relay names an account that cannot be one')
  }
}
