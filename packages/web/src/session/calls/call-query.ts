// How the log of calls is followed.
import type { CallRecord } from '@sotto/client'
import type { CallLog } from '@sotto/client/browser'
import type { Query } from '@sotto/client/signals'

/** The calls that have ended, the latest first. */
export function callsOf(log: CallLog): Query<readonly CallRecord[]> {
  return { key: 'calls', read: () => log.list(), concerns: ({ kind }) => kind === 'calls' }
}
