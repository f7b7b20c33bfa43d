// The operator's commands about invites, and their answers.
import { type RegistrationMode, registrationModes } from '@sotto/protocol'
import * as v from 'valibot'
import {
  listLimit,
  type OperatorCommand,
  OperatorRefusal,
  operatorCommand,
} from '../listener/operator-command.ts'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import { inviteLink } from './invite-link.ts'
import { type Invite, makeInvite, revokeInvite, stateOf } from './invites.ts'

const DAY_MS = 86_400_000

/** An invite, without its code. Times are ISO 8601. */
const InviteLine = v.object({
  id: v.string(),
  note: v.string(),
  /** The alias of the member who made it; null if the operator did. */
  made_by: v.nullable(v.string()),
  /** How many people may register with it, and how many did. */
  uses: v.number(),
  used: v.number(),
  created_at: v.string(),
  /** Null if it does not end. */
  expires_at: v.nullable(v.string()),
  state: v.picklist(['open', 'used_up', 'expired', 'revoked']),
})
/** See above. */
export type InviteLine = v.InferOutput<typeof InviteLine>

/** The schema of each command's answer. */
export const inviteAnswers = {
  'invites.make': v.object({
    invite: InviteLine,
    code: v.string(),
    /** Null if PUBLIC_URL is empty. */
    link: v.nullable(v.string()),
    /** Who may register now. */
    registration: v.picklist(registrationModes),
  }),
  'invites.list': v.array(InviteLine),
  'invites.revoke': InviteLine,
} as const

/** What `invites.make` answers. */
export type MadeInvite = v.InferOutput<(typeof inviteAnswers)['invites.make']>

const whole = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.safeInteger(),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  )

/** The commands, by name. */
export function inviteCommands(parts: {
  storage: Storage
  clock: Clock
  randomBytes: RandomBytes
  publicUrl: URL | undefined
  registration: RegistrationMode
}): Readonly<Record<keyof typeof inviteAnswers, OperatorCommand>> {
  const { storage, clock, publicUrl, registration } = parts
  return {
    /** Makes an invite. Only this answer has its code. `days` null makes one that does not end. */
    'invites.make': operatorCommand(
      v.object({
        uses: whole(1, 100_000),
        days: v.nullable(whole(1, 3650)),
        note: v.pipe(v.string(), v.trim(), v.maxLength(200, 'must be at most 200 characters')),
      }),
      async ({ uses, days, note }) => {
        const expiresAt = days === null ? null : clock.now() + days * DAY_MS
        const made = await storage.transaction((sql) =>
          makeInvite(sql, { account: null, note, uses, expiresAt }, parts),
        )
        const link = publicUrl ? inviteLink(made.code, publicUrl) : null
        return { invite: lineOf(made.invite, null, clock.now()), code: made.code, link, registration }
      },
    ),
    /** The invites that were made, the newest first. */
    'invites.list': operatorCommand(v.object({ limit: listLimit }), async ({ limit }) => {
      const rows = await storage.sql<Invite & { alias_id: string | null }>`
        SELECT invites.*, accounts.alias_id FROM invites LEFT JOIN accounts ON accounts.id = account_id
        ORDER BY invites.created_at DESC, invite_id LIMIT ${limit}`
      return rows.map((row) => lineOf(row, row.alias_id, clock.now()))
    }),
    /** Nobody can register with it any more. */
    'invites.revoke': operatorCommand(v.object({ id: v.string() }), async ({ id }) => {
      const invite = await storage.transaction((sql) => revokeInvite(sql, id, clock.now()))
      if (!invite) throw new OperatorRefusal(`there is no invite ${id}`)
      return lineOf(invite, await aliasOf(storage, invite.account_id), clock.now())
    }),
  }
}

function lineOf(invite: Invite, alias: string | null, now: number): InviteLine {
  const { invite_id, note, uses, uses_left, created_at, expires_at } = invite
  return {
    ...{ id: invite_id, note, made_by: alias, uses, used: uses - uses_left },
    created_at: new Date(created_at).toISOString(),
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
    state: stateOf(invite, now),
  }
}

async function aliasOf({ sql }: Storage, account: AccountId | null): Promise<string | null> {
  if (account === null) return null
  const [row] = await sql<{ alias_id: string }>`SELECT alias_id FROM accounts WHERE id = ${account}`
  return row?.alias_id ?? null
}
