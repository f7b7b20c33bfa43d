// The forms of every identifier and encoded value that crosses the wire (docs/protocol.md, "Encodings").
import * as v from 'valibot'
import { cleanName } from './clean-text.ts'

/**
 * An account's public name: 3 to 32 of `a-z`, `0-9` and `_`. The relay assigns `u` and digits, or the account
 * buys a custom one. No alias is ever given to a second account.
 */
export const AliasId = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9_]{3,32}$/, 'must be 3 to 32 of a-z, 0-9 and _'),
  v.brand('AliasId'),
)
/** See {@link AliasId}. */
export type AliasId = v.InferOutput<typeof AliasId>

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const UUID_RULE = 'must be a version 4 UUID in lower case'

/** An account's permanent id: 36 characters, RFC 9562 version 4, lower case. */
export const AccountUuid = v.pipe(v.string(), v.regex(UUID_V4, UUID_RULE), v.brand('AccountUuid'))
/** See {@link AccountUuid}. */
export type AccountUuid = v.InferOutput<typeof AccountUuid>

/** The conversation of a pair of accounts: a UUID that never changes. */
export const ConversationId = v.pipe(v.string(), v.regex(UUID_V4, UUID_RULE), v.brand('ConversationId'))
/** See {@link ConversationId}. */
export type ConversationId = v.InferOutput<typeof ConversationId>

/**
 * A message's id: 1 to 128 printable ASCII characters, chosen by its sender and unique among the sender's
 * messages.
 */
export const MessageId = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces'),
)

/** A call's id, chosen by its caller: 1 to 128 printable ASCII characters. */
export const CallId = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces'),
)

/** A position in a conversation: integer from 1, one counter for both sides, each number used once. */
export const Seq = v.pipe(
  v.number('must be an integer from 1'),
  v.safeInteger('must be an integer from 1'),
  v.minValue(1, 'must be an integer from 1'),
)

/** Milliseconds since 1970, as in a relay's frames, as far as dates reach. */
export const Milliseconds = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(8.64e15))

/** The encryption scheme of a payload. Opaque to the relay (docs/protocol.md, "What a client derives"). */
export const CryptoVersion = v.pipe(
  v.number('must be an integer from 1 to 255'),
  v.safeInteger('must be an integer from 1 to 255'),
  v.minValue(1, 'must be an integer from 1 to 255'),
  v.maxValue(255, 'must be an integer from 1 to 255'),
)

/**
 * The `crypto_v` of messages whose keys change. They have an epoch, and go only to clients that announce it.
 */
export const EPOCH_VERSION = 3

/** How many handshakes a conversation has had. */
export const Epoch = v.pipe(
  v.number('must be an integer from 0'),
  v.safeInteger('must be an integer from 0'),
  v.minValue(0, 'must be an integer from 0'),
)

/** The maximum length of `payload`, in characters of Base64. A relay may accept less, never more. */
export const PAYLOAD_CHARACTERS = 65_536

/** An encrypted message: standard Base64 with padding, RFC 4648 §4. */
export const Payload = v.pipe(
  v.string(),
  v.minLength(4, 'must not be empty'),
  v.maxLength(PAYLOAD_CHARACTERS, `must be at most ${PAYLOAD_CHARACTERS} characters`),
  v.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'must be Base64 with padding'),
)

/** A public key: 32 bytes in standard Base64. The last character has two spare bits, which must be zero. */
export const PublicKey = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, 'must be 32 bytes in Base64 with padding'),
)

/** An Ed25519 signature: 64 bytes in standard Base64. */
export const Signature = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9+/]{85}[AQgw]==$/, 'must be 64 bytes in Base64 with padding'),
)

/** The most characters of a nickname and of a channel's name. A relay may accept fewer, never more. */
export const NAME_CHARACTERS = 64
const NAME_RULE = `must be 1 to ${NAME_CHARACTERS} characters, not only spaces or invisible ones`

/**
 * A name for people: 1 to 64 characters, one of which is visible. What {@link cleanName} takes out is not
 * refused and does not count.
 */
export const Name = v.pipe(
  v.string(),
  v.description(NAME_RULE),
  v.transform(cleanName),
  v.regex(new RegExp(`^(?=.*[^\\s\\u2800])[^\\p{Cc}\\p{Cs}]{1,${NAME_CHARACTERS}}$`, 'u'), NAME_RULE),
)

/**
 * A name in a reply: cleaned again, because a relay may be older or hostile, and empty if nothing is left.
 */
export const ReceivedName = v.pipe(
  v.string(),
  // Cleaning takes time. No name for people has more that is invisible.
  v.maxLength(4096),
  v.description(`at most ${NAME_CHARACTERS} characters, without control, bidirectional and invisible ones`),
  v.transform(cleanName),
  v.regex(
    new RegExp(`^[^\\p{Cc}\\p{Cs}]{0,${NAME_CHARACTERS}}$`, 'u'),
    `must be at most ${NAME_CHARACTERS} characters`,
  ),
)

/** Gives an account in a reply its alias as its nickname, if the nickname was empty. */
export function named<A extends { readonly alias_id: string; readonly nickname: string }>(account: A): A {
  return account.nickname === '' ? { ...account, nickname: account.alias_id } : account
}

/** A point in time: ISO 8601, UTC, milliseconds, `Z`. */
export const Timestamp = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  v.check((time) => !Number.isNaN(Date.parse(time)), 'must be a date that exists'),
)

/** A friendship's number. */
export const FriendshipId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

const UNGUESSABLE = '[A-Za-z0-9_-]{20,64}'

/** A channel's id: `ch_` and an unguessable text. */
export const ChannelId = v.pipe(
  v.string(),
  v.regex(new RegExp(`^ch_${UNGUESSABLE}$`), 'must be a channel id'),
  v.brand('ChannelId'),
)
/** See {@link ChannelId}. */
export type ChannelId = v.InferOutput<typeof ChannelId>

/** A post's id: `p_`, its time and an unguessable text. Post ids sort by time. */
export const PostId = v.pipe(
  v.string(),
  v.regex(new RegExp(`^p_${UNGUESSABLE}$`), 'must be a post id'),
  v.brand('PostId'),
)
/** See {@link PostId}. */
export type PostId = v.InferOutput<typeof PostId>

/** An order's id: `ord_` and an unguessable text. */
export const OrderId = v.pipe(
  v.string(),
  v.regex(new RegExp(`^ord_${UNGUESSABLE}$`), 'must be an order id'),
  v.brand('OrderId'),
)
/** See {@link OrderId}. */
export type OrderId = v.InferOutput<typeof OrderId>
