// Where the focus goes when something new is shown.
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * A ref for the element that takes the focus when it is first shown. The attribute `autofocus` would do it
 * only while the page is loaded.
 */
export function useFirstFocus<T extends HTMLElement>(isWanted = true): RefObject<T | null> {
  const element = useRef<T>(null)
  useLayoutEffect(() => {
    if (isWanted) element.current?.focus()
  }, [])
  return element
}

let isLoading = false

/** Loads what keeps the focus in the page, once. Without it, the browser goes on as it always does. */
export function loadFocusKeeper(): void {
  if (isLoading) return
  isLoading = true
  import('./keep-focus.ts').then(
    ({ keepFocus }) => keepFocus(),
    () => {
      isLoading = false
    },
  )
}
