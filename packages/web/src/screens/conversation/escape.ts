// Escape ends what the screen is in the middle of, before it closes the screen.
import { useLayoutEffect } from 'preact/hooks'

/** While `isActive`, Escape calls `onEscape`, and nothing below it. Dialogs and menus handle it before. */
export function useEscape(isActive: boolean, onEscape: () => void): void {
  useLayoutEffect(() => {
    if (!isActive) return
    const onKey = (event: KeyboardEvent): void => {
      // Escape may end the input of a character.
      if (
        event.key !== 'Escape' ||
        event.isComposing ||
        document.querySelector(':popover-open, dialog[open]')
      )
        return
      event.preventDefault()
      onEscape()
    }
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [isActive])
}
