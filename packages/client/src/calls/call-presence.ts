// Web Locks by which the tab that runs the client notices that the tab with a call is gone.
import { deferred } from '../platform/platform.ts'

/** Holds a tab's lock of a call until the returned function is called, or the tab is closed or crashes. */
export async function holdPresence(tab: string, callId: string): Promise<() => void> {
  const [held, released] = [deferred<void>(), deferred<void>()]
  navigator.locks
    .request(nameOf(tab, callId), () => {
      held.resolve()
      return released.promise
    })
    .catch((error: unknown) => held.reject(error))
  await held.promise
  return () => released.resolve()
}

/** Calls `onGone` once the tab does not hold its lock of the call. Returns a function that stops it. */
export function watchPresence(tab: string, callId: string, onGone: () => void): () => void {
  const watching = new AbortController()
  navigator.locks
    .request(nameOf(tab, callId), { signal: watching.signal }, () => {
      if (!watching.signal.aborted) onGone()
    })
    // The only error is the one that ends the watch.
    .catch(() => {})
  return () => watching.abort()
}

// Two tabs may try to accept the same call at once, so each has a lock of its own.
function nameOf(tab: string, callId: string): string {
  return `sotto call ${tab} ${callId}`
}
