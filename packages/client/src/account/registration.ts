// Registers or recovers an account in six steps (keys, work, registration, login), with progress, and can be
// aborted.
import { deriveIdentityKeys, encodeBase64, type IdentityKeys } from '@sotto/crypto'
import { AccountUuid, AliasId, accountEndpoints, type BodyOf, check } from '@sotto/protocol'
import { asClientError, ClientError, throwIfAborted } from '../client-error.ts'
import type { Platform } from '../platform/platform.ts'
import { Http } from '../wire/wire.ts'
import { Login } from './login.ts'
import { solveInSlices } from './proof-of-work.ts'

const REGISTER_ATTEMPTS = 3
/** A challenge is abandoned after this multiple of the expected attempts. */
const WORK_FACTOR = 64

/** The six steps of a registration, in order. A recovery skips `proof_of_work`. */
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

/** The progress of a registration. Reported when a step begins, and repeatedly during the work. */
export interface RegistrationProgress {
  readonly step: RegistrationStep
  /**
   * The step's number, 1 to 6. It goes back if a step has to be repeated, for example after an expired
   * challenge.
   */
  readonly number: number
  /**
   * During `proof_of_work`: the number of attempts divided by the average number that it takes. The work is a
   * matter of luck: it may end at 0.1, and one time in three it goes beyond 1.
   */
  readonly shareOfExpectedWork?: number
}

/** Watches a registration, and can abort it. */
export interface RegistrationWatch {
  /** Called for each step. If it throws, the registration fails with `HANDLER_FAILED`. */
  readonly onProgress?: (progress: RegistrationProgress) => void
  /** Aborts the registration, which then throws `ABORTED` and changes nothing on this device. */
  readonly signal?: AbortSignal
}

/** An account that the relay names. */
export interface NamedAccount {
  readonly uuid: AccountUuid
  readonly aliasId: AliasId
  /** Whether the account existed before. */
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

  /** Registers the keys, or finds the account that they already have. */
  async register(nickname: string, invite: string | undefined): Promise<NamedAccount> {
    const { signal } = this.#watch
    for (let attempt = 1; ; attempt += 1) {
      begin(this.#watch, 'proof_of_work')
      const work = await this.#http.call(accountEndpoints.powChallenge, {}, { signal })
      try {
        const pow_nonce = await this.#work(work.challenge_string, work.difficulty)
        return await this.#send({ nickname, invite, pow_nonce, pow_challenge: work.challenge_string })
      } catch (thrown) {
        throwIfAborted(signal)
        const error = asClientError(thrown, 'BAD_REPLY')
        const account = existingAccount(error)
        if (account) return account
        // The challenge expired during the work, or had no solution within the limit.
        const stale =
          error.refusal === 'POW_INVALID' || error.refusal === 'POW_REQUIRED' || error.code === 'BAD_REPLY'
        if (!stale || attempt >= REGISTER_ATTEMPTS) throw error
      }
    }
  }

  /**
   * Finds the account of the keys. For a known key the relay answers with its account before it checks any
   * work.
   * @throws ClientError `ACCOUNT_NOT_FOUND`
   */
  async find(): Promise<NamedAccount> {
    try {
      return await this.#send({ nickname: 'recovery' })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      const account = existingAccount(error)
      if (account) return account
      if (error.refusal !== 'POW_REQUIRED' && error.refusal !== 'POW_INVALID') throw error
      throw new ClientError('ACCOUNT_NOT_FOUND', 'this relay has no account with these keys', {
        cause: error,
      })
    }
  }

  /** Logs in. Only an accepted signature proves the relay's claim that the account belongs to these keys. */
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
    const { solveProofOfWork, clock } = this.#platform
    return (solveProofOfWork ?? solveInSlices(clock))({
      challenge,
      difficulty,
      maxAttempts: WORK_FACTOR * expected,
      onProgress: (attempts) => begin(this.#watch, 'proof_of_work', attempts / expected),
      signal: this.#watch.signal,
    })
  }

  /** Sends the keys to the relay to register them. */
  async #send(fields: Omit<BodyOf<'register'>, `${string}_public_key`>): Promise<NamedAccount> {
    begin(this.#watch, 'register')
    const body = {
      ...fields,
      ed25519_public_key: encodeBase64(this.keys.signing.publicKey),
      x25519_public_key: encodeBase64(this.keys.agreement.publicKey),
    }
    const { signal } = this.#watch
    const reply = await this.#http.call(accountEndpoints.register, { body }, { signal })
    return { uuid: reply.uuid, aliasId: reply.alias_id, recovered: false }
  }
}

/** Reports a step. @throws ClientError `ABORTED` if the registration was aborted */
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
    throw new ClientError('BAD_REPLY', 'the relay names an invalid account')
  }
}
