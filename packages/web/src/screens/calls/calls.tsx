// The log of calls: the latest first, with a button to call back.
import type { Conversation } from '@sotto/client'
import { useEffect } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { ButtonLink, IconButton } from '../../parts/button.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { outcomeOf } from '../../session/calls/call-words.ts'
import { now } from '../../session/clock.ts'
import { prefer } from '../../session/preferences.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { callsTexts } from '../../texts/calls.ts'
import { lengthOf, numberOf, shortTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { type CallGroup, groupsOf } from './call-groups.ts'
import { CallIcon } from './call-icon.tsx'
import { useCallLog } from './use-call-log.ts'
import { usePhone } from './use-phone.ts'
import './calls.css'

export function Calls() {
  useSeen()
  const { conversations } = useSession()
  const phone = usePhone()
  const log = useCallLog().value
  const t = texts.value
  const [, current] = route.value.path
  const contacts = new Map(conversations.value?.map((each) => [each.conversationId, each]))
  return (
    <Screen title={callsTexts.value.title} back={href('chats')} isBackNarrow>
      {!log ? (
        <Loading />
      ) : log.length === 0 ? (
        <Empty
          icon="call"
          title={callsTexts.value.empty}
          action={<ButtonLink href={href('contacts')}>{t.common.contacts}</ButtonLink>}
        >
          {callsTexts.value.emptyHint}
        </Empty>
      ) : (
        <LongList items={groupsOf(log)} keyOf={({ latest }) => latest.id}>
          {(group) => (
            <CallRow
              group={group}
              contact={contacts.get(group.latest.conversationId)}
              isCurrent={current === group.latest.conversationId}
              onCall={() => phone?.start(group.latest.conversationId, { withVideo: false })}
            />
          )}
        </LongList>
      )}
    </Screen>
  )
}

interface CallRowProps {
  readonly group: CallGroup
  readonly contact: Conversation | undefined
  readonly isCurrent: boolean
  readonly onCall: () => void
}

function CallRow({ group: { latest, count }, contact, isCurrent, onCall }: CallRowProps) {
  const t = callsTexts.value
  const name = contact?.name ?? contact?.nickname ?? t.somebody
  const said = latest.durationMs === undefined ? outcomeOf(latest, t) : lengthOf(latest.durationMs)
  return (
    <div class="calls-item">
      <Row
        lead={<Avatar name={name} seed={latest.conversationId} />}
        title={
          <span data-missed={latest.missed} class="calls-name">
            <bdi>{name}</bdi>
            {count > 1 && ` (${numberOf(count)})`}
          </span>
        }
        detail={
          <span class="calls-outcome">
            <CallIcon call={latest} />
            {said}
          </span>
        }
        end={<span class="soft small">{shortTime(latest.startedAt, now.value)}</span>}
        href={href('calls', latest.conversationId)}
        isCurrent={isCurrent}
      />
      {contact?.isFriend && <IconButton icon="call" label={t.callBack(name)} onClick={onCall} />}
    </div>
  )
}

/** Remembers that the user has seen the missed calls, once they look. */
function useSeen(): void {
  const { missedCalls } = useSession()
  const [latest] = missedCalls.value
  useEffect(() => {
    const see = (): void => {
      if (latest && !document.hidden) prefer({ callsSeenAt: latest.startedAt })
    }
    see()
    document.addEventListener('visibilitychange', see)
    return () => document.removeEventListener('visibilitychange', see)
  }, [latest])
}
