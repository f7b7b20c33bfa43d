// Every kind of caller: those without a valid login, and those that differ in their relation to the owner of
// a thing.
import { createHmac } from 'node:crypto'
import type { ErrorCode } from '@sotto/protocol'
import { befriend, type WireAccount, wireAccount } from '../wire.ts'

/** What an account is to the owner of the things that it asks for. */
export const RELATIONS = [
  /** The owner itself. */
  'owner',
  'friend',
  'stranger',
  /** It has asked the owner for friendship, and has no answer. */
  'asking',
  /** The owner has asked it, and has no answer. */
  'asked',
  /** It has asked the owner, who rejected it. */
  'rejected',
  /** The owner has asked it, and it has rejected the owner. */
  'rejecting',
  /** It was a friend until the owner ended the friendship. */
  'parted',
  /** It was a friend until the owner blocked it. */
  'blocked',
  /** It was a friend until it blocked the owner. */
  'blocking',
] as const

/** See {@link RELATIONS}. */
export type Relation = (typeof RELATIONS)[number]

/** An account in a relation to the owner. */
export interface Caller {
  readonly relation: Relation
  readonly account: WireAccount
  /** The number of its friendship with the owner, or of the one that has ended. */
  readonly friendship: string
  /** Its conversation with the owner, or the one that was closed; otherwise one that does not exist. */
  readonly conv: string
}

/** Registers an account and brings it into a relation to `owner`. */
export async function callerOf(relation: Exclude<Relation, 'owner'>, owner: WireAccount): Promise<Caller> {
  const account = await wireAccount(owner.base, relation)
  const as = (friendship: string, conv: string = crypto.randomUUID()): Caller => ({
    ...{ relation, account, friendship, conv },
  })
  const request = async (from: WireAccount, to: WireAccount): Promise<string> =>
    String((await from.post('/friends/request', { to_alias_id: to.alias })).body.friendship_id)
  const friends = async (): Promise<Caller> => {
    const conv = await befriend(account, owner)
    const [row] = (await account.get('/friends')).body
    return as(String(row.friendship_id), conv)
  }
  switch (relation) {
    case 'stranger':
      return as(MISSING_FRIENDSHIP)
    case 'friend':
      return await friends()
    case 'asking':
      return as(await request(account, owner))
    case 'asked':
      return as(await request(owner, account))
    case 'rejected':
    case 'rejecting': {
      const [asking, answering] = relation === 'rejected' ? [account, owner] : [owner, account]
      const friendship = await request(asking, answering)
      await answering.bare('POST', `/friends/${friendship}/reject`)
      return as(friendship)
    }
    case 'parted': {
      const caller = await friends()
      await owner.bare('DELETE', `/friends/${caller.friendship}`)
      return caller
    }
    case 'blocked':
    case 'blocking': {
      const caller = await friends()
      const [by, other] = relation === 'blocked' ? [owner, account] : [account, owner]
      await by.bare('PUT', `/blocks/${other.alias}`)
      return caller
    }
    default:
      return relation satisfies never
  }
}

/** A friendship that does not exist. */
export const MISSING_FRIENDSHIP = '999999999'

/** The code that a request without a valid login gets, by what the caller presents instead of one. */
export const BAD_LOGINS = {
  anonymous: 'UNAUTHENTICATED',
  /** A valid token of the owner where no token belongs. */
  'with the token in the query': 'UNAUTHENTICATED',
  'with another scheme': 'UNAUTHENTICATED',
  'signed with another key': 'UNAUTHENTICATED',
  'with an altered payload': 'UNAUTHENTICATED',
  'with alg none': 'UNAUTHENTICATED',
  'of another relay': 'UNAUTHENTICATED',
  expired: 'TOKEN_DEAD',
  'logged out': 'TOKEN_DEAD',
  'logged out everywhere': 'TOKEN_DEAD',
  'of a deleted account': 'TOKEN_DEAD',
} as const satisfies Readonly<Record<string, ErrorCode>>

/** See {@link BAD_LOGINS}. */
export type BadLogin = keyof typeof BAD_LOGINS

/** How a caller presents itself. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
}

/** The tokens of the owner and of others that {@link badLogins} makes credentials of. */
export interface Tokens {
  /** A valid token of the owner. */
  readonly valid: string
  /** A valid token of another account. */
  readonly others: string
  readonly otherRelay: string
  readonly expired: string
  readonly loggedOut: string
  readonly loggedOutEverywhere: string
  readonly deleted: string
}

/** The credentials of every caller without a valid login. */
export function badLogins(tokens: Tokens): Readonly<Record<BadLogin, Credentials>> {
  const { header, claims, signature } = partsOf(tokens.others)
  const asOwner = { ...claims, sub: partsOf(tokens.valid).claims.sub }
  const unsigned = `${encoded({ ...header, alg: 'none' })}.${encoded(asOwner)}`
  const text = `${encoded(header)}.${encoded(asOwner)}`
  const otherKey = createHmac('sha256', 'another key').update(text).digest('base64url')
  return {
    anonymous: { headers: {} },
    'with the token in the query': { headers: {}, query: { token: tokens.valid } },
    'with another scheme': { headers: { authorization: `Token ${tokens.valid}` } },
    'signed with another key': bearer(`${text}.${otherKey}`),
    'with an altered payload': bearer(`${text}.${signature}`),
    'with alg none': bearer(`${unsigned}.${signature}`),
    'of another relay': bearer(tokens.otherRelay),
    expired: bearer(tokens.expired),
    'logged out': bearer(tokens.loggedOut),
    'logged out everywhere': bearer(tokens.loggedOutEverywhere),
    'of a deleted account': bearer(tokens.deleted),
  }
}

/** Presents a token as the protocol says. */
export function bearer(token: string): Credentials {
  return { headers: { authorization: `Bearer ${token}` } }
}

/**
 * Tokens that are dead, each for one reason: two of the owner, and two of its friends. A day passes at the
 * relay, so that one expires.
 * @param letPass moves the relay's clock ahead by this many milliseconds
 */
export async function deadTokens(
  owner: WireAccount,
  letPass: (ms: number) => Promise<unknown>,
): Promise<Pick<Tokens, 'expired' | 'loggedOut' | 'loggedOutEverywhere' | 'deleted'>> {
  const expired = owner.token
  await letPass(TOKEN_LIFE_MS)
  const loggedOut = await owner.login()
  await owner.bare('POST', '/auth/logout')
  await owner.login()
  const [everywhere, deleted] = [await callerOf('friend', owner), await callerOf('friend', owner)]
  await everywhere.account.bare('POST', '/auth/logout-all')
  await deleted.account.bare('DELETE', '/me')
  return {
    ...{ expired, loggedOut },
    loggedOutEverywhere: everywhere.account.token,
    deleted: deleted.account.token,
  }
}

/** `LIMIT_TOKEN_SECONDS` by default. */
const TOKEN_LIFE_MS = 86_400_000

function partsOf(token: string) {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const read = (text: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(text, 'base64url').toString())
  return { header: read(header), claims: read(claims), signature }
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
