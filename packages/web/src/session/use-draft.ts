// Stores what a person is writing, so that a reload, a crash or an update loses at most the last moment.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { DRAFT_LOCK } from '../service-worker/draft-lock.ts'
import { attempt, isStoreBroken, notifyError } from './notices.ts'

/** A draft is stored at most this long after it was changed, also while one goes on typing. */
const STORED_AFTER_MS = 300

interface DraftTimes {
  /** Says that it has changed: it is stored soon. */
  readonly changed: () => void
  /** Stores it now, if it has changed. */
  readonly now: () => void
}

interface Draft {
  /** Different for each draft of the app. */
  readonly name: string
  /** What is written now. */
  readonly text: () => string
  /** Stores the draft as it is when it is called. Nothing is stored while a message takes its text. */
  readonly store: () => Promise<void> | undefined
}

/** The draft of this name, if it could not be stored. The tab keeps it, also when it is loaded again. */
export function unstoredDraft(name: string): string | undefined {
  return sessionStorage.getItem(name) ?? undefined
}

export function useDraft(draft: Draft): DraftTimes {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const release = useRef<() => void>(undefined)
  const latest = useRef(draft)
  latest.current = draft
  const now = (): void => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    const { name, text, store } = latest.current
    const written = text()
    const keep = (): unknown => attempt(() => sessionStorage.setItem(name, written))
    // A page that ends does not wait for the store.
    if (isStoreBroken.value) keep()
    const failed = (error: unknown): void => {
      keep()
      notifyError(error)
    }
    const stored = store()?.then(() => sessionStorage.removeItem(name), failed)
    Promise.allSettled([stored]).then(release.current, notifyError)
  }
  const changed = (): void => {
    if (timer.current !== undefined) return
    timer.current = setTimeout(now, STORED_AFTER_MS)
    release.current = holdPage()
  }
  useEffect(() => {
    // The store failed earlier, and may work again.
    if (!isStoreBroken.value && unstoredDraft(draft.name) !== undefined) changed()
  }, [isStoreBroken.value])
  useLayoutEffect(() => {
    // Before the page is unloaded there is time for the store; when it is hidden for good there may be none.
    addEventListener('beforeunload', now)
    addEventListener('pagehide', now)
    return () => {
      removeEventListener('beforeunload', now)
      removeEventListener('pagehide', now)
      now()
    }
  }, [])
  return { changed, now }
}

/**
 * From now on the service worker waits before it loads this page again, because the page ends then. Without a
 * service worker the page lasts until the server answers.
 * @returns lets it go on
 */
function holdPage(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  // Pages without TLS have no locks.
  navigator.locks?.request(DRAFT_LOCK, { mode: 'shared' }, () => promise).catch(notifyError)
  return resolve
}
