// Trust: the code two people compare, and which contacts are verified by it.
import { formatSecurityCode } from '@sotto/crypto'
import type { Clock } from './options.ts'
import type { Sessions } from './sessions.ts'
import type { TrustState } from './stores/records.ts'
import type { ClientStore } from './stores/store.ts'

/** The code two people compare. `fingerprintHex` is it bare, `displayCode` in groups of 4. */
export interface SecurityCode {
  readonly contactId: string
  readonly displayCode: string
  readonly fingerprintHex: string
}

export function securityCodeOf(sessions: Sessions, contact: string): SecurityCode {
  const session = sessions.get(contact)
  const fingerprintHex = sessions.fingerprintOf(session.theirEcdhPublicKey)
  return {
    contactId: session.theirAliasId,
    displayCode: formatSecurityCode(fingerprintHex),
    fingerprintHex,
  }
}

/** Verified only while the code that was compared is the code of the keys in use. */
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

/** Compares a code someone read out or typed; the contact is verified if it is the same. */
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
