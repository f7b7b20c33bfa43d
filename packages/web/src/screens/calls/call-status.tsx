// How a call is: calling, connecting, or how long it has lasted.
import type { CallInfo } from '@sotto/client/browser'
import { useEffect, useState } from 'preact/hooks'
import { nowMs } from '../../session/clock.ts'
import { callsTexts } from '../../texts/calls.ts'
import { lengthOf } from '../../texts/dates.ts'

interface CallStatusProps {
  readonly call: CallInfo
  readonly connectedAt: number | undefined
}

export function CallStatus({ call: { state, isElsewhere }, connectedAt }: CallStatusProps) {
  const t = callsTexts.value
  if (state === 'calling') return <span role="status">{t.calling}</span>
  if (state === 'connecting')
    return <span role="status">{connectedAt === undefined ? t.connecting : t.reconnecting}</span>
  return (
    <span>
      {connectedAt !== undefined && <Duration since={connectedAt} />}
      {isElsewhere && ` · ${t.elsewhere}`}
    </span>
  )
}

function Duration({ since }: { readonly since: number }) {
  const [at, setAt] = useState(nowMs)
  useEffect(() => {
    const timer = setInterval(() => setAt(nowMs()), 1000)
    return () => clearInterval(timer)
  }, [])
  return <span class="number">{lengthOf(at - since)}</span>
}
