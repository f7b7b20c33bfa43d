// The endpoints of registration, login, profiles and account deletion.
import { decodeBase64, isValidX25519PublicKey } from '@sotto/crypto'
import { isValidEd25519PublicKey } from '@sotto/crypto/ed25519-public-key'
import { AccountUuid, AliasId, check, type Limits, ProtocolError } from '@sotto/protocol'
import type { Difficulty, Gate } from '../admission/admission.ts'
import type { Bus } from '../cluster/bus.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { DiskSpace } from '../operations/disk-space.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { SecurityLog } from '../operations/security-log.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import {
  type Account,
  addAccount,
  findAccount,
  findAccountByAlias,
  findAccountByKey,
  findAccountByUuid,
} from './accounts.ts'
import type { AccountDeletion } from './deletion.ts'
import { createChallenge, readChallenge, useChallenge } from './login-challenges.ts'
import { logOutEverywhere } from './logouts.ts'
import { findSolvedChallenge, openPowChallenge, usePowChallenge } from './proof-of-work.ts'
import type { LiveKeys } from './relay-keys.ts'
import { isSignedBy } from './signatures.ts'
import { findSuspension, suspended } from './suspensions.ts'
import type { Tickets } from './tickets.ts'
import type { Tokens } from './tokens.ts'

export interface AccountParts {
  readonly storage: Storage
  readonly tokens: Tokens
  readonly tickets: Tickets
  readonly challengeKeys: LiveKeys
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly space: Pick<DiskSpace, 'check'>
  readonly securityLog: SecurityLog
  readonly deletion: AccountDeletion
  /** Says in the transaction of a registration whether it may go on. */
  readonly gate: Gate
  readonly difficulty: Difficulty
}

type Names =
  | 'powChallenge'
  | 'register'
  | 'authChallenge'
  | 'authVerify'
  | 'authLogout'
  | 'authLogoutAll'
  | 'wsTicket'
  | 'getMe'
  | 'patchMe'
  | 'deleteMe'
  | 'lookUpUser'

