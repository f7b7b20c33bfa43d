// The calls that the user has missed. Loaded after what everyone needs.
import type { CallRecord, Client } from '@sotto/client'
import { CallLog } from '@sotto/client/browser'
import { follow } from '@sotto/client/signals'
import { callsOf } from './call-query.ts'

/** Passes the missed calls of the log, the latest first, now and after each change. Returns how to end it. */
export function followMissedCalls(client: Client, show: (missed: readonly CallRecord[]) => void): () => void {
  // A list that cannot be read is explained where the log is shown.
  return follow(client, callsOf(new CallLog(client)), (calls) => {
    if (calls) show(calls.filter(({ missed }) => missed))
  })
}
