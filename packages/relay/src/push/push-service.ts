// What a push service is to the rest of push, whichever kind it is: a wake goes in, what became of it comes out.
import type { Subscription } from './subscriptions.ts'

/** Why a device is woken. */
export type WakeKind = 'message' | 'call'

/** What a woken device is told, and all it is told (protocol, Push). */
export const wakeTypes = { message: 'new_msg', call: 'call' } as const satisfies Record<WakeKind, string>

/** What became of a wake. Reasons are in our words, never in those of the other side. */
export type Outcome =
  | { readonly kind: 'taken' }
  /** The subscription is no more. */
  | { readonly kind: 'gone' }
  /** It would be refused again. */
  | { readonly kind: 'refused'; readonly reason: string; readonly status?: number }
  /** It may be taken later, not before `afterMs` if the service says so. */
  | { readonly kind: 'later'; readonly reason: string; readonly status?: number; readonly afterMs?: number }

/** Hands wakes over. */
export interface PushService {
  /** Never throws for what the other side does. @param signal ends it early, with `later` */
  send(to: Subscription, kind: WakeKind, signal: AbortSignal): Promise<Outcome>
}

/** Ends what takes longer, whatever it waits for. */
export const SEND_MS = 10_000

const MOST_RETRY_AFTER_MS = 3_600_000

/** The outcome an HTTP status stands for, where the service keeps to HTTP's meaning of it. */
export function outcomeOf(status: number, retryAfter: string | null, now: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  if (status === 404 || status === 410) return { kind: 'gone' }
  if (status !== 429 && status < 500) return { kind: 'refused', status, reason: `answered ${status}` }
  const afterMs = millisecondsOf(retryAfter, now)
  return {
    kind: 'later',
    status,
    reason: `answered ${status}`,
    ...(afterMs === undefined ? {} : { afterMs }),
  }
}

// Seconds, or a date (RFC 9110, 10.2.3).
function millisecondsOf(retryAfter: string | null, now: number): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^[0-9]+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS)
}
