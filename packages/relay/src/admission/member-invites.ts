// The endpoints of the invites that members make, if the operator lets them.
import { ProtocolError } from '@sotto/protocol'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { eraseOldRevokedOf, type Invite, makeInvite, revokeInvite, stateOf } from './invites.ts'

/** How long somebody has to register with an invite of a member. */
const LIFE_MS = 14 * 86_400_000

/** What the endpoints are built from. */
export interface MemberInviteParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  /** How many invites a member can have made. Those that nobody used and nobody can use do not count. */
  readonly invitesByMembers: number
  /** Locks an account, so that only one transaction at a time counts its invites. */
  readonly lockAccount: (sql: Sql, account: AccountId) => Promise<boolean>
}

type Names = 'listInvites' | 'makeInvite' | 'revokeInvite'

export function memberInviteRoutes(parts: MemberInviteParts): Handlers<Names> {
  const { storage, clock, invitesByMembers } = parts
  const leftOf = (invites: readonly Invite[]): number => {
    // One by which somebody came counts also after it was revoked.
    const counted = invites.filter(
      (invite) => invite.uses_left < invite.uses || stateOf(invite, clock.now()) === 'open',
    )
    return Math.max(0, invitesByMembers - counted.length)
  }
  return {
    listInvites: async ({ caller }) => {
      const invites = await invitesOf(storage.sql, caller.id)
      return {
        left: leftOf(invites),
        invites: invites.map((invite) => ({
          ...{ invite_id: invite.invite_id, state: stateOf(invite, clock.now()) },
          ...{ created_at: textOf(invite.created_at), expires_at: textOf(invite.expires_at) },
        })),
      }
    },

    makeInvite: async ({ caller }) => {
      const expiresAt = clock.now() + LIFE_MS
      const { invite, code } = await storage.transaction(async (sql) => {
        if (!(await parts.lockAccount(sql, caller.id))) throw new ProtocolError('TOKEN_DEAD')
        if (leftOf(await invitesOf(sql, caller.id)) === 0) throw new ProtocolError('TOO_MANY_INVITES')
        return makeInvite(sql, { account: caller.id, note: '', uses: 1, expiresAt }, parts)
      })
      return { invite_id: invite.invite_id, code, expires_at: textOf(expiresAt) }
    },

    revokeInvite: async ({ caller, params }) => {
      const revoked = await storage.transaction(async (sql) => {
        const own = (await invitesOf(sql, caller.id)).some(({ invite_id }) => invite_id === params.id)
        const invite = own ? await revokeInvite(sql, params.id, clock.now()) : undefined
        if (invite) await eraseOldRevokedOf(sql, caller.id)
        return invite
      })
      if (!revoked) throw new ProtocolError('NOT_FOUND')
    },
  }
}

function invitesOf(sql: Sql, account: AccountId): Promise<Invite[]> {
  return sql<Invite>`
    SELECT * FROM invites WHERE account_id = ${account} ORDER BY created_at DESC, invite_id`
}

function textOf(ms: number | null): string {
  if (ms === null) throw new Error('an invite of a member has no end')
  return new Date(ms).toISOString()
}
