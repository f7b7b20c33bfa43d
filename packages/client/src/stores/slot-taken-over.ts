// The error of slots that another client has taken over.
import { ClientError } from '../client-error.ts'

/** The error for a slot that does not hold what its client has written. */
export function takenOver(): ClientError {
  return new ClientError('STORE_LOCKED', 'another client has replaced the erasure key')
}
