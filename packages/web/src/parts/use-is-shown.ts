// Whether something is still shown when its work ends.
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * A function that says whether the component is still shown. The user may leave a dialog while it works: what
 * would close it then would close the dialog that is open instead.
 */
export function useIsShown(): () => boolean {
  const isShown = useRef(false)
  useLayoutEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  return () => isShown.current
}
