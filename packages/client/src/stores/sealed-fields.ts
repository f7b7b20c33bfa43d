// Seals and opens the secret fields of a store. Only this file decides which fields are secret.
import { openValue, type RandomBytes, sealValue } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import { KEYRING } from './erasure-slots.ts'
import type { SessionRecord, StoreChange, StoredIdentity } from './records.ts'
import { isSealed, SEALED_PREFIX } from './sealed-prefix.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The key of the secrets, and the source of nonces. */
export interface Seal {
  readonly dataKey: Uint8Array
  readonly randomBytes: RandomBytes
}

/** Whether a change holds a secret. */
export function hasSecret(change: StoreChange): boolean {
  return change.change === 'identity' || change.change === 'session' || isKeyring(change)
}

/** Only the keyring is sealed: every other value is sealed under a key in it already. */
function isKeyring(change: StoreChange): change is Extract<StoreChange, { change: 'secret' }> {
  return change.change === 'secret' && change.name === KEYRING && change.value !== undefined
}

/** Seals the secret of a change, if it has one. */
export async function sealChange(seal: Seal, change: StoreChange): Promise<StoreChange> {
  if (change.change === 'identity') return { ...change, identity: await sealIdentity(seal, change.identity) }
  if (change.change === 'session') return { ...change, session: await sealSession(seal, change.session) }
  if (isKeyring(change))
    return { ...change, value: await sealField(seal, change.value ?? '', PLACE_OF_KEYRING) }
  return change
}

/** Opens the secret of a change, if it has one. */
export async function openChange(seal: Seal, change: StoreChange): Promise<StoreChange> {
  if (change.change === 'identity') return { ...change, identity: await openIdentity(seal, change.identity) }
  if (change.change === 'session') return { ...change, session: await openSession(seal, change.session) }
  if (isKeyring(change)) return { ...change, value: await openKeyring(seal, change.value ?? '') }
  return change
}

async function sealIdentity(seal: Seal, identity: StoredIdentity): Promise<StoredIdentity> {
  return { ...identity, mnemonic: await sealField(seal, identity.mnemonic, placeOfPhrase(identity)) }
}

export async function openIdentity(seal: Seal, identity: StoredIdentity): Promise<StoredIdentity> {
  return { ...identity, mnemonic: await openField(seal, identity.mnemonic, placeOfPhrase(identity)) }
}

async function sealSession(seal: Seal, session: SessionRecord): Promise<SessionRecord> {
  return {
    ...session,
    sessionKeyBase64: await sealField(seal, session.sessionKeyBase64, placeOfKey(session)),
  }
}

export async function openSession(seal: Seal, session: SessionRecord): Promise<SessionRecord> {
  return {
    ...session,
    sessionKeyBase64: await openField(seal, session.sessionKeyBase64, placeOfKey(session)),
  }
}

export function openKeyring(seal: Seal, value: string): Promise<string> {
  return openField(seal, value, PLACE_OF_KEYRING)
}

const PLACE_OF_KEYRING = JSON.stringify(['sotto keyring 1'])

// A sealed value is bound to its field, its record and the record's public keys. It does not open if it is
// moved to another contact, or if a public key in its record is replaced.
function placeOfPhrase({ uuid, signingPublicKey, ecdhPublicKey }: StoredIdentity): string {
  return JSON.stringify(['sotto identity.mnemonic 1', uuid, signingPublicKey, ecdhPublicKey])
}

function placeOfKey({ conversationId, theirEcdhPublicKey }: SessionRecord): string {
  return JSON.stringify(['sotto session.sessionKeyBase64 1', conversationId, theirEcdhPublicKey])
}

async function sealField({ dataKey, randomBytes }: Seal, text: string, context: string): Promise<string> {
  const secret = encoder.encode(text)
  try {
    return SEALED_PREFIX + (await sealValue({ key: dataKey, secret, context, randomBytes }))
  } finally {
    secret.fill(0)
  }
}

async function openField({ dataKey }: Seal, text: string, context: string): Promise<string> {
  // Somebody else wrote plain text into a sealed store, so it is refused.
  if (!isSealed(text)) throw altered()
  try {
    const secret = await openValue({ key: dataKey, sealed: text.slice(SEALED_PREFIX.length), context })
    try {
      return decoder.decode(secret)
    } finally {
      secret.fill(0)
    }
  } catch (cause) {
    throw altered(cause)
  }
}

function altered(cause?: unknown): ClientError {
  return new ClientError('STORE_FAILED', 'a sealed secret was altered, or moved from its record', { cause })
}
