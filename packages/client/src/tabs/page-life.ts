// When a page stops running although it is still there (frozen, or kept for the back button), and when it goes on.

/** Calls `onGo` before the page stops or ends, and `onCome` when it goes on; returns what ends that. */
export function watchPage(onGo: () => void, onCome: () => void): () => void {
  document.addEventListener('freeze', onGo)
  document.addEventListener('resume', onCome)
  addEventListener('pagehide', onGo)
  addEventListener('pageshow', onCome)
  return () => {
    document.removeEventListener('freeze', onGo)
    document.removeEventListener('resume', onCome)
    removeEventListener('pagehide', onGo)
    removeEventListener('pageshow', onCome)
  }
}
