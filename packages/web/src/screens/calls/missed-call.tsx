// Says in a conversation that a call was missed, until the log of calls is seen.
import type { CallRecord } from '@sotto/client'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../session/route.ts'
import { dayOf, timeOfDay } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'

export function MissedCall({ call, nowMs }: { readonly call: CallRecord; readonly nowMs: number }) {
  const { conversationId, startedAt } = call
  return (
    <a class="banner" data-kind="danger" href={href('calls', conversationId)}>
      <Icon name="callIn" />
      <span>
        {texts.value.chats.missedCall} · {dayOf(startedAt, nowMs)}, {timeOfDay(startedAt)}
      </span>
    </a>
  )
}
