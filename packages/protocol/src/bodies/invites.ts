// Bodies and replies of the invites that members make.
import * as v from 'valibot'
import { Timestamp } from '../ids.ts'

const InviteId = v.pipe(v.string(), v.regex(/^[0-9a-f]{10}$/, 'must be the id of an invite'))
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** An invite that the account has made. One person can register with it. */
export const OwnInvite = v.object({
  invite_id: InviteId,
  created_at: Timestamp,
  expires_at: Timestamp,
  /** `open` lets somebody register. */
  state: v.picklist(['open', 'used_up', 'expired', 'revoked']),
})
/** See {@link OwnInvite}. */
export type OwnInvite = v.InferOutput<typeof OwnInvite>

export const OwnInvites = v.object({
  invites: v.array(OwnInvite),
  /** How many more the account can make now. */
  left: Count,
})
/** The invites of an account, and how many more it can make. */
export type OwnInvites = v.InferOutput<typeof OwnInvites>

export const MadeInvite = v.object({
  invite_id: InviteId,
  /** Only this reply has it. */
  code: v.string(),
  expires_at: Timestamp,
})
/** A new invite. Its code is not told again. */
export type MadeInvite = v.InferOutput<typeof MadeInvite>

export const InvitePath = v.object({ id: InviteId })