export function accountRoutes(parts: AccountParts): Handlers<Names> {
  const { storage, tokens, clock, bus, securityLog } = parts
  const getAccount = async (id: AccountId): Promise<Account> => {
    const account = await findAccount(storage.sql, id)
    if (!account) throw new ProtocolError('TOKEN_DEAD') // Deleted since the token was checked.
    return account
  }

  return {
    powChallenge: ({ address }) => openPowChallenge(storage, address, parts),

    register: async ({ body, address }) => {
      const existing = await findAccountByKey(storage.sql, body.ed25519_public_key)
      if (existing) throw accountExists(existing)
      const work = { address, nonce: body.pow_nonce, challenge: body.pow_challenge }
      const challenge = await findSolvedChallenge(storage.sql, work, {
        now: clock.now(),
        mostTried: parts.limits.powOpen,
      })
      parts.space.check('much') // Before the work is used up, so that it counts when there is space again.
      const added = await storage.transaction(async (sql) => {
        if (!(await usePowChallenge(sql, challenge))) throw new ProtocolError('POW_INVALID')
        // Returned, not thrown: the challenge must stay used up, so that a client pays before the relay looks
        // at its keys.
        const invalid = findInvalidKey(body)
        if (invalid) return invalid
        const refusal = await parts.gate(sql, body.invite)
        if (refusal) return refusal // Returned as well, so that each guess of an invite costs work.
        const account = await addAccount(
          sql,
          {
            ed25519PublicKey: body.ed25519_public_key,
            x25519PublicKey: body.x25519_public_key,
            nickname: body.nickname,
          },
          parts,
        )
        if (account) return account
        const faster = await findAccountByKey(sql, body.ed25519_public_key)
        throw faster ? accountExists(faster) : new Error('a registered key has no account')
      })
      if (added instanceof ProtocolError) throw added
      parts.difficulty.registered()
      return { uuid: check(AccountUuid, added.uuid), alias_id: check(AliasId, added.alias_id) }
    },

    // An unknown uuid gets a challenge too, so that this endpoint does not reveal whether an account exists.
    authChallenge: async ({ body, loginHost }) => {
      const expiresAt = clock.now() + parts.limits.challengeSeconds * 1000
      const bound = { host: loginHost(), uuid: body.user_uuid }
      return {
        challenge: createChallenge(bound, expiresAt, {
          keys: parts.challengeKeys.current,
          randomBytes: parts.randomBytes,
        }),
      }
    },

    authVerify: async ({ body, loginHost, address }) => {
      const { user_uuid: uuid, challenge: text, signature } = body
      const bound = { host: loginHost(), uuid }
      const challenge = readChallenge(text, bound, { keys: parts.challengeKeys.current, now: clock.now() })
      const failed = (error: ProtocolError, account?: number): ProtocolError => {
        const reason = error.code
        securityLog.record('login_failed', { reason, address, ...(account === undefined ? {} : { account }) })
        return error
      }
      if (!challenge) throw failed(new ProtocolError('CHALLENGE_INVALID'))
      const account = await findAccountByUuid(storage.sql, uuid)
      if (!account || !isSignedBy(account.ed25519_public_key, text, signature))
        throw failed(new ProtocolError('SIGNATURE_INVALID'), account?.id)
      const first = await storage.unsyncedTransaction((sql) => useChallenge(sql, challenge))
      if (!first) throw failed(new ProtocolError('CHALLENGE_INVALID'), account.id)
      const suspension = await findSuspension(storage.sql, account.id)
      if (suspension && !body.limited) throw failed(suspended(suspension), account.id)
      securityLog.record('login', { address, account: account.id })
      return tokens.issue(account)
    },

    authLogout: async ({ caller }) => {
      await tokens.kill(caller.jti, 'revoked', caller.tokenExpiresAt)
      bus.ring(caller.id, { kind: 'token_dead', jti: caller.jti })
    },

    authLogoutAll: async ({ caller }) => {
      await logOutEverywhere(caller.id, parts)
    },

    wsTicket: ({ caller }) => parts.tickets.issue(caller),

    getMe: async ({ caller }) => profileOf(await getAccount(caller.id)),

    patchMe: async ({ caller, body }) => {
      await storage.transaction(
        (sql) =>
          sql`UPDATE accounts SET nickname = ${body.nickname} WHERE id = ${caller.id} AND deleted_at IS NULL`,
      )
      return profileOf(await getAccount(caller.id))
    },

    deleteMe: async ({ caller }) => {
      await parts.deletion.delete(caller.id)
    },

    lookUpUser: async ({ params }) => {
      const account = await findAccountByAlias(storage.sql, params.alias_id)
      if (!account) throw new ProtocolError('NOT_FOUND')
      const { alias_id, nickname, x25519_public_key, ed25519_public_key } = account
      return { alias_id, nickname, x25519_public_key, ed25519_public_key }
    },
  }
}

function accountExists(account: Account): ProtocolError {
  return new ProtocolError('ACCOUNT_EXISTS', { account: { uuid: account.uuid, alias_id: account.alias_id } })
}

// With a key of small order, anyone could sign for the account or know every secret agreed with it.
function findInvalidKey(keys: {
  ed25519_public_key: string
  x25519_public_key: string
}): ProtocolError | undefined {
  if (!isValidEd25519PublicKey(decodeBase64(keys.ed25519_public_key))) {
    return new ProtocolError('INVALID_FIELD', {
      field: 'ed25519_public_key',
      rule: 'must be an Ed25519 public key',
    })
  }
  if (isValidX25519PublicKey(decodeBase64(keys.x25519_public_key))) return undefined
  return new ProtocolError('INVALID_FIELD', {
    field: 'x25519_public_key',
    rule: 'must be an X25519 public key',
  })
}

function profileOf(account: Account) {
  const { uuid, alias_id, nickname, ed25519_public_key, x25519_public_key } = account
  const created_at = new Date(account.created_at).toISOString()
  return { uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at }
}
