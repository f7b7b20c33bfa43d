// Checks tickets and tokens, and finds the account that may open a WebSocket or call an endpoint.
import { AccountUuid, type EndpointName, ProtocolError } from '@sotto/protocol'
import * as v from 'valibot'
import type { Admission, DeadTokenReason } from '../gateway/gateway.ts'
import type { Credentials } from '../listener/listener.ts'
import type { Caller } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import { type AccountId, list, query, type Storage } from '../storage/storage.ts'
import { mayCallSuspended, suspended } from './suspensions.ts'
import type { Tickets } from './tickets.ts'
import type { TokenState, Tokens } from './tokens.ts'

/**
 * Why the tokens of connections, at least one, may open no WebSocket any more, in their order; undefined for
 * each that still may.
 */
export async function deadTokenReasonsOf(
  owners: readonly { account: AccountId; jti: string }[],
  { storage, tokens }: Pick<Parts, 'storage' | 'tokens'>,
): Promise<(DeadTokenReason | undefined)[]> {
  const accounts = await storage.sql<{ id: AccountId; logged_out_at: number }>(
    ...query`
      SELECT id, logged_out_at FROM accounts
      WHERE id IN ${list(owners.map(({ account }) => account))} AND deleted_at IS NULL`,
  )
  const dead = await storage.sql<{ jti: string; reason: string }>(
    ...query`SELECT jti, reason FROM dead_tokens WHERE jti IN ${list(owners.map(({ jti }) => jti))}`,
  )
  const loggedOutAt = new Map(accounts.map((row) => [row.id, row.logged_out_at]))
  const reasons = new Map(dead.map((row) => [row.jti, row.reason]))
  return owners.map(({ account, jti }) => {
    const lastLogout = loggedOutAt.get(account)
    const reason = reasons.get(jti)
    if (lastLogout === undefined || reason === 'revoked' || !tokens.isCurrent(jti, lastLogout))
      return 'jwt_revoked'
    return reason === 'replaced' ? 'new_device_login' : undefined
  })
}

interface Parts {
  readonly storage: Storage
  readonly tokens: Tokens
  readonly tickets: Tickets
  readonly clock: Clock
}

/**
 * The account of a token that comes with a request. A replaced token is still valid for requests: it only
 * opens no WebSocket. @throws ProtocolError `UNAUTHENTICATED`, `TOKEN_DEAD`, `ACCOUNT_SUSPENDED`
 */
export async function authenticate(
  token: string,
  endpoint: EndpointName,
  { tokens }: Pick<Parts, 'tokens'>,
): Promise<Caller> {
  const state = await tokens.read(token)
  if (state.account === undefined || (state.dead && state.dead !== 'replaced'))
    throw new ProtocolError('TOKEN_DEAD')
  if (state.suspension && !mayCallSuspended(endpoint)) throw suspended(state.suspension)
  return { id: state.account, jti: state.jti, tokenExpiresAt: state.expiresAt }
}

/**
 * Decides on an upgrade. A dead token of this relay is admitted too, but only to be told why it is dead.
 * @throws ProtocolError if the token or ticket is not from this relay, or belongs to another account, or if
 *   the account is suspended
 */
export async function admit(credentials: Credentials, parts: Omit<Parts, 'storage'>): Promise<Admission> {
  const state = await stateOf(credentials, parts)
  if (credentials.uuid !== undefined && credentials.uuid !== state.uuid)
    throw new ProtocolError('UNAUTHENTICATED')
  if (state.dead === 'replaced') return { deadToken: 'new_device_login' }
  if (state.dead || state.account === undefined) return { deadToken: 'jwt_revoked' }
  if (state.suspension) throw suspended(state.suspension)
  return { owner: { account: state.account, jti: state.jti, tokenExpiresAt: state.expiresAt } }
}

async function stateOf(credentials: Credentials, parts: Omit<Parts, 'storage'>): Promise<TokenState> {
  const { tokens, tickets, clock } = parts
  if (credentials.ticket === undefined) {
    if (credentials.token === undefined) throw new ProtocolError('UNAUTHENTICATED')
    return await tokens.read(credentials.token)
  }
  const { uuid } = credentials
  const caller = await tickets.redeem(credentials.ticket)
  // A text of another form could make a query fail that also reads others.
  if (!v.is(AccountUuid, uuid)) throw new ProtocolError('TICKET_INVALID')
  // The token of the ticket may have died since the ticket was issued.
  const { account, dead, suspension } = await tokens.lifeOf({ uuid, jti: caller.jti })
  if (account !== caller.id) throw new ProtocolError('TICKET_INVALID')
  const isExpired = caller.tokenExpiresAt <= clock.now()
  return {
    account,
    uuid,
    jti: caller.jti,
    expiresAt: caller.tokenExpiresAt,
    dead: dead ?? (isExpired ? 'expired' : undefined),
    suspension,
  }
}
