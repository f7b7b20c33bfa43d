// The registry of errors: what each code means, its HTTP status and whether trying again can help.

/**
 * Whether the same request may be sent again: `never` (it will fail again), `later` (the cause can disappear
 * by itself), `after` (the answer says when), `login` (with a new token).
 */
export type RetryRule = 'never' | 'later' | 'after' | 'login'

/** Every code an answer's `error` member or an `error` frame can carry, by its retry rule and HTTP status. */
const registry = {
  never: {
    400: [
      'INVALID_JSON',
      'INVALID_FIELD',
      'UNKNOWN_FRAME',
      'POW_REQUIRED',
      'POW_INVALID',
      'SELF_REQUEST',
      'SEQ_UNKNOWN',
      'OWN_CHANNEL',
    ],
    401: ['SIGNATURE_INVALID'],
    403: [
      'ACCOUNT_SUSPENDED',
      'NOT_FRIENDS',
      'NOT_YOUR_MESSAGE',
      'NOT_CHANNEL_OWNER',
      'CHANNEL_CLOSED',
      'QUOTA_EXCEEDED',
      'ORIGIN_REFUSED',
      'INVITE_REQUIRED',
      'INVITE_INVALID',
      'REGISTRATION_CLOSED',
    ],
    404: ['NOT_FOUND'],
    405: ['METHOD_NOT_ALLOWED'],
    409: [
      'ACCOUNT_EXISTS',
      'ALREADY_FRIENDS',
      'UNBLOCK_FIRST',
      'WRONG_CONVERSATION',
      'ID_REUSED',
      'EPOCH_STALE',
      'NOT_RETRACTABLE',
      'ALIAS_TAKEN',
      'ORDER_CLOSED',
      'PARTS_MISMATCH',
      'ALREADY_STORED',
    ],
    410: ['EXPIRED', 'WITHDRAWN'],
    413: ['PAYLOAD_TOO_LARGE'],
    416: ['RANGE_NOT_SATISFIABLE'],
    421: ['HOST_UNKNOWN'],
    426: ['UPGRADE_REQUIRED'],
    503: ['PUSH_UNAVAILABLE'],
  },
  later: {
    400: ['BODY_INCOMPLETE'],
    403: ['STORAGE_FULL'],
    409: [
      'TOO_MANY_FRIENDS',
      'REQUESTS_FULL',
      'TOO_MANY_SUBSCRIPTIONS',
      'CHANNEL_TAKEN',
      'ORDER_NOT_CONFIRMED',
      'TOO_MANY_ORDERS',
      'OUT_OF_ORDER',
      'TOO_MANY_UPLOADS',
      'TOO_MANY_INVITES',
      'TOO_MANY_KEY_PACKAGES',
      'NO_KEY_PACKAGES',
    ],
    500: ['INTERNAL'],
    503: ['PAYMENTS_UNAVAILABLE', 'MEDIA_UNAVAILABLE', 'SHUTTING_DOWN'],
  },
  after: {
    409: ['MAILBOX_FULL'],
    429: ['RATE_LIMITED'],
    503: ['TOO_MANY_CONNECTIONS', 'STORE_UNAVAILABLE'],
    507: ['RELAY_FULL'],
  },
  login: {
    401: ['UNAUTHENTICATED', 'TOKEN_DEAD', 'CHALLENGE_INVALID', 'TICKET_INVALID'],
  },
} as const satisfies Record<RetryRule, Readonly<Record<number, readonly string[]>>>

type ValueOf<T> = T[keyof T]

/** A code of the registry. */
export type ErrorCode = ValueOf<{ [R in RetryRule]: ValueOf<(typeof registry)[R]> }>[number]

/** What a code says besides its meaning. */
interface ErrorEntry {
  readonly status: number
  readonly retry: RetryRule
}

/** The registry by code. */
export const errors = Object.fromEntries(
  Object.entries<Readonly<Record<string, readonly string[]>>>(registry).flatMap(([retry, codesByStatus]) =>
    Object.entries(codesByStatus).flatMap(([status, codes]) =>
      codes.map((code) => [code, { status: Number(status), retry }]),
    ),
  ),
) as Readonly<Record<ErrorCode, ErrorEntry>>

