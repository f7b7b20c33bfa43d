// The one error class of the client, and the closed list of what can go wrong.
import { type ErrorCode, type ErrorDetails, errors, type RetryRule } from '@sotto/protocol'

/** Every code a {@link ClientError} can have. */
export const clientErrorCodes = [
  'INVALID_ARGUMENT',
  'NO_WEBSOCKET',
  'NO_IDENTITY',
  'IDENTITY_EXISTS',
  'INVALID_PHRASE',
  'ACCOUNT_NOT_FOUND',
  'CHALLENGE_REFUSED',
  'NETWORK',
  'BAD_REPLY',
  'REFUSED',
  'UNKNOWN_CONTACT',
  'UNKNOWN_MESSAGE',
  'KEY_CHANGED',
  'MESSAGE_TOO_LARGE',
  'UNDECRYPTABLE',
  'MEDIA_ALTERED',
  'MEDIA_TOO_LARGE',
  'SIGNED_OUT',
  'STORE_LOCKED',
  'STORE_FAILED',
  'LOCKED',
  'WRONG_PASSPHRASE',
  'HANDLER_FAILED',
  'EVENTS_LOST',
  'ABORTED',
  'UNSUPPORTED',
  'NOT_ALLOWED',
  'NO_ANSWER',
  'OUTCOME_UNKNOWN',
  'OUTDATED_TAB',
  'CLOSED',
] as const

/**
 * What went wrong. Decide by the code; the message is for people.
 *
 * - `INVALID_ARGUMENT`: an option or parameter breaks its rule; the caller has a bug, or a user mistyped.
 * - `NO_WEBSOCKET`: this runtime has no global WebSocket and none was passed (Node 20: pass the class of `ws`).
 * - `NO_IDENTITY`: nothing can be done before an identity was created or recovered.
 * - `IDENTITY_EXISTS`: the device holds another identity; `replace: true` overwrites it.
 * - `INVALID_PHRASE`: not 12 BIP-39 English words with a valid checksum.
 * - `ACCOUNT_NOT_FOUND`: no account has this phrase's keys, or none any more: it was deleted.
 * - `CHALLENGE_REFUSED`: the relay asked to sign something that is not this login; nothing was signed.
 * - `NETWORK`: the relay cannot be reached, or took too long.
 * - `BAD_REPLY`: the relay answered what the protocol does not allow.
 * - `REFUSED`: the relay refused; `refusal` is its code.
 * - `UNKNOWN_CONTACT`: no session with this contact; it has not accepted, or the friend list was never synchronised.
 * - `UNKNOWN_MESSAGE`: no such message of one's own in this conversation.
 * - `KEY_CHANGED`: the contact's keys are not those recorded; nothing is sent or decrypted.
 * - `MESSAGE_TOO_LARGE`: the encrypted text would be larger than a message may be.
 * - `UNDECRYPTABLE`: a message came that the session key does not open.
 * - `MEDIA_ALTERED`: what was downloaded is not what its sender stored for this conversation; nothing of it is shown.
 * - `MEDIA_TOO_LARGE`: what was to be downloaded is larger than the caller allowed; nothing of it was read.
 * - `SIGNED_OUT`: the relay ended this client for good; `goaway` said why.
 * - `STORE_LOCKED`: another process uses this folder.
 * - `STORE_FAILED`: what must be kept could not be written or read.
 * - `LOCKED`: the client is locked, and what was asked needs its keys; `unlock` first.
 * - `WRONG_PASSPHRASE`: this passphrase does not open the store.
 * - `HANDLER_FAILED`: a handler of the application threw; `cause` is what it threw.
 * - `EVENTS_LOST`: an event stream was read more slowly than events came, and its buffer was full.
 * - `ABORTED`: the caller's signal ended it; `cause` is the signal's reason.
 * - `UNSUPPORTED`: this browser lacks what is needed; a page served neither over https nor by localhost always does.
 * - `NOT_ALLOWED`: the user or the browser does not allow it, such as notifications.
 * - `NO_ANSWER`: the tab that runs the client did not answer in time; what was asked may have been done all the same.
 * - `OUTCOME_UNKNOWN`: no answer came to something that is done twice if asked twice; it may have been done or not. Look.
 * - `OUTDATED_TAB`: another tab runs a newer version of the app; this one has to be loaded again.
 * - `CLOSED`: the client or store was closed.
 */
export type ClientErrorCode = (typeof clientErrorCodes)[number]

/** What is known beyond code and message. */
export interface ClientErrorDetails {
  readonly cause?: unknown
  /** The relay's code, where the code is `REFUSED`. */
  readonly refusal?: ErrorCode
  /** The account a 409 on registering named. A claim of the relay until a login has succeeded. */
  readonly account?: ErrorDetails['account']
  /** When the relay says to come back, in milliseconds. */
  readonly retryAfterMs?: number
}

/** The only error the client throws on purpose. */
export class ClientError extends Error {
  /** Always `ClientError`. */
  override readonly name = 'ClientError'
  /** What went wrong. */
  readonly code: ClientErrorCode
  /** The relay's code, where the code is `REFUSED`. */
  readonly refusal: ErrorCode | undefined
  /** The account a 409 on registering named. A claim of the relay until a login has succeeded. */
  readonly account: ErrorDetails['account']
  /** When the relay says to come back, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.refusal = details.refusal
    this.account = details.account
    this.retryAfterMs = details.retryAfterMs
  }

  /** Where the relay refused: whether the same request can be made again, by the registry's word for its code. */
  get retry(): RetryRule | undefined {
    return this.refusal === undefined ? undefined : errors[this.refusal].retry
  }
}

/** Any thrown value as a ClientError: itself if it is one, else wrapped under `code`. */
export function asClientError(thrown: unknown, code: ClientErrorCode): ClientError {
  if (thrown instanceof ClientError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new ClientError(code, message, { cause: thrown })
}

/** @throws ClientError `ABORTED` where the signal has been aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ClientError('ABORTED', 'the caller ended it', { cause: signal.reason })
}
