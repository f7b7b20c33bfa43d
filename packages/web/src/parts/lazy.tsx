// A part of the app that is loaded when it is first shown.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { notifyError } from '../session/notices.ts'
import { Loading } from './state.tsx'

/**
 * Makes a component of one that is loaded by need. `load` imports it, once. Until then there is `Meanwhile`.
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Meanwhile: ComponentType<P> = Loading,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [Shown, show] = useState<ComponentType<P> | undefined>(() => loaded)
    useEffect(() => {
      if (loaded) return
      load().then((component) => {
        loaded = component
        show(() => component)
      }, notifyError)
    }, [])
    return Shown ? <Shown {...props} /> : <Meanwhile {...props} />
  }
}