/**
 * What each code means. Separate from the registry, so that clients bundle only the registry; the relay sends
 * the text.
 */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  INVALID_JSON: 'The body or frame is not one JSON object.',
  INVALID_FIELD: 'A field is missing or breaks its rule; `field` and `detail` name both.',
  UPGRADE_REQUIRED: 'This path accepts only WebSocket upgrades.',
  UNKNOWN_FRAME: 'Clients cannot send a frame of this type.',
  POW_REQUIRED: 'No proof-of-work challenge is open for the caller; ask for one first.',
  POW_INVALID: 'The nonce solves none of the caller’s open challenges.',
  SELF_REQUEST: 'An account cannot befriend or block itself.',
  SEQ_UNKNOWN: 'The conversation has no message with this `seq` yet.',
  UNAUTHENTICATED: 'The request needs a valid token and has none.',
  TOKEN_DEAD: 'The token has expired or was revoked.',
  CHALLENGE_INVALID: 'The challenge is unknown, used, expired or for another account.',
  SIGNATURE_INVALID: 'The signature over the challenge is not the account’s.',
  TICKET_INVALID: 'The WebSocket ticket is unknown, used, expired or for another account.',
  ACCOUNT_SUSPENDED:
    'The relay’s operator has suspended the account; `detail` says why, and until when if that is known.',
  NOT_FRIENDS: 'The two accounts are not friends.',
  NOT_YOUR_MESSAGE: 'Only a message’s sender can retract it.',
  NOT_CHANNEL_OWNER: 'Only the channel’s owner can do this.',
  CHANNEL_CLOSED: 'The relay’s operator has closed the channel; `detail` says why.',
  QUOTA_EXCEEDED: 'All of the account’s channel seats are in use; it can buy another.',
  ORIGIN_REFUSED:
    'The relay takes no WebSockets from pages of this origin; its operator lists the right ones in `CORS_ORIGINS`.',
  INVITE_REQUIRED: 'This relay takes new accounts only with an invite; ask somebody who uses it for one.',
  INVITE_INVALID: 'The invite is unknown, used up, revoked or has ended; ask for a new one.',
  REGISTRATION_CLOSED: 'This relay takes no new accounts. Accounts that exist can still be recovered.',
  OWN_CHANNEL: 'An account cannot buy its own channel.',
  NOT_FOUND: 'The thing does not exist, or the caller may not see it.',
  METHOD_NOT_ALLOWED: 'The path does not accept this method.',
  HOST_UNKNOWN:
    'The relay takes no logins under this host name; its operator sets the right one in `PUBLIC_URL`.',
  ACCOUNT_EXISTS: 'The public key is registered; `uuid` and `alias_id` name its account.',
  ALREADY_FRIENDS: 'The two accounts are already friends.',
  UNBLOCK_FIRST: 'The caller has blocked this account.',
  TOO_MANY_FRIENDS: 'The caller’s friend list is full.',
  REQUESTS_FULL: 'Too many friend requests wait for the account’s answer.',
  TOO_MANY_SUBSCRIPTIONS: 'The account has reached its limit of channel subscriptions.',
  WRONG_CONVERSATION: 'This is not the conversation of these two accounts.',
  ID_REUSED: 'The message id was used in another conversation, or a handshake has the id of something else.',
  EPOCH_STALE:
    'The conversation is in another epoch, which `epoch` names: encrypt the message again for that one, or drop the handshake.',
  NOT_RETRACTABLE: 'A handshake cannot be retracted.',
  ALIAS_TAKEN: 'The id already belongs to an account, or is held for one.',
  CHANNEL_TAKEN: 'Another account is buying the channel, or has just bought it.',
  ORDER_NOT_CONFIRMED: 'The order is not paid, or its payment is not confirmed yet.',
  ORDER_CLOSED: 'Nothing more is to be paid for the order: enough has arrived, or its time is over.',
  TOO_MANY_ORDERS: 'The account has reached its limit of unpaid orders; pay one or let it expire.',
  MAILBOX_FULL:
    'The recipient has too many undelivered messages or retractions. `retry_after_ms` says when to try again; nobody knows when there will be room, so wait longer each time.',
  OUT_OF_ORDER: 'The relay has not accepted the message that `after` names; send that one first.',
  EXPIRED: 'The message expired before it was delivered.',
  WITHDRAWN: 'The message was taken back by its sender before it was delivered.',
  PAYLOAD_TOO_LARGE: 'The body or frame is larger than allowed.',
  RATE_LIMITED:
    'A rate or limit was exceeded; `limit` names it, and `Retry-After`, or `retry_after_ms` in a frame, says when to try again.',
  INTERNAL: 'The relay failed; the operator’s log has the cause.',
  PAYMENTS_UNAVAILABLE: 'The relay has no payment provider, or cannot reach it.',
  PUSH_UNAVAILABLE: 'The relay is not set up to wake devices of this kind.',
  BODY_INCOMPLETE: 'The body ended before its announced length, or took too long; none of it was kept.',
  STORAGE_FULL:
    'The account’s media, including unfinished uploads, or the posts of its channels have reached their limit.',
  TOO_MANY_UPLOADS: 'The account has reached its limit of unfinished uploads; complete or cancel one.',
  TOO_MANY_INVITES: 'The account has made as many invites as the operator allows each member.',
  TOO_MANY_KEY_PACKAGES: 'The device would have more key packages at the relay than it keeps of one.',
  NO_KEY_PACKAGES: 'No device of the other account has a key package that can be given out.',
  PARTS_MISMATCH:
    'The named parts are not the stored ones, numbered from 1 and in order; request their list.',
  ALREADY_STORED: 'The link was already used; it writes once.',
  RANGE_NOT_SATISFIABLE: 'The range begins after the end of the blob; `Content-Range` has the size.',
  MEDIA_UNAVAILABLE: 'The relay cannot reach its blob store, or has no space left.',
  RELAY_FULL:
    'The relay’s disk is almost full, so it stored nothing of this. Keep it and try again after the time that `Retry-After`, or `retry_after_ms` in a frame, gives; only the relay’s operator can make room.',
  STORE_UNAVAILABLE:
    'The relay’s database does not answer, or answers too slowly, so the relay did nothing of this. Try again after the time that `Retry-After` gives.',
  TOO_MANY_CONNECTIONS: 'The relay has no connection left; `Retry-After` says when to try again.',
  SHUTTING_DOWN: 'The relay is stopping and accepts no new work.',
}

