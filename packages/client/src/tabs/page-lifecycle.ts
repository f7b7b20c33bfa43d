// The page lifecycle: the browser may freeze a page, or keep it for the back button, and resume it later.

/**
 * Calls `onPause` before the page is frozen or ends, and `onResume` when it resumes; returns a function that
 * ends this.
 */
export function watchPageLifecycle(onPause: () => void, onResume: () => void): () => void {
  document.addEventListener('freeze', onPause)
  document.addEventListener('resume', onResume)
  addEventListener('pagehide', onPause)
  addEventListener('pageshow', onResume)
  return () => {
    document.removeEventListener('freeze', onPause)
    document.removeEventListener('resume', onResume)
    removeEventListener('pagehide', onPause)
    removeEventListener('pageshow', onResume)
  }
}
