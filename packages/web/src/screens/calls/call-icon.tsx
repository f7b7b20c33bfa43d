// Says by its picture which way a call went, and whether it was missed.
import type { CallRecord } from '@sotto/client'
import { Icon } from '../../parts/icon.tsx'
import { texts } from '../../texts/texts.ts'

export function CallIcon({ call: { isCaller, missed } }: { readonly call: CallRecord }) {
  const t = texts.value.calls
  return (
    <span class="calls-direction" data-missed={missed}>
      <Icon name={isCaller ? 'callOut' : 'callIn'} />
      <span class="spoken">{isCaller ? t.outgoingCall : t.incomingCall}</span>
    </span>
  )
}
