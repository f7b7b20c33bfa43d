// What `sotto doctor` finds: one line for each thing that it looked at.
import { isDatabaseAway } from '../storage/storage.ts'

/** What is looked at. */
export type CheckName =
  | 'configuration'
  | 'clock'
  | 'disk'
  | 'database'
  | 'bus'
  | 'nodes'
  | 'certificate'
  | 'address'
  | 'turn'
  | 'push'
  | 'payments'

/** What one check found. */
export interface Finding {
  readonly check: CheckName
  /** `unused`: the relay is set up without it. */
  readonly state: 'ok' | 'unused' | 'warning' | 'failed'
  /** What is so, or what is wrong. */
  readonly says: string
  /** What the operator can do; undefined if nothing has to be done. */
  readonly advice: string | undefined
}

/** The findings of one check. */
export interface Findings {
  ok(says: string): Finding
  unused(says: string): Finding
  warning(says: string, advice: string): Finding
  failed(says: string, advice: string): Finding
}

/** The findings of a check. */
export function findingsOf(check: CheckName): Findings {
  return {
    ok: (says) => ({ check, state: 'ok', says, advice: undefined }),
    unused: (says) => ({ check, state: 'unused', says, advice: undefined }),
    warning: (says, advice) => ({ check, state: 'warning', says, advice }),
    failed: (says, advice) => ({ check, state: 'failed', says, advice }),
  }
}

/** The message of anything that was thrown. */
export function reasonOf(failure: unknown): string {
  const error = isDatabaseAway(failure) && failure instanceof Error ? failure.cause : failure
  const text = error instanceof Error ? error.message : String(error)
  return text || 'no reason was given'
}
