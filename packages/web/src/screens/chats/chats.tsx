// The list of conversations.
import type { Conversation } from '@sotto/client'
import { useRef } from 'preact/hooks'
import { ButtonLink, IconLink } from '../../parts/button.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { useVirtualList } from '../../parts/virtual-list.ts'
import { now } from '../../session/clock.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { ConversationRow } from './conversation-row.tsx'
import './chats.css'

export function Chats() {
  const session = useSession()
  const t = texts.value
  const all = session.conversations.value
  const requests = session.friends.value.filter(
    ({ status, direction }) => status === 'pending' && direction === 'received',
  ).length
  const showsArchive = route.value.query.archived !== undefined
  const shown = all?.filter(({ archived = false }) => archived === showsArchive)
  const archived = all?.filter((each) => each.archived).length ?? 0
  return (
    <Screen
      title={showsArchive ? t.chats.archived : t.chats.title}
      {...(showsArchive ? { back: href('chats') } : {})}
      isFixed
      actions={
        <>
          <IconLink icon="search" label={t.common.search} href={href('search')} />
          <IconLink icon="plus" label={t.chats.addContact} href={href('contacts', 'add')} />
        </>
      }
      top={<ConnectionBanner />}
    >
      {!shown ? (
        <Loading />
      ) : shown.length === 0 && requests === 0 && archived === 0 ? (
        <Empty
          icon="chats"
          title={t.chats.empty}
          action={
            <ButtonLink kind="primary" icon="plus" href={href('contacts', 'add')}>
              {t.chats.addContact}
            </ButtonLink>
          }
        >
          {t.chats.emptyHint}
        </Empty>
      ) : (
        <ConversationList
          list={shown}
          requests={showsArchive ? 0 : requests}
          archived={showsArchive ? 0 : archived}
        />
      )}
    </Screen>
  )
}

interface ConversationListProps {
  readonly list: readonly Conversation[]
  readonly requests: number
  readonly archived: number
}

function ConversationList({ list, requests, archived }: ConversationListProps) {
  const session = useSession()
  const scroller = useRef<HTMLDivElement>(null)
  const t = texts.value.chats
  const virtual = useVirtualList({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 68,
    getItemKey: (index) => list[index]?.conversationId ?? index,
    overscan: 8,
  })
  const [, current] = route.value.path
  return (
    <div ref={scroller} class="chats-scroller">
      {requests > 0 && <Row title={t.requests(requests)} href={href('contacts')} />}
      <ul class="chats-list" style={{ blockSize: `${virtual.getTotalSize()}px` }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const conversation = list[index]
          if (!conversation) return null
          return (
            <li
              key={key}
              class="chats-item"
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={list.length}
              aria-posinset={index + 1}
            >
              <ConversationRow
                conversation={conversation}
                href={href('chats', conversation.conversationId)}
                isCurrent={current === conversation.conversationId}
                isTyping={session.typing.value.has(conversation.conversationId)}
                nowMs={now.value}
              />
            </li>
          )
        })}
      </ul>
      {archived > 0 && <Row title={t.archivedCount(archived)} href={`${href('chats')}?archived=1`} />}
    </div>
  )
}
