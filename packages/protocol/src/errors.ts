// The registry of errors: what each code means, its HTTP status and whether trying again can help.

/**
 * Whether the same request may be sent again: `never` (it will fail again), `later` (the state that refuses it
 * can change by itself), `after` (the answer says when), `login` (with a fresh token).
 */
export type RetryRule = 'never' | 'later' | 'after' | 'login'

interface ErrorEntry {
  readonly status: number
  readonly retry: RetryRule
}

/** Every code an answer's `error` member or an `error` frame can carry. */
export const errors = {
  INVALID_JSON: { status: 400, retry: 'never' },
  INVALID_FIELD: { status: 400, retry: 'never' },
  UPGRADE_REQUIRED: { status: 426, retry: 'never' },
  UNKNOWN_FRAME: { status: 400, retry: 'never' },
  POW_REQUIRED: { status: 400, retry: 'never' },
  POW_INVALID: { status: 400, retry: 'never' },
  SELF_REQUEST: { status: 400, retry: 'never' },
  SEQ_UNKNOWN: { status: 400, retry: 'never' },
  UNAUTHENTICATED: { status: 401, retry: 'login' },
  TOKEN_DEAD: { status: 401, retry: 'login' },
  CHALLENGE_INVALID: { status: 401, retry: 'login' },
  SIGNATURE_INVALID: { status: 401, retry: 'never' },
  TICKET_INVALID: { status: 401, retry: 'login' },
  NOT_FRIENDS: { status: 403, retry: 'never' },
  NOT_YOUR_MESSAGE: { status: 403, retry: 'never' },
  NOT_CHANNEL_OWNER: { status: 403, retry: 'never' },
  QUOTA_EXCEEDED: { status: 403, retry: 'never' },
  OWN_CHANNEL: { status: 400, retry: 'never' },
  NOT_FOUND: { status: 404, retry: 'never' },
  METHOD_NOT_ALLOWED: { status: 405, retry: 'never' },
  ACCOUNT_EXISTS: { status: 409, retry: 'never' },
  ALREADY_FRIENDS: { status: 409, retry: 'never' },
  UNBLOCK_FIRST: { status: 409, retry: 'never' },
  TOO_MANY_FRIENDS: { status: 409, retry: 'later' },
  TOO_MANY_SUBSCRIPTIONS: { status: 409, retry: 'later' },
  WRONG_CONVERSATION: { status: 409, retry: 'never' },
  ID_REUSED: { status: 409, retry: 'never' },
  ALIAS_TAKEN: { status: 409, retry: 'never' },
  CHANNEL_TAKEN: { status: 409, retry: 'later' },
  ORDER_NOT_CONFIRMED: { status: 409, retry: 'later' },
  TOO_MANY_ORDERS: { status: 409, retry: 'later' },
  MAILBOX_FULL: { status: 409, retry: 'later' },
  EXPIRED: { status: 410, retry: 'never' },
  PAYLOAD_TOO_LARGE: { status: 413, retry: 'never' },
  RATE_LIMITED: { status: 429, retry: 'after' },
  INTERNAL: { status: 500, retry: 'later' },
  PAYMENTS_UNAVAILABLE: { status: 503, retry: 'later' },
  PUSH_UNAVAILABLE: { status: 503, retry: 'never' },
  BODY_INCOMPLETE: { status: 400, retry: 'later' },
  STORAGE_FULL: { status: 403, retry: 'later' },
  TOO_MANY_UPLOADS: { status: 409, retry: 'later' },
  PARTS_MISMATCH: { status: 409, retry: 'never' },
  ALREADY_STORED: { status: 409, retry: 'never' },
  RANGE_NOT_SATISFIABLE: { status: 416, retry: 'never' },
  MEDIA_UNAVAILABLE: { status: 503, retry: 'later' },
  SHUTTING_DOWN: { status: 503, retry: 'later' },
} as const satisfies Record<string, ErrorEntry>

/** A code of the registry. */
export type ErrorCode = keyof typeof errors

