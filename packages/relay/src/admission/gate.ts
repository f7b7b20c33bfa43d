// Decides in the transaction of a registration whether it may go on.
import { ProtocolError, type RegistrationMode } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Sql } from '../storage/storage.ts'
import { useInvite } from './invites.ts'

/**
 * Uses the invite up if the relay asks for one. If the transaction is undone, so is this.
 * @returns why the registration is refused; undefined if it may go on
 */
export type Gate = (sql: Sql, invite: string | undefined) => Promise<ProtocolError | undefined>

export function openGate({ registration, clock }: { registration: RegistrationMode; clock: Clock }): Gate {
  return async (sql, invite) => {
    if (registration === 'open') return undefined
    if (registration === 'closed') return new ProtocolError('REGISTRATION_CLOSED')
    if (invite === undefined) return new ProtocolError('INVITE_REQUIRED')
    const state = await useInvite(sql, invite, clock.now())
    if (state === 'open') return undefined
    return new ProtocolError('INVITE_INVALID', { field: 'invite', rule: rules[state] })
  }
}

const rules = {
  unknown: 'is not one of this relay',
  used_up: 'is used up',
  expired: 'has ended',
  revoked: 'was revoked',
} as const
