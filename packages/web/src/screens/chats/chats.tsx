// The list of conversations.
import type { Conversation } from '@sotto/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ButtonLink, IconButton, IconLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { MenuAt } from '../../parts/menu.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { useVirtualList } from '../../parts/virtual-list.ts'
import { now } from '../../session/clock.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { conversationMenu } from './conversation-menu.ts'
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
          <IconLink icon="call" label={t.common.calls} href={href('calls')} />
          <IconLink icon="plus" label={t.chats.addContact} href={href('contacts', 'add')} />
        </>
      }
      top={<ConnectionBanner />}
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
  const [menu, setMenu] = useState<{ readonly id: string; readonly element: Element }>()
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
  const focusRow = (index: number): void => {
    virtual.scrollToIndex(index, { align: 'auto' })
    // A row that was not drawn is there in the next frame.
    requestAnimationFrame(() => rowAt(scroller.current, index)?.focus({ preventScroll: true }))
  }

  // Who closes a conversation by the keyboard is at its row again.
  const before = useRef(current)
  useEffect(() => {
    const index = list.findIndex(({ conversationId }) => conversationId === before.current)
    const { activeElement, body } = document
    if (before.current !== undefined && current === undefined && index >= 0 && activeElement === body)
      focusRow(index)
    before.current = current
  }, [current])

  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, target } = event
    if ((key !== 'ArrowDown' && key !== 'ArrowUp') || event.altKey || !(target instanceof Element)) return
    const index = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index ?? Number.NaN)
    const next = index + (key === 'ArrowDown' ? 1 : -1)
    if (!list[next]) return
    event.preventDefault()
    focusRow(next)
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
            <li
              key={key}
              class="chats-item"
              data-index={index}
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={list.length}
              aria-posinset={index + 1}
            >
              <ConversationRow
                conversation={conversation}
                href={href('chats', conversationId) + place}
                isCurrent={current === conversationId}
                isTyping={session.typing.value.has(conversationId)}
                nowMs={now.value}
              />
              <span class="chats-more">
                <IconButton
                  icon="more"
                  label={t.actions(conversation.name ?? conversation.nickname)}
                  onClick={({ currentTarget }) => {
                    if (currentTarget instanceof Element)
                      setMenu({ id: conversationId, element: currentTarget })
                  }}
                />
              </span>
            </li>
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
        <MenuAt
          key={menu.id}
          label={t.actions(chosen.name ?? chosen.nickname)}
          element={menu.element}
          items={conversationMenu(session, chosen, now.value)}
          onClose={() => setMenu(undefined)}
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
