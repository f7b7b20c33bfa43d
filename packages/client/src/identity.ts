// The one identity of a device: made, recovered by its phrase, saved, and its keys.
import {
  deriveIdentityKeys,
  encodeBase64,
  generateMnemonic,
  type IdentityKeys,
  normalizeMnemonic,
  validateMnemonic,
} from '@sotto/crypto'
import { accountEndpoints, check, Nickname } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Http } from './http.ts'
import { Login } from './login.ts'
import type { Platform } from './options.ts'
import { type NamedAccount, Registration, type RegistrationWatch } from './registration.ts'
import type { StoreChange, StoredIdentity } from './stores/records.ts'

/** What making an identity takes. */
export interface CreateIdentityInput extends RegistrationWatch {
  /** 1 to 64 characters; the relay and friends see it. */
  readonly nickname: string
  /** A phrase to use; a new one is made unless told. */
  readonly mnemonic?: string
  /** Overwrites another identity on this device, with everything stored for it. */
  readonly replace?: boolean
}

/** What recovering an identity takes. */
export interface RecoverIdentityInput extends RegistrationWatch {
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

/** The identity saved on this device, ready to log in, or undefined where none is. */
export async function loadIdentity(platform: Platform): Promise<ActiveIdentity | undefined> {
  const stored = await platform.store.getIdentity()
  if (!stored) return undefined
  const keys = await deriveIdentityKeys(stored.mnemonic)
  if (encodeBase64(keys.signing.publicKey) !== stored.signingPublicKey) {
    throw new ClientError('STORE_FAILED', 'the stored phrase is not that of the stored keys')
  }
  const login = new Login(platform, new Http(platform), {
    uuid: stored.uuid,
    signingPrivateKey: keys.signing.privateKey,
  })
  return { stored, keys, login }
}

/** Overwrites the private keys of an identity that is no longer at work. Of strings there is no overwriting. */
export function forgetKeys({ keys, login }: ActiveIdentity): void {
  login.forget()
  keys.signing.privateKey.fill(0)
  keys.agreement.privateKey.fill(0)
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
  const mnemonic = await phraseOf(input.mnemonic ?? (await generateMnemonic(platform.random)))
  await checkReplace(platform, mnemonic, input.replace)
  const registration = await Registration.begin(platform, mnemonic, input)
  const account = await registration.register(nickname)
  return settle(platform, mnemonic, registration, account, { ...input, nickname })
}

/**
 * Recovers the account of a phrase.
 * @throws ClientError `ACCOUNT_NOT_FOUND` where the relay has none for it.
 */
export async function recoverIdentity(
  platform: Platform,
  input: RecoverIdentityInput,
): Promise<PreparedIdentity> {
  const mnemonic = await phraseOf(input.mnemonic)
  await checkReplace(platform, mnemonic, input.replace)
  const registration = await Registration.begin(platform, mnemonic, input)
  return settle(platform, mnemonic, registration, await registration.find(), input)
}

async function settle(
  platform: Platform,
  mnemonic: string,
  registration: Registration,
  account: NamedAccount,
  input: { readonly nickname?: string; readonly replace?: boolean; readonly signal?: AbortSignal },
): Promise<PreparedIdentity> {
  const { keys } = registration
  const login = await registration.logIn(account)
  const http = new Http(platform)
  http.useTokens(login)
  const nickname =
    account.recovered || input.nickname === undefined
      ? (await http.call(accountEndpoints.getMe, {}, { signal: input.signal })).nickname
      : input.nickname
  const stored: StoredIdentity = {
    uuid: account.uuid,
    aliasId: account.aliasId,
    nickname,
    mnemonic,
    signingPublicKey: encodeBase64(keys.signing.publicKey),
    ecdhPublicKey: encodeBase64(keys.agreement.publicKey),
  }
  const before = await platform.store.getIdentity()
  const same = before?.mnemonic === mnemonic && before.uuid === account.uuid
  if (before && !same && !input.replace) throw identityExists()
  const changes: StoreChange[] = [{ change: 'identity', identity: stored }]
  if (before && !same) changes.unshift({ change: 'clear' })
  registration.checkNotAborted()
  return { identity: { stored, keys, login }, changes }
}

async function checkReplace(
  platform: Platform,
  mnemonic: string,
  replace: boolean | undefined,
): Promise<void> {
  const before = await platform.store.getIdentity()
  if (before && before.mnemonic !== mnemonic && !replace) throw identityExists()
}

async function phraseOf(text: string): Promise<string> {
  if (!(await validateMnemonic(text)))
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
