// The number on the app's icon: how many messages are unread.
import { effect } from '@preact/signals'
import { now } from './clock.ts'
import type { Session } from './session.ts'

/** Shows the number of unread messages on the app's icon, where the browser can. */
export function showBadge(session: Session): void {
  if (!('setAppBadge' in navigator)) return
  effect(() => {
    const unread = (session.conversations.value ?? [])
      .filter((each) => !each.archived && (each.mutedUntil ?? 0) <= now.value)
      .reduce((sum, each) => sum + each.unread, 0)
    // Refused while the app is not installed.
    navigator.setAppBadge(unread).catch(() => undefined)
  })
}
