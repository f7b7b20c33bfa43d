// Says by its picture which way a call went, and whether it was missed.
import type { CallRecord } from '@sotto/client'
import { Icon } from '../../parts/icon.tsx'
import { callsTexts } from '../../texts/calls.ts'

export function CallIcon({ call: { isCaller, missed } }: { readonly call: CallRecord }) {
  const t = callsTexts.value
  return (
    <span class="calls-direction" data-missed={missed}>
      <Icon name={isCaller ? 'callOut' : 'callIn'} />
      <span class="spoken">{isCaller ? t.outgoingCall : t.incomingCall}</span>
    </span>
  )
}
