// Says when the relay cannot be reached.
import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'

/** A connection that is back sooner was never missed. */
const PATIENCE_MS = 1500

export function ConnectionBanner() {
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

  if (session.isReplaced.value || network === 'connected' || !isLong) return null
  return (
    <div class="banner" role="status">
      <span class="spinner" />
      <span>
        {t.connecting} {t.offlineHint}
      </span>
    </div>
  )
}
