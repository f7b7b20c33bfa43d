// The number on the app's icon: unread messages and missed calls, except those that the user has put aside.
import { effect } from '@preact/signals'
import { now } from './clock.ts'
import type { Session } from './session.ts'

/**
 * Shows on the app's icon, where the browser can, how many messages are unread and how many calls were
 * missed. Muted and archived conversations do not count.
 */
export function showBadge(session: Session): void {
  if (!('setAppBadge' in navigator)) return
  effect(() => {
    const counted = new Map(
      (session.conversations.value ?? [])
        .filter((each) => !each.archived && (each.mutedUntil ?? 0) <= now.value)
        .map(({ conversationId, unread }) => [conversationId, unread]),
    )
    const unread = counted.values().reduce((sum, each) => sum + each, 0)
    const missed = session.missedCalls.value.filter(({ conversationId }) => counted.has(conversationId))
    // Refused while the app is not installed.
    navigator.setAppBadge(unread + missed.length).catch(() => undefined)
  })
}
