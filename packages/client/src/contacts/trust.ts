// Trust: verifies contacts by their security code, and tells which contacts are verified.
import { formatSecurityCode } from '@sotto/crypto'
import type { Clock } from '../platform/platform.ts'
import type { ClientStore, SessionRecord, TrustState } from '../stores/stores.ts'
import type { SecurityCode } from './security-code.ts'
import type { Sessions } from './sessions.ts'

export function securityCodeOf(sessions: Sessions, contact: string): SecurityCode {
  const { theirAliasId: contactId, theirEcdhPublicKey } = sessions.get(contact)
  const fingerprintHex = sessions.fingerprintOf(theirEcdhPublicKey)
  return { contactId, displayCode: formatSecurityCode(fingerprintHex), fingerprintHex }
}

/** A contact counts as verified only while the code that was compared belongs to the keys in use. */
export async function stateOf(sessions: Sessions, contact: string, store: ClientStore): Promise<TrustState> {
  const trust = await store.getTrust(sessions.get(contact).conversationId)
  // The keys may have changed meanwhile.
  return held(sessions, sessions.get(contact), trust)
}

/** What a stored trust says of the keys that the contact has now. */
export function held(sessions: Sessions, session: SessionRecord, trust: TrustState): TrustState {
  const isOfOtherKeys =
    trust.status === 'verified' &&
    trust.fingerprintSnapshot !== sessions.fingerprintOf(session.theirEcdhPublicKey)
  return isOfOtherKeys ? { status: 'unverified' } : trust
}

/** Compares a code that the user typed. If it matches, the contact becomes verified. */
export async function verifyCode(
  sessions: Sessions,
  contact: string,
  code: string,
  clock: Clock,
): Promise<boolean> {
  const typed = code.replace(/[\s-]/g, '').toLowerCase()
  if (typed !== securityCodeOf(sessions, contact).fingerprintHex) return false
  await markVerified(sessions, contact, clock)
  return true
}

export function markVerified(sessions: Sessions, contact: string, clock: Clock): Promise<void> {
  const { fingerprintHex } = securityCodeOf(sessions, contact)
  const verifiedAt = clock.now()
  return sessions.setTrust(contact, { status: 'verified', verifiedAt, fingerprintSnapshot: fingerprintHex })
}
