// A part of the app that is loaded when it is first shown.
import { ClientError } from '@sotto/client'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { offerReload } from '../session/notices.ts'
import { loadTexts } from '../texts/texts.ts'
import { Failed } from './failed.tsx'
import { Loading } from './state.tsx'

/**
 * Makes a component that loads another one when it is first shown. `load` imports it, once. Until then
 * `Meanwhile` is shown.
 * If it cannot be loaded, the user can try again: in the place of the part, or in a notice if it has a
 * `Meanwhile`. That loads the page again, because browsers remember a script that failed. Drafts are in the
 * store.
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Meanwhile?: ComponentType<P>,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [Shown, show] = useState<ComponentType<P> | undefined>(() => loaded)
    const [failure, fail] = useState<unknown>()
    useEffect(() => {
      if (loaded) return
      loadPart(load).then(
        (component) => {
          loaded = component
          show(() => component)
        },
        (error: unknown) => {
          if (!Meanwhile) return fail(error)
          offerReload(error)
        },
      )
    }, [])
    if (Shown) return <Shown {...props} />
    if (Meanwhile) return <Meanwhile {...props} />
    return failure === undefined ? <Loading /> : <Failed error={failure} onRetry={tryAgain} />
  }
}

/** Loads a part of the app, and its texts. `load` imports it. @throws ClientError `NETWORK` */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    const loaded = await load()
    await loadTexts()
    return loaded
  } catch (cause) {
    throw new ClientError('NETWORK', 'a part of the app could not be loaded', { cause })
  }
}

function tryAgain(): void {
  location.reload()
}
