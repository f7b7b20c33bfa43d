// Above every screen: the relay cannot be reached.
import { useEffect, useState } from 'preact/hooks'
import { isStoreBroken, suspension } from '../session/notices.ts'
import { route } from '../session/route.ts'
import { useSession } from '../session/use-session.ts'
import { texts } from '../texts/texts.ts'

/** A shorter interruption is not shown, in milliseconds. */
const PATIENCE_MS = 1500

export function ConnectionBar() {
  const session = useSession()
  const t = texts.value.common
  const network = session.network.value
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    setLong(false)
    if (network === 'connected') return
    const timer = setTimeout(() => setLong(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [network === 'connected'])

  // Other bars say it.
  if (session.isReplaced.value || isStoreBroken.value || suspension.value) return null
  if (network === 'connected' || !isLong) return null
  const [place = 'chats'] = route.value.path
  return (
    <div class="app-bar" data-kind="connection" role="status">
      <span class="spinner" />
      <span>
        {t.connecting} {place === 'chats' && t.offlineHint}
      </span>
    </div>
  )
}
