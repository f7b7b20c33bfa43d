// What a request, or a frame, gets while the database does not answer.
import { ProtocolError } from '@sotto/protocol'

/** By then the database may answer again, or has been replaced by another one. */
const RETRY_MS = 3000

/**
 * The database does not answer, or answers too slowly. Nothing of this was done.
 */
export class DatabaseUnavailable extends ProtocolError {
  constructor(cause?: unknown) {
    super('STORE_UNAVAILABLE', { retryAfterMs: RETRY_MS })
    this.cause = cause
  }
}

/** The connection to the database ended during a transaction. It may still have taken effect. */
export class DatabaseLost extends ProtocolError {
  constructor(cause: unknown) {
    super('INTERNAL', { retryAfterMs: RETRY_MS })
    this.cause = cause
  }
}

/** Whether work failed only because the database does not answer, which the log says once. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || error instanceof DatabaseLost
}
