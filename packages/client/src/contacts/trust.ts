// Trust: verifies contacts by their security code, and tells which contacts are verified.
import type { Clock } from '../platform/platform.ts'
import type { ClientStore, TrustState } from '../stores/stores.ts'
import { describeSecurityCode, type SecurityCode } from './security-code.ts'
import type { Sessions } from './sessions.ts'

export function securityCodeOf(sessions: Sessions, contact: string): SecurityCode {
  const session = sessions.get(contact)
  return describeSecurityCode(session.theirAliasId, sessions.fingerprintOf(session.theirEcdhPublicKey))
}

/** A contact counts as verified only while the code that was compared belongs to the keys in use. */
export async function trustStateOf(
  sessions: Sessions,
  contact: string,
  store: ClientStore,
): Promise<TrustState> {
  const { fingerprintHex } = securityCodeOf(sessions, contact)
  const trust = await store.getTrust(sessions.get(contact).conversationId)
  const holds = trust.status === 'verified' && trust.fingerprintSnapshot === fingerprintHex
  return holds ? trust : { status: 'unverified' }
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
