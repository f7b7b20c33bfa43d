// The log of calls: the latest first, with a button to call back.
import type { Conversation } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { ButtonLink, IconButton } from '../../parts/button.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { outcomeOf } from '../../session/calls/call-words.ts'
import { now } from '../../session/clock.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { lengthOf, numberOf, shortTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { type CallGroup, groupsOf } from './call-groups.ts'
import { CallIcon } from './call-icon.tsx'
import { useCallLog } from './use-call-log.ts'
import { usePhone } from './use-phone.ts'
import './calls.css'

export function Calls() {
  const { conversations } = useSession()
  const phone = usePhone()
  const log = useCallLog().value
  const t = texts.value
  const [, current] = route.value.path
  const contacts = new Map(conversations.value?.map((each) => [each.conversationId, each]))
  return (
    <Screen title={t.calls.title} back={href('chats')}>
      {!log ? (
        <Loading />
      ) : log.length === 0 ? (
        <Empty
          icon="call"
          title={t.calls.empty}
          action={<ButtonLink href={href('contacts')}>{t.common.contacts}</ButtonLink>}
        >
          {t.calls.emptyHint}
        </Empty>
      ) : (
        <ul>
          {groupsOf(log).map((group) => (
            <CallRow
              key={group.latest.id}
              group={group}
              contact={contacts.get(group.latest.conversationId)}
              isCurrent={current === group.latest.conversationId}
              onCall={() => phone?.start(group.latest.conversationId, { withVideo: false })}
            />
          ))}
        </ul>
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
  const t = texts.value.calls
  const name = contact?.name ?? contact?.nickname ?? t.somebody
  const said = latest.durationMs === undefined ? outcomeOf(latest, t) : lengthOf(latest.durationMs)
  return (
    <li class="calls-item">
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
    </li>
  )
}
