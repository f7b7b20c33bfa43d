// The two secret fields of a store, sealed and opened. Which they are stands here and nowhere else.
import { openValue, type RandomBytes, sealValue } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import type { SessionRecord, StoreChange, StoredIdentity } from './records.ts'

/** What a sealed field begins with. Neither a phrase nor Base64 has a colon. */
const PREFIX = 'sealed:1:'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The key of the secrets, and where nonces come from. */
export interface Seal {
  readonly dataKey: Uint8Array
  readonly randomBytes: RandomBytes
}

/** A change as it may lie in a store. */
export function sealChange(seal: Seal, change: StoreChange): StoreChange {
  if (change.change === 'identity') return { ...change, identity: sealIdentity(seal, change.identity) }
  if (change.change === 'session') return { ...change, session: sealSession(seal, change.session) }
  return change
}

export function sealIdentity(seal: Seal, identity: StoredIdentity): StoredIdentity {
  return { ...identity, mnemonic: sealField(seal, identity.mnemonic, placeOfPhrase(identity)) }
}

export function openIdentity(seal: Seal, identity: StoredIdentity): StoredIdentity {
  return { ...identity, mnemonic: openField(seal, identity.mnemonic, placeOfPhrase(identity)) }
}

export function sealSession(seal: Seal, session: SessionRecord): SessionRecord {
  return { ...session, sessionKeyBase64: sealField(seal, session.sessionKeyBase64, placeOfKey(session)) }
}

export function openSession(seal: Seal, session: SessionRecord): SessionRecord {
  return { ...session, sessionKeyBase64: openField(seal, session.sessionKeyBase64, placeOfKey(session)) }
}

/** Whether a field holds a sealed value. */
export function isSealed(field: string): boolean {
  return field.startsWith(PREFIX)
}

// A value is bound to its field, its record and the keys that the record says it goes with: moved to another contact, or
// with another's public key beside it, it does not open.
function placeOfPhrase({ uuid, signingPublicKey, ecdhPublicKey }: StoredIdentity): string {
  return JSON.stringify(['sotto identity.mnemonic 1', uuid, signingPublicKey, ecdhPublicKey])
}

function placeOfKey({ conversationId, theirEcdhPublicKey }: SessionRecord): string {
  return JSON.stringify(['sotto session.sessionKeyBase64 1', conversationId, theirEcdhPublicKey])
}

function sealField({ dataKey, randomBytes }: Seal, text: string, context: string): string {
  const secret = encoder.encode(text)
  try {
    return PREFIX + sealValue({ key: dataKey, secret, context, randomBytes })
  } finally {
    secret.fill(0)
  }
}

function openField({ dataKey }: Seal, text: string, context: string): string {
  // Plain text in a sealed store was put there by someone else, and is not taken for ours.
  if (!isSealed(text)) throw altered()
  try {
    const secret = openValue({ key: dataKey, sealed: text.slice(PREFIX.length), context })
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