/** What each code means. Apart from the registry: clients take that along, and are told the meaning by the relay. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  INVALID_JSON: 'The body or frame is not one JSON object.',
  INVALID_FIELD: 'A field is missing or breaks its rule; `field` and `detail` name both.',
  UPGRADE_REQUIRED: 'This path speaks WebSocket only.',
  UNKNOWN_FRAME: 'No frame of this type may be sent to a relay.',
  POW_REQUIRED: 'No proof-of-work challenge is open for the caller; ask for one first.',
  POW_INVALID: 'The nonce solves no challenge open for the caller.',
  SELF_REQUEST: 'One cannot befriend or block oneself.',
  SEQ_UNKNOWN: 'The conversation has no message of that `seq` yet.',
  UNAUTHENTICATED: 'A valid token is needed and none was given.',
  TOKEN_DEAD: 'The token is expired or revoked.',
  CHALLENGE_INVALID: 'The challenge is unknown, used, expired or for another account.',
  SIGNATURE_INVALID: 'The signature over the challenge is not the account’s.',
  TICKET_INVALID: 'The WebSocket ticket is unknown, used, expired or for another account.',
  NOT_FRIENDS: 'The two accounts are not friends.',
  NOT_YOUR_MESSAGE: 'Only a message’s sender can retract it.',
  NOT_CHANNEL_OWNER: 'Only the channel’s owner can do that.',
  QUOTA_EXCEEDED: 'All of the account’s channel seats are taken; another can be bought.',
  OWN_CHANNEL: 'One cannot buy a channel of one’s own.',
  NOT_FOUND: 'There is no such thing, or not for the caller.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method.',
  ACCOUNT_EXISTS: 'The public key is registered; `uuid` and `alias_id` name its account.',
  ALREADY_FRIENDS: 'The two accounts are friends already.',
  UNBLOCK_FIRST: 'The caller has blocked this account.',
  TOO_MANY_FRIENDS: 'The caller’s friend list is full.',
  TOO_MANY_SUBSCRIPTIONS: 'The account is subscribed to as many channels as may be.',
  WRONG_CONVERSATION: 'The conversation is not the one of these two accounts.',
  ID_REUSED: 'The message id was used in another conversation.',
  ALIAS_TAKEN: 'The id is somebody’s already, or held for somebody.',
  CHANNEL_TAKEN: 'Somebody else is buying the channel, or has just bought it.',
  ORDER_NOT_CONFIRMED: 'The order is not paid, or its payment not confirmed yet.',
  TOO_MANY_ORDERS: 'The account has as many unpaid orders as may be; pay one or let it expire.',
  MAILBOX_FULL: 'The recipient has too much undelivered.',
  EXPIRED: 'The message reached the end of its life before it was delivered.',
  PAYLOAD_TOO_LARGE: 'The body or frame is larger than allowed.',
  RATE_LIMITED: 'A rate was exceeded; `limit` names it and `Retry-After` says when to come back.',
  INTERNAL: 'The relay failed; the operator’s log has the cause.',
  PAYMENTS_UNAVAILABLE: 'The relay has nothing set up to be paid with, or cannot reach it.',
  PUSH_UNAVAILABLE: 'The relay is not set up to wake devices of this kind.',
  BODY_INCOMPLETE: 'The body ended before its announced length, or took too long; nothing of it was kept.',
  STORAGE_FULL: 'The account’s media takes as much room as it may, uploads under way included.',
  TOO_MANY_UPLOADS: 'The account has as many uploads under way as may be; complete one or give one up.',
  PARTS_MISMATCH:
    'The parts named are not those that are there, numbered from 1 and in order; ask which are.',
  ALREADY_STORED: 'What the link was for is stored already; a link writes once.',
  RANGE_NOT_SATISFIABLE: 'The range begins behind the end; `Content-Range` has the size.',
  MEDIA_UNAVAILABLE: 'The relay cannot reach its blobs, or has no room for more.',
  SHUTTING_DOWN: 'The relay is stopping and takes no new work.',
}

/** True for text that is a code of the registry. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errors, text)
}

/** What may be said about a refusal beyond its code. Nothing internal and nothing random belongs here. */
export interface ErrorDetails {
  /** The field at fault, as a path such as `keys.auth`. */
  readonly field?: string | undefined
  /** The rule it breaks, in words. */
  readonly rule?: string | undefined
  /** The rate that was exceeded. */
  readonly limit?: string | undefined
  /** When to come back, in milliseconds. */
  readonly retryAfterMs?: number | undefined
  /** The methods a path is served with (`METHOD_NOT_ALLOWED` alone). */
  readonly allow?: readonly string[]
  /** The size of what a range was asked of (`RANGE_NOT_SATISFIABLE` alone). */
  readonly totalBytes?: number
  /** The account that exists already (`ACCOUNT_EXISTS` alone). */
  readonly account?: { readonly uuid: string; readonly alias_id: string }
}

/** An expected failure: thrown by the rules, answered as a problem document or an `error` frame. */
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
