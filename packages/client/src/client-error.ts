// The one error class of the client, and the closed list of its codes.
import { check, type ErrorCode, type ErrorDetails, errors, type RetryRule } from '@sotto/protocol'
import type * as v from 'valibot'

/** Every code a {@link ClientError} can have. */
export const clientErrorCodes = [
  'INVALID_ARGUMENT',
  'NO_WEBSOCKET',
  'NO_IDENTITY',
  'IDENTITY_EXISTS',
  'INVALID_PHRASE',
  'ACCOUNT_NOT_FOUND',
  'ACCOUNT_KEY_MISMATCH',
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
  'LATER_VERSION',
  'LOCKED',
  'WRONG_PASSPHRASE',
  'INVALID_ARCHIVE',
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
 * What went wrong. Programs decide by the code; the message is for people.
 *
 * - `INVALID_ARGUMENT`: an option or parameter breaks its rule; the caller has a bug, or a user mistyped.
 * - `NO_WEBSOCKET`: this runtime has no global WebSocket and none was passed (Node 20: pass the class of
 *   `ws`).
 * - `NO_IDENTITY`: this needs an identity; create or recover one first.
 * - `IDENTITY_EXISTS`: the device holds another identity; `replace: true` overwrites it.
 * - `INVALID_PHRASE`: not 12 BIP-39 English words with a valid checksum.
 * - `ACCOUNT_NOT_FOUND`: no account has this phrase's keys; it may have been deleted.
 * - `ACCOUNT_KEY_MISMATCH`: the relay has another X25519 key for this account than this device uses, or
 *   than the phrase gives. Nothing can be read, and nothing is confirmed; recover the account with
 *   `replace: true`.
 * - `CHALLENGE_REFUSED`: the relay asked for a signature of something that is not this login; nothing was
 *   signed.
 * - `NETWORK`: the relay cannot be reached, or took too long.
 * - `BAD_REPLY`: the relay's answer violates the protocol.
 * - `REFUSED`: the relay refused; `refusal` is its code.
 * - `UNKNOWN_CONTACT`: no session with this contact; it has not accepted, or the friend list was never
 *   synchronised.
 * - `UNKNOWN_MESSAGE`: this account has sent no such message in this conversation.
 * - `KEY_CHANGED`: the contact's keys are not the recorded ones; nothing is sent or decrypted.
 * - `MESSAGE_TOO_LARGE`: the encrypted text would be larger than a message may be.
 * - `UNDECRYPTABLE`: the session key does not decrypt a received message.
 * - `MEDIA_ALTERED`: the downloaded media are not what the sender stored for this conversation; nothing is
 *   shown.
 * - `MEDIA_TOO_LARGE`: the media to download are larger than the caller allowed; nothing was read.
 * - `SIGNED_OUT`: the relay signed this client out permanently; `goaway` gave the reason.
 * - `STORE_LOCKED`: this folder is open already, or another tab does not close this store.
 * - `STORE_FAILED`: the store could not write or read.
 * - `LATER_VERSION`: a later version of this program has written the keys that this needs. They stay as they
 *   are, and only that version can go on.
 * - `LOCKED`: this needs the client's keys, and the client is locked; call `unlock` first.
 * - `WRONG_PASSPHRASE`: this passphrase does not open the store or the archive.
 * - `INVALID_ARCHIVE`: the archive was altered or cut short, or is none; nothing of it was imported.
 * - `HANDLER_FAILED`: a handler of the application threw an error, which is the `cause`.
 * - `EVENTS_LOST`: an event stream was read more slowly than events came, and its buffer was full.
 * - `ABORTED`: the caller's signal aborted it; `cause` is the signal's reason.
 * - `UNSUPPORTED`: this browser lacks a required feature, as every page does that is served neither over
 *   https nor from localhost.
 * - `NOT_ALLOWED`: the user or the browser does not allow it, such as notifications.
 * - `NO_ANSWER`: the tab that runs the client did not answer in time; it may have done what was asked.
 * - `OUTCOME_UNKNOWN`: no answer came to a request that would be carried out twice if repeated. Check whether
 *   it was.
 * - `OUTDATED_TAB`: another tab runs a newer version of the app; reload this tab.
 * - `CLOSED`: the client or store was closed.
 */
export type ClientErrorCode = (typeof clientErrorCodes)[number]

/** What an error can carry besides code and message. */
export interface ClientErrorDetails {
  readonly cause?: unknown
  /** The relay's error code, if the code is `REFUSED`. */
  readonly refusal?: ErrorCode | undefined
  /** The account that a 409 answer to registering names. Only the relay's claim until a login succeeds. */
  readonly account?: ErrorDetails['account']
  /** How long the relay asks to wait before a retry, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** The only error that the client throws on purpose. */
export class ClientError extends Error {
  /** Always `ClientError`. */
  override readonly name = 'ClientError'
  /** What went wrong. */
  readonly code: ClientErrorCode
  /** The relay's error code, if the code is `REFUSED`. */
  readonly refusal: ErrorCode | undefined
  /** The account that a 409 answer to registering names. Only the relay's claim until a login succeeds. */
  readonly account: ErrorDetails['account']
  /** How long the relay asks to wait before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    super(message, details)
    this.code = code
    this.refusal = details.refusal
    this.account = details.account
    this.retryAfterMs = details.retryAfterMs
  }

  /**
   * Whether a refused request may be repeated, as the error registry says for the relay's code; else
   * undefined.
   */
  get retry(): RetryRule | undefined {
    return this.refusal === undefined ? undefined : errors[this.refusal].retry
  }
}

/** Returns a thrown ClientError as it is, and wraps any other value in one with `code`. */
export function asClientError(thrown: unknown, code: ClientErrorCode): ClientError {
  if (thrown instanceof ClientError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new ClientError(code, message, { cause: thrown })
}

/** @throws ClientError `ABORTED` if the signal has been aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal)
}

/**
 * Stops waiting for `work` when the signal is aborted. The work itself continues.
 * @throws ClientError `ABORTED`, and the errors of the work
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const end = (): void => reject(aborted(signal))
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

function aborted({ reason }: AbortSignal): ClientError {
  return new ClientError('ABORTED', 'aborted by the caller', { cause: reason })
}

/** Checks an argument of the application. @throws ClientError `INVALID_ARGUMENT` with this message */
export function checkArgument<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  message: string,
): v.InferOutput<S> {
  try {
    return check(schema, value)
  } catch {
    throw new ClientError('INVALID_ARGUMENT', message)
  }
}

/** The default of a switch over a closed union: the compiler proves that it is never reached. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected ${JSON.stringify(value)}`)
}
