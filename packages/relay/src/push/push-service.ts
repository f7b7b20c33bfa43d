// The interface of a push service, the same for Web Push and FCM: it sends a wake-up push and returns the
// outcome.
import type { Subscription } from './subscriptions.ts'

/** Why a device is woken. */
export type WakeKind = 'message' | 'call'

/** The type that a wake-up push carries. It carries nothing else (protocol, Push). */
export const wakeTypes = { message: 'new_msg', call: 'call' } as const satisfies Record<WakeKind, string>

/** The outcome of a wake-up push. Reasons are the relay's own text, never the service's. */
export type Outcome =
  | { readonly kind: 'taken' }
  /** The subscription has ended. */
  | { readonly kind: 'gone' }
  /** The service would refuse it again. */
  | { readonly kind: 'refused'; readonly reason: string; readonly status?: number }
  /** The service may accept it later; not before `afterMs`, if the service says so. */
  | { readonly kind: 'later'; readonly reason: string; readonly status?: number; readonly afterMs?: number }

/** Sends wake-up pushes to one kind of push service. */
export interface PushService {
  /** Does not throw if the service fails. @param signal aborts the request; the outcome is then `later` */
  send(to: Subscription, kind: WakeKind, signal: AbortSignal): Promise<Outcome>
}

/** The time limit for one push. */
export const SEND_MS = 10_000

const MOST_RETRY_AFTER_MS = 3_600_000

/** The outcome for an HTTP status, if the service uses the status as HTTP defines it. */
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

// The header holds seconds or a date (RFC 9110, 10.2.3).
function millisecondsOf(retryAfter: string | null, now: number): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^[0-9]+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS)
}
