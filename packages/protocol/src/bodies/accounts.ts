// Bodies and replies of registration, login and the caller's account.
import * as v from 'valibot'
import { AccountUuid, AliasId, Name, named, PublicKey, ReceivedName, Signature, Timestamp } from '../ids.ts'

const Seconds = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

export const PowChallengeReply = v.object({
  challenge_string: v.string(),
  difficulty: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(5)),
  expires_in: Seconds,
})

// The form of a nonce and of an invite. Published clients send an empty nonce to learn whether their key is
// registered; it counts as absent.
const ShortText = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{0,64}$/, 'must be at most 64 printable ASCII characters'),
  v.transform((text) => text || undefined),
)

// Restricted to the form of a challenge, because databases do not accept every text in a query.
const PowChallenge = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters'),
)

/** Every {@link RegistrationMode}. */
export const registrationModes = ['open', 'invite', 'closed'] as const
/** Who may register at a relay: everybody, who has an invite, or nobody. */
export type RegistrationMode = (typeof registrationModes)[number]

export const RegisterBody = v.object({
  ed25519_public_key: PublicKey,
  x25519_public_key: PublicKey,
  nickname: Name,
  /** Ignored, and so not needed, if the key is already registered. */
  pow_nonce: v.optional(ShortText),
  pow_challenge: v.optional(PowChallenge),
  /** The code of an invite. Ignored by a relay that is open to everybody. */
  invite: v.optional(ShortText),
})

export const RegisterReply = v.object({ uuid: AccountUuid, alias_id: AliasId })

export const AuthChallengeBody = v.object({ user_uuid: AccountUuid })
export const AuthChallengeReply = v.object({ challenge: v.string() })

export const AuthVerifyBody = v.object({
  user_uuid: AccountUuid,
  challenge: v.pipe(v.string(), v.maxLength(512, 'must be at most 512 characters')),
  signature: Signature,
  /** Whether a suspended account gets a token, with which it can only read and delete what it has. */
  limited: v.optional(v.boolean()),
})
export const AuthVerifyReply = v.object({ token: v.string(), expires_in: Seconds })

export const WsTicketReply = v.object({
  ticket: v.string(),
  expires_in: Seconds,
  /**
   * What the relay can do beyond the first version: `after`, the field of `msg`, and `epochs`, those of
   * `crypto_v` 3. Older relays omit it.
   */
  features: v.optional(v.array(v.string())),
})

export const Me = v.pipe(
  v.object({
    uuid: AccountUuid,
    alias_id: AliasId,
    nickname: ReceivedName,
    ed25519_public_key: PublicKey,
    x25519_public_key: PublicKey,
    created_at: Timestamp,
  }),
  v.transform(named),
)
export const PatchMeBody = v.object({ nickname: Name })

/** The result of an account lookup. */
export const UserLookup = v.pipe(
  v.object({
    alias_id: AliasId,
    nickname: ReceivedName,
    x25519_public_key: PublicKey,
    ed25519_public_key: PublicKey,
  }),
  v.transform(named),
)
/** See {@link UserLookup}. */
export type UserLookup = v.InferOutput<typeof UserLookup>
