// The list of conversations.
import type { Conversation } from '@sotto/client'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Badge } from '../../parts/badge.tsx'
import { ButtonLink, IconLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { lazy } from '../../parts/lazy.tsx'
import type { Place } from '../../parts/menu-place.ts'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { useVirtualList } from '../../parts/virtual-list.ts'
import { now } from '../../session/clock.ts'
import { attempt } from '../../session/notices.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { ConversationItem } from './conversation-item.tsx'
import './chats.css'

const ClearDialog = lazy(
  async () => (await import('./clear-dialog.tsx')).ClearDialog,
  () => null,
)
const ConversationMenu = lazy(
  async () => (await import('./conversation-menu.tsx')).ConversationMenu,
  () => null,
)

export function Chats() {
  const session = useSession()
  const t = texts.value
  const all = session.conversations.value
  const missed = session.missedCalls.value
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
          <span class="chats-calls">
            <IconLink icon="call" label={t.common.calls} href={href('calls')} />
            {missed.length > 0 && <Badge count={missed.length} label={t.common.missed(missed.length)} />}
          </span>
          <IconLink icon="plus" label={t.chats.addContact} href={href('contacts', 'add')} />
        </>
      }
    >
      {!shown ? (
        <Loading />
      ) : !showsArchive && shown.length === 0 && requests === 0 && archived === 0 ? (
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
      ) : showsArchive && shown.length === 0 ? (
        <Empty
          icon="archive"
          title={t.chats.archiveEmpty}
          action={<ButtonLink href={href('chats')}>{t.chats.toChats}</ButtonLink>}
        >
          {t.chats.archiveEmptyHint}
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
  const [menu, setMenu] = useState<{ readonly id: string; readonly place: Place }>()
  const [cleared, clear] = useState<Conversation>()
  const t = texts.value.chats
  const virtual = useVirtualList({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 68,
    getItemKey: (index) => list[index]?.conversationId ?? index,
    overscan: 8,
  })
  const { path, query } = route.value
  const [, current] = path
  const place = query.archived === undefined ? '' : '?archived=1'

  // The row that gets the focus once it is drawn: one out of view, or any row of a hidden list, is not yet.
  const wanted = useRef<string>(undefined)
  const focusWanted = (): void => {
    if (wanted.current === undefined) return
    const index = list.findIndex(({ conversationId }) => conversationId === wanted.current)
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' })
    const row = rowAt(scroller.current, index)
    row?.focus({ preventScroll: true })
    if (row || index < 0) wanted.current = undefined
  }
  // After a conversation was closed by the keyboard, the focus returns to its row.
  const before = useRef(current)
  useLayoutEffect(() => {
    if (current === undefined && document.activeElement === document.body) wanted.current = before.current
    before.current = current
  }, [current])
  useLayoutEffect(focusWanted)

  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, target } = event
    if ((key !== 'ArrowDown' && key !== 'ArrowUp') || event.altKey || !(target instanceof Element)) return
    const index = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index ?? Number.NaN)
    const next = list[index + (key === 'ArrowDown' ? 1 : -1)]
    if (!next) return
    event.preventDefault()
    wanted.current = next.conversationId
    focusWanted()
  }
  const chosen = menu && list.find(({ conversationId }) => conversationId === menu.id)
  return (
    <div ref={scroller} class="chats-scroller">
      {requests > 0 && (
        <Row lead={<RowIcon name="contacts" />} title={t.requests(requests)} href={href('contacts')} />
      )}
      <ul class="chats-list" style={{ blockSize: `${virtual.getTotalSize()}px` }} onKeyDown={onKeyDown}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const conversation = list[index]
          if (!conversation) return null
          const { conversationId } = conversation
          return (
            <ConversationItem
              key={key}
              conversation={conversation}
              index={index}
              count={list.length}
              startPx={start}
              href={href('chats', conversationId) + place}
              isCurrent={current === conversationId}
              missedCall={session.missedCalls.value.find((call) => call.conversationId === conversationId)}
              isTyping={session.typing.value.has(conversationId)}
              nowMs={now.value}
              onMenu={(at) => setMenu({ id: conversationId, place: at })}
            />
          )
        })}
      </ul>
      {archived > 0 && (
        <Row
          lead={<RowIcon name="archive" />}
          title={t.archivedCount(archived)}
          href={`${href('chats')}?archived=1`}
        />
      )}
      {menu && chosen && (
        <ConversationMenu
          key={menu.id}
          session={session}
          conversation={chosen}
          place={menu.place}
          nowMs={now.value}
          onClear={() => clear(chosen)}
          onClose={() => setMenu(undefined)}
        />
      )}
      {cleared && (
        <ClearDialog
          name={cleared.name ?? cleared.nickname}
          onClear={() => attempt(() => session.organizer.clear(cleared.conversationId))}
          onClose={() => clear(undefined)}
        />
      )}
    </div>
  )
}

function RowIcon({ name }: { readonly name: 'contacts' | 'archive' }) {
  return (
    <span class="chats-icon">
      <Icon name={name} />
    </span>
  )
}

function rowAt(list: HTMLElement | null, index: number): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-index="${index}"] a`) ?? null
}
