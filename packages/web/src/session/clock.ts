// The time, for what the app shows. `now` follows it by the minute, so that "today" becomes "yesterday".
import { signal } from '@preact/signals'

/** The time in milliseconds since 1970. */
export function nowMs(): number {
  return Date.now()
}

/** The time of the last full minute or so. */
export const now = signal(nowMs())

setInterval(() => {
  now.value = nowMs()
}, 60_000)
