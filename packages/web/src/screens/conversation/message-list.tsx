// The messages of a conversation, the latest at the bottom. Only the visible part is drawn.

import { useSignal } from '@preact/signals'
import type { Conversation, StoredMessage } from '@sotto/client'
import { follow, messages } from '@sotto/client/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Empty, Loading } from '../../parts/state.tsx'
import { useVirtualList } from '../../parts/virtual-list.ts'
import { now } from '../../session/clock.ts'
import { notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { dayOf, isSameDay } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { Bubble } from './bubble.tsx'

/** Messages of one person within this time form a group. */
const GROUP_MS = 5 * 60_000

interface MessageListProps {
  readonly conversation: Conversation
  readonly name: string
}

export function MessageList({ conversation, name }: MessageListProps) {
  const { client } = useSession()
  const { conversationId } = conversation
  const list = useSignal<readonly StoredMessage[] | undefined>(undefined)
  useEffect(
    () =>
      follow(client, messages(conversationId), (value, error) => {
        if (value) list.value = value
        else notifyError(error)
      }),
    [conversationId],
  )
  useEffect(() => {
    if (conversation.unread > 0 && document.visibilityState === 'visible')
      client.markRead(conversationId).catch(notifyError)
  }, [conversation.unread])
  const t = texts.value.conversation
  if (!list.value) return <Loading />
  if (list.value.length === 0)
    return (
      <Empty icon="lock" title={t.empty}>
        {t.emptyHint}
      </Empty>
    )
  return <VirtualMessages list={list.value} name={name} />
}

function VirtualMessages({ list, name }: { readonly list: readonly StoredMessage[]; readonly name: string }) {
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const t = texts.value.conversation
  const virtual = useVirtualList({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 56,
    getItemKey: (index) => keyOf(list[index]) ?? index,
    overscan: 10,
    paddingStart: 16,
    paddingEnd: 16,
  })
  useLayoutEffect(() => {
    if (isAtEnd.current) virtual.scrollToIndex(list.length - 1, { align: 'end' })
  }, [list])
  return (
    <div
      ref={scroller}
      class="messages"
      role="log"
      aria-label={t.list(name)}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 80
      }}
    >
      <ol class="messages-list" style={{ blockSize: `${virtual.getTotalSize()}px` }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const message = list[index]
          if (!message) return null
          const before = list[index - 1]
          const isNewDay = !before || !isSameDay(before.time, message.time)
          return (
            <li
              key={key}
              ref={(element) => virtual.measureElement(element)}
              data-index={index}
              class="messages-item"
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={list.length}
              aria-posinset={index + 1}
            >
              {isNewDay && (
                <p class="messages-day">
                  <span>{dayOf(message.time, now.value)}</span>
                </p>
              )}
              <Bubble message={message} name={name} isFirst={isNewDay || !isGroup(before, message)} />
            </li>
          )
        })}
      </ol>
    </div>
  )
}

function isGroup(before: StoredMessage | undefined, message: StoredMessage): boolean {
  return before !== undefined && before.isMe === message.isMe && message.time - before.time < GROUP_MS
}

/** Each side has ids of its own. */
function keyOf(message: StoredMessage | undefined): string | undefined {
  return message && `${message.isMe ? 'me' : 'them'} ${message.id}`
}