/** Whether the text is a code of the registry. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errors, text)
}

/** Details of a refusal besides its code. They must contain no internal and no random data. */
export interface ErrorDetails {
  /** The field at fault, as a path such as `keys.auth`. */
  readonly field?: string | undefined
  /** The rule that it breaks, in words. */
  readonly rule?: string | undefined
  /** What a person has written about it, such as why an account is suspended. */
  readonly words?: string | undefined
  /** The rate that was exceeded. */
  readonly limit?: string | undefined
  /** When to try again, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined
  /** The conversation's present epoch (only `EPOCH_STALE`). */
  readonly epoch?: number | undefined
  /** The methods that the path accepts (only `METHOD_NOT_ALLOWED`). */
  readonly allow?: readonly string[]
  /** The size of the whole blob (only `RANGE_NOT_SATISFIABLE`). */
  readonly totalBytes?: number
  /** The account that already exists (only `ACCOUNT_EXISTS`). */
  readonly account?: { readonly uuid: string; readonly alias_id: string }
}

/**
 * An expected failure. The rules throw it; the relay answers it as a problem document or an `error` frame.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.field ? `${code}: ${details.field} ${details.rule ?? ''}`.trimEnd() : code)
    this.code = code
    this.details = details
  }

  /** The HTTP status of the code. */
  get status(): number {
    return errors[this.code].status
  }
}
