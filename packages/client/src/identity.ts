// The one identity of a device: made, recovered by its phrase, saved, and its keys.
import {
  deriveIdentityKeys,
  encodeBase64,
  generateMnemonic,
  type IdentityKeys,
  normalizeMnemonic,
  solveProofOfWorkInSteps,
  validateMnemonic,
} from '@sotto/crypto'
import { AccountUuid, AliasId, check, Nickname } from '@sotto/protocol'
import { asClientError, ClientError } from './client-error.ts'
import { delay } from './clock.ts'
import { Http } from './http.ts'
import { Login } from './login.ts'
import type { Platform } from './options.ts'
import type { StoreChange, StoredIdentity } from './stores/records.ts'

const REGISTER_ATTEMPTS = 3
/** How far past the expected work to search before giving a challenge up. */
const WORK_FACTOR = 64

/** What making an identity takes. */
export interface CreateIdentityInput {
  /** 1 to 64 characters; the relay and friends see it. */
  readonly nickname: string
  /** A phrase to use; a new one is made unless told. */
  readonly mnemonic?: string
  /** Overwrites another identity on this device, with everything stored for it. */
  readonly replace?: boolean
}

/** What recovering an identity takes. */
export interface RecoverIdentityInput {
  readonly mnemonic: string
  /** Overwrites another identity on this device, with everything stored for it. */
  readonly replace?: boolean
}

/** An identity at work: who it is, its keys and its login. */
export interface ActiveIdentity {
  readonly stored: StoredIdentity
  readonly keys: IdentityKeys
  readonly login: Login
}

/** An identity that has logged in, and what writing it to the store takes. */
export interface PreparedIdentity {
  readonly identity: ActiveIdentity
  readonly changes: readonly StoreChange[]
}

interface Account {
  readonly uuid: AccountUuid
  readonly aliasId: AliasId
  readonly recovered: boolean
}

/** The identity saved on this device, ready to log in, or undefined where none is. */
export async function loadIdentity(platform: Platform): Promise<ActiveIdentity | undefined> {
  const stored = await platform.store.getIdentity()
  if (!stored) return undefined
  const keys = deriveIdentityKeys(stored.mnemonic)
  if (encodeBase64(keys.signing.publicKey) !== stored.signingPublicKey) {
    throw new ClientError('STORE_FAILED', 'the stored phrase is not that of the stored keys')
  }
  const login = new Login(platform, new Http(platform), {
    uuid: stored.uuid,
    signingPrivateKey: keys.signing.privateKey,
  })
  return { stored, keys, login }
}

/**
 * Registers an identity. A phrase that has an account already recovers that account. There is nothing to save before a
 * login has proved that the account is this phrase's.
 */
export async function createIdentity(
  platform: Platform,
  input: CreateIdentityInput,
): Promise<PreparedIdentity> {
  const nickname = checkNickname(input.nickname)
  const mnemonic = phraseOf(input.mnemonic ?? generateMnemonic(platform.random))
  const keys = deriveIdentityKeys(mnemonic)
  await checkReplace(platform, mnemonic, input.replace)
  return settle(platform, mnemonic, keys, await register(platform, keys, nickname), nickname, input.replace)
}

/**
 * Recovers the account of a phrase.
 * @throws ClientError `ACCOUNT_NOT_FOUND` where the relay has none for it.
 */
export async function recoverIdentity(
  platform: Platform,
  input: RecoverIdentityInput,
): Promise<PreparedIdentity> {
  const mnemonic = phraseOf(input.mnemonic)
  const keys = deriveIdentityKeys(mnemonic)
  await checkReplace(platform, mnemonic, input.replace)
  return settle(platform, mnemonic, keys, await findAccount(platform, keys), undefined, input.replace)
}

async function settle(
  platform: Platform,
  mnemonic: string,
  keys: IdentityKeys,
  account: Account,
  nickname: string | undefined,
  replace: boolean | undefined,
): Promise<PreparedIdentity> {
  const http = new Http(platform)
  const login = new Login(platform, http, { uuid: account.uuid, signingPrivateKey: keys.signing.privateKey })
  http.useTokens(login)
  // That an account exists is the relay's claim until it accepts a signature for it.
  await login.getToken()
  const name =
    account.recovered || nickname === undefined ? (await http.call('getMe', {})).nickname : nickname
  const stored: StoredIdentity = {
    uuid: account.uuid,
    aliasId: account.aliasId,
    nickname: name,
    mnemonic,
    signingPublicKey: encodeBase64(keys.signing.publicKey),
    ecdhPublicKey: encodeBase64(keys.agreement.publicKey),
  }
  const before = await platform.store.getIdentity()
  const same = before?.mnemonic === mnemonic && before.uuid === account.uuid
  if (before && !same && !replace) throw identityExists()
  const changes: StoreChange[] = [{ change: 'identity', identity: stored }]
  if (before && !same) changes.unshift({ change: 'clear' })
  return { identity: { stored, keys, login }, changes }
}

async function register(platform: Platform, keys: IdentityKeys, nickname: string): Promise<Account> {
  const http = new Http(platform)
  for (let attempt = 1; ; attempt += 1) {
    const work = await http.call('powChallenge', {})
    try {
      const pow_nonce = await solveProofOfWorkInSteps({
        challenge: work.challenge_string,
        difficulty: work.difficulty,
        maxAttempts: WORK_FACTOR * 16 ** work.difficulty,
        pause: () => delay(platform.clock, 0),
      })
      const body = { ...publicKeysOf(keys), nickname, pow_nonce, pow_challenge: work.challenge_string }
      const reply = await http.call('register', { body })
      return { uuid: reply.uuid, aliasId: reply.alias_id, recovered: false }
    } catch (thrown) {
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

// Registering without work: a known key answers with its account before any work is looked at.
async function findAccount(platform: Platform, keys: IdentityKeys): Promise<Account> {
  try {
    const reply = await new Http(platform).call('register', {
      body: { ...publicKeysOf(keys), nickname: 'recovery' },
    })
    return { uuid: reply.uuid, aliasId: reply.alias_id, recovered: false }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    const account = existingAccount(error)
    if (account) return account
    if (error.refusal !== 'POW_REQUIRED' && error.refusal !== 'POW_INVALID') throw error
    throw new ClientError('ACCOUNT_NOT_FOUND', 'this relay has no account for these words', { cause: error })
  }
}

function existingAccount(error: ClientError): Account | undefined {
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

async function checkReplace(
  platform: Platform,
  mnemonic: string,
  replace: boolean | undefined,
): Promise<void> {
  const before = await platform.store.getIdentity()
  if (before && before.mnemonic !== mnemonic && !replace) throw identityExists()
}

function publicKeysOf(keys: IdentityKeys): { ed25519_public_key: string; x25519_public_key: string } {
  return {
    ed25519_public_key: encodeBase64(keys.signing.publicKey),
    x25519_public_key: encodeBase64(keys.agreement.publicKey),
  }
}

function phraseOf(text: string): string {
  if (!validateMnemonic(text))
    throw new ClientError('INVALID_PHRASE', 'these are not the 12 words of a recovery phrase')
  return normalizeMnemonic(text)
}

/** The nickname, if it is one. */
export function checkNickname(text: string): string {
  try {
    return check(Nickname, text.trim())
  } catch {
    throw new ClientError('INVALID_ARGUMENT', 'a nickname has 1 to 64 characters, and no control characters')
  }
}

function identityExists(): ClientError {
  return new ClientError('IDENTITY_EXISTS', 'this device holds another identity')
}
