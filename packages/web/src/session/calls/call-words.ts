// Says in words how a call ended.

import type { CallRecord } from '@sotto/client'
import type { CallInfo } from '@sotto/client/browser'
import type { calls } from '../../texts/en/calls.ts'

type EndedCall = Pick<CallInfo, 'isCaller' | 'end'>

/** What the user is told at the end of a call. Undefined if they ended it, or know it from another tab. */
export function farewellOf(
  { isCaller, end }: EndedCall,
  {
    wasAnswered,
    name,
    t,
  }: { readonly wasAnswered: boolean; readonly name: string; readonly t: typeof calls },
): string | undefined {
  switch (end) {
    case 'hung_up_by_peer':
      return wasAnswered ? t.ends.theyHungUp(name) : isCaller ? t.ends.declined(name) : t.ends.missed(name)
    case 'declined':
      return isCaller ? t.ends.declined(name) : undefined
    case 'busy':
      return isCaller ? t.ends.busy(name) : undefined
    case 'unanswered':
      return isCaller ? t.ends.unanswered(name) : t.ends.missed(name)
    case 'unencrypted':
      return isCaller ? t.ends.unencrypted(name) : t.ends.unencryptedCaller(name)
    case 'no_media':
      return t.ends.noMedia(name)
    case 'connection_lost':
      return t.ends.lost(name)
    case 'failed':
      return t.ends.failed
    case 'stopped':
      return t.ends.stopped
    case 'replaced':
      // A call that only rang goes on ringing on the other device.
      return isCaller || wasAnswered ? t.ends.replaced : undefined
    default:
      // `hung_up` and `taken`: the user did it, here or in another tab.
      return undefined
  }
}

/** How a logged call went, in a few words. */
export function outcomeOf({ isCaller, missed, end, durationMs }: CallRecord, t: typeof calls): string {
  if (missed && end !== 'unencrypted') return end === 'busy' ? t.outcomes.missedBusy : t.outcomes.missed
  if (end === 'unencrypted') return t.outcomes.unencrypted
  if (end === 'replaced') return t.outcomes.replaced
  if (durationMs !== undefined)
    return end === 'hung_up'
      ? t.outcomes.youHungUp
      : end === 'hung_up_by_peer'
        ? t.outcomes.theyHungUp
        : t.outcomes.lost
  if (end === 'declined') return isCaller ? t.outcomes.declined : t.outcomes.youDeclined
  if (end === 'busy') return t.outcomes.busy
  if (end === 'unanswered') return t.outcomes.unanswered
  if (end === 'hung_up') return t.outcomes.youCancelled
  return t.outcomes.failed
}
