// The one identity of a device: creates it, recovers it by its phrase, loads it, and derives its keys.
import {
  deriveIdentityKeys,
  encodeBase64,
  generateMnemonic,
  type IdentityKeys,
  normalizeMnemonic,
  validateMnemonic,
} from '@sotto/crypto'
import { accountEndpoints, Name } from '@sotto/protocol'
import { ClientError, checkArgument } from '../client-error.ts'
import type { Platform } from '../platform/platform.ts'
import type { StoreChange, StoredIdentity } from '../stores/stores.ts'
import { Http } from '../wire/wire.ts'
import { Login } from './login.ts'
import { type NamedAccount, Registration, type RegistrationWatch } from './registration.ts'

/** The input of `create`. */
export interface CreateIdentityInput extends RegistrationWatch {
  /** 1 to 64 characters. The relay and friends see it. */
  readonly nickname: string
  /**
   * The code of an invite, for a relay that asks for one. A refusal is `INVITE_REQUIRED`, `INVITE_INVALID` or
   * `REGISTRATION_CLOSED`.
   */
  readonly invite?: string
  /** The phrase to use. The default is a new one. */
  readonly mnemonic?: string
  /** Overwrites another identity on this device, with everything stored for it. */
  readonly replace?: boolean
}

/** The input of `recover`. */
export interface RecoverIdentityInput extends RegistrationWatch {
  readonly mnemonic: string
  /** Overwrites another identity on this device, with everything stored for it. */
  readonly replace?: boolean
}

/** An identity in use: its record, its keys and its login. */
export interface ActiveIdentity {
  readonly stored: StoredIdentity
  readonly keys: IdentityKeys
  readonly login: Login
  /** Whether the relay has said in this run that the account has this device's agreement key. */
  readonly isKeyProven: boolean
}

/** An identity that has logged in, and the changes that write it to the store. */
export interface PreparedIdentity {
  readonly identity: ActiveIdentity
  readonly changes: readonly StoreChange[]
}

/** Loads the identity saved on this device; undefined if there is none. */
export async function loadIdentity(platform: Platform): Promise<ActiveIdentity | undefined> {
  const stored = await platform.store.getIdentity()
  return stored && activate(platform, stored)
}

/** Derives the keys of a stored identity. @throws ClientError `STORE_FAILED` if they are not its keys */
export async function activate(platform: Platform, stored: StoredIdentity): Promise<ActiveIdentity> {
  const keys = await keysWith(
    stored.ecdhPublicKey,
    stored.mnemonic,
    await deriveIdentityKeys(stored.mnemonic),
  )
  if (!keys || encodeBase64(keys.signing.publicKey) !== stored.signingPublicKey) {
    throw new ClientError('STORE_FAILED', 'the stored phrase and keys do not match')
  }
  const login = new Login(platform, new Http(platform), {
    uuid: stored.uuid,
    signingPrivateKey: keys.signing.privateKey,
  })
  return { stored, keys, login, isKeyProven: false }
}

/** Overwrites the private keys of an identity that is no longer in use. Strings cannot be overwritten. */
export function forgetKeys({ keys, login }: ActiveIdentity): void {
  login.forget()
  keys.signing.privateKey.fill(0)
  keys.agreement.privateKey.fill(0)
}

/**
 * Registers an identity. If the phrase already has an account, recovers that account. Resolves only after a
 * login has proved that the account belongs to this phrase, so a false account is never stored.
 */
export async function createIdentity(
  platform: Platform,
  input: CreateIdentityInput,
): Promise<PreparedIdentity> {
  const nickname = checkNickname(input.nickname)
  const mnemonic = await phraseOf(input.mnemonic ?? (await generateMnemonic(platform.random)))
  await checkReplace(platform, mnemonic, input.replace)
  const registration = await Registration.begin(platform, mnemonic, input)
  const account = await registration.register(nickname, input.invite)
  return settle(platform, mnemonic, registration, account, { ...input, nickname })
}

/**
 * Recovers the account of a phrase.
 * @throws ClientError `ACCOUNT_NOT_FOUND` if the relay has no account for it
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
  const login = await registration.logIn(account)
  let { keys } = registration
  let { nickname } = input
  if (account.recovered || nickname === undefined) {
    const http = new Http(platform)
    http.useTokens(login)
    const me = await http.call(accountEndpoints.getMe, {}, { signal: input.signal })
    nickname = me.nickname
    const fitting = await keysWith(me.x25519_public_key, mnemonic, keys)
    if (!fitting) throw accountKeyMismatch()
    keys = fitting
  }
  const stored: StoredIdentity = {
    uuid: account.uuid,
    aliasId: account.aliasId,
    nickname,
    mnemonic,
    signingPublicKey: encodeBase64(keys.signing.publicKey),
    ecdhPublicKey: encodeBase64(keys.agreement.publicKey),
  }
  const before = await platform.store.getIdentity()
  // With another agreement key, the stored sessions are of no use.
  const same =
    before?.mnemonic === mnemonic &&
    before.uuid === account.uuid &&
    before.ecdhPublicKey === stored.ecdhPublicKey
  if (before && !same && !input.replace) throw identityExists()
  const changes: StoreChange[] = [{ change: 'identity', identity: stored }]
  // A store without an identity can still hold something: of an import that a crash interrupted, or of a
  // damaged file. Nothing says which account and key it belongs to.
  if (!same) changes.unshift({ change: 'clear' })
  registration.checkNotAborted()
  return { identity: { stored, keys, login, isKeyProven: true }, changes }
}

/**
 * The keys of a phrase that include this agreement key; undefined if the phrase does not give it.
 * @param keys those at index 0. The pairs that are replaced are overwritten.
 */
async function keysWith(
  agreementKey: string,
  mnemonic: string,
  keys: IdentityKeys,
): Promise<IdentityKeys | undefined> {
  if (encodeBase64(keys.agreement.publicKey) === agreementKey) return keys
  const other = await deriveIdentityKeys(mnemonic, 1)
  keys.agreement.privateKey.fill(0)
  other.signing.privateKey.fill(0)
  const { agreement } = other
  return encodeBase64(agreement.publicKey) === agreementKey ? { ...keys, agreement } : undefined
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

/**
 * Returns the nickname as the relay keeps it: cleaned and trimmed.
 * @throws ClientError `INVALID_ARGUMENT` if it is not valid
 */
export function checkNickname(text: string): string {
  return checkArgument(Name, text, 'a nickname has 1 to 64 characters, not only spaces or invisible ones')
}

/** The error for an account that has another agreement key at the relay than this device. */
export function accountKeyMismatch(): ClientError {
  return new ClientError('ACCOUNT_KEY_MISMATCH', 'the relay has another key for this account')
}

function identityExists(): ClientError {
  return new ClientError('IDENTITY_EXISTS', 'this device holds another identity')
}
