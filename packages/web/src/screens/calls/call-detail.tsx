// The calls with one contact.
import { useSignal } from '@preact/signals'
import type { CallRecord } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, ButtonLink, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { outcomeOf } from '../../session/calls/call-words.ts'
import { attempt } from '../../session/notices.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { callsTexts } from '../../texts/calls.ts'
import { fullTime, lengthOf } from '../../texts/dates.ts'
import { CallButtons } from './call-buttons.tsx'
import { CallIcon } from './call-icon.tsx'
import { useCallLog } from './use-call-log.ts'
import { usePhone } from './use-phone.ts'
import './calls.css'

export function CallDetail({ id }: { readonly id: string }) {
  const { conversations } = useSession()
  const phone = usePhone()
  const log = useCallLog().value
  const asksToRemove = useSignal(false)
  const t = callsTexts.value
  const calls = log?.filter(({ conversationId }) => conversationId === id)
  const contact = conversations.value?.find(({ conversationId }) => conversationId === id)
  const name = contact?.name ?? contact?.nickname ?? t.somebody
  const remove = (which: readonly CallRecord[]): Promise<boolean> =>
    attempt(() => phone?.log.remove(which.map((call) => call.id)))
  return (
    <Screen title="" back={href('calls')}>
      {!calls ? (
        <Loading />
      ) : calls.length === 0 ? (
        <Empty
          icon="call"
          title={t.unknown}
          isAlone
          action={<ButtonLink href={href('calls')}>{t.title}</ButtonLink>}
        />
      ) : (
        <div class="column">
          <div class="calls-person">
            <Avatar name={name} seed={id} size="large" />
            <h1>
              <bdi>{name}</bdi>
            </h1>
            <span class="soft">{t.times(calls.length)}</span>
            {contact?.isFriend && (
              <div class="calls-actions">
                <ButtonLink kind="primary" icon="chats" href={href('chats', id)}>
                  {t.message}
                </ButtonLink>
                <CallButtons conversationId={id} />
              </div>
            )}
          </div>
          <ul class="card calls-card">
            {calls.map((call) => (
              <li key={call.id} class="calls-item">
                <Row
                  lead={<CallIcon call={call} />}
                  title={fullTime(call.startedAt)}
                  detail={
                    call.durationMs === undefined
                      ? outcomeOf(call, t)
                      : `${lengthOf(call.durationMs)} · ${outcomeOf(call, t)}`
                  }
                />
                <IconButton icon="trash" label={t.remove} onClick={() => remove([call])} />
              </li>
            ))}
          </ul>
          <Button icon="trash" onClick={() => (asksToRemove.value = true)}>
            {t.removeAll}
          </Button>
        </div>
      )}
      {asksToRemove.value && calls && (
        <Confirm
          title={t.removeAllTitle}
          text={t.removeAllText}
          action={t.removeAll}
          isDangerous
          onConfirm={async () => {
            const go = goFromHere()
            if (await remove(calls)) go(href('calls'))
          }}
          onClose={() => (asksToRemove.value = false)}
        />
      )}
    </Screen>
  )
}
