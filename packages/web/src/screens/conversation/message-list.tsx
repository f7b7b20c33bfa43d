// The messages of a conversation, the latest at the bottom. Only the visible part is drawn, and the window of
// messages moves along with it.
import type { ReadonlySignal } from '@preact/signals'
import type { StoredMessage } from '@sotto/client'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useVirtualList } from '../../parts/virtual-list.ts'
import { now } from '../../session/clock.ts'
import { dayOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { Bubble } from './bubble.tsx'
import type { BubbleActions } from './bubble-actions.ts'
import { estimatedHeight, keyOf, placeOf } from './grouping.ts'
import { useMessageKeys } from './message-keys.ts'
import type { MessagePages } from './message-pages.ts'
import { ToEnd } from './to-end.tsx'

/** The window moves when fewer messages than this are beyond the visible ones. */
const MARGIN = 20
/** So near to the end, in pixels, new messages keep the end in view. */
const END_PX = 80
const HIGHLIGHT_MS = 1600

interface MessageListProps {
  readonly pages: MessagePages
  readonly list: readonly StoredMessage[]
  readonly name: string
  /** The number of the conversation's last message, for the position in the list. */
  readonly lastSeq: number
  /** The message above which the unread line is. */
  readonly unreadSeq: number | undefined
  /** How many messages have come since the end was last in view. */
  readonly newCount: number
  readonly selected: ReadonlySignal<ReadonlySet<string> | undefined>
  readonly actions: BubbleActions
  readonly onEndSeen: (isEndSeen: boolean) => void
}

export function MessageList(props: MessageListProps) {
  const { pages, list, name, lastSeq, unreadSeq, newCount, selected, actions, onEndSeen } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [isEndSeen, setEndSeen] = useState(true)
  const [highlighted, setHighlighted] = useState<string>()
  const hasLater = pages.hasLater.value
  const target = pages.target.value
  const couldFollow = useRef(!hasLater)
  const wasAsked = useRef(false)
  const t = texts.value.conversation
  const virtual = useVirtualList({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      const message = list[index]
      return message ? estimatedHeight(message, scroller.current?.clientWidth ?? 600) : 56
    },
    getItemKey: useCallback(
      (index: number) => {
        const message = list[index]
        return message ? keyOf(message) : index
      },
      [list],
    ),
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 16,
    // What is in view stays there when messages are added before it, and the end stays in view.
    anchorTo: 'end',
    followOnAppend: couldFollow.current,
    scrollEndThreshold: END_PX,
  })
  const keys = useMessageKeys({ list, virtual, scroller, pages, onOpen: actions.onMenu })
  useLayoutEffect(() => {
    couldFollow.current = !hasLater
  })

  useLayoutEffect(() => {
    if (target === undefined) return
    if (target === 'end') {
      if (hasLater) return
      virtual.scrollToEnd()
      pages.reached()
      // The focus was on what is not drawn any more. While one writes, it stays in the field.
      if (wasAsked.current && isFocusLost(scroller.current)) keys.focus(list.length - 1)
      wasAsked.current = true
      return
    }
    const index = list.findIndex(({ seq = Number.POSITIVE_INFINITY }) => seq >= target.seq)
    const message = list[index]
    if (!message || (index === 0 && pages.hasEarlier.value)) return
    virtual.scrollToIndex(index, { align: target.isQuiet ? 'start' : 'center' })
    pages.reached()
    wasAsked.current = true
    if (target.isQuiet) return
    setHighlighted(keyOf(message))
    keys.focus(index)
  }, [target, list])

  useEffect(() => {
    if (highlighted === undefined) return
    const timer = setTimeout(() => setHighlighted(undefined), HIGHLIGHT_MS)
    return () => clearTimeout(timer)
  }, [highlighted])

  const items = virtual.getVirtualItems()

  // By where the element is scrolled to, which the virtualizer may learn of only after this.
  const moveWindow = (): void => {
    if (!scroller.current || pages.target.value !== undefined) return
    const { scrollTop, clientHeight } = scroller.current
    const top = virtual.getVirtualItemForOffset(scrollTop)?.index ?? 0
    const bottom = virtual.getVirtualItemForOffset(scrollTop + clientHeight)?.index ?? list.length - 1
    const isNear = (pages.hasEarlier.value && top < MARGIN) || (hasLater && bottom >= list.length - MARGIN)
    const middle = list[Math.floor((top + bottom) / 2)]
    if (isNear && middle?.seq !== undefined) pages.moveTo(middle.seq)
  }

  const look = (): void => {
    const isSeen = !hasLater && virtual.isAtEnd(END_PX)
    setEndSeen(isSeen)
    onEndSeen(isSeen)
    moveWindow()
  }
  useEffect(look, [list])

  const focusable = keys.focusableAmong(items.map(({ index }) => index))
  return (
    <div class="messages-frame">
      <section
        ref={scroller}
        class="messages"
        aria-label={t.list(name)}
        data-selecting={selected.value !== undefined}
        onScroll={look}
        onKeyDown={keys.onKeyDown}
      >
        <ol class="messages-list" style={{ blockSize: `${virtual.getTotalSize()}px` }}>
          {items.map(({ index, key, start }) => {
            const message = list[index]
            if (!message) return null
            const place = placeOf(list[index - 1], message, unreadSeq)
            return (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                class="messages-item"
                style={{ transform: `translateY(${start}px)` }}
                aria-setsize={Math.max(lastSeq, list.length)}
                aria-posinset={message.seq ?? lastSeq + 1}
              >
                {place.isNewDay && (
                  <p class="messages-day">
                    <span>{dayOf(message.time, now.value)}</span>
                  </p>
                )}
                {place.isFirstUnread && (
                  <p class="messages-unread">
                    <span>{t.unreadLine}</span>
                  </p>
                )}
                <Bubble
                  message={message}
                  name={name}
                  isFirst={place.isFirst}
                  isFocusable={index === focusable}
                  isHighlighted={key === highlighted}
                  isSelected={selected.value?.has(keyOf(message))}
                  actions={actions}
                />
              </li>
            )
          })}
        </ol>
      </section>
      {!isEndSeen && <ToEnd count={newCount} onClick={() => pages.show('end')} />}
    </div>
  )
}

/** Whether the focus is nowhere, or in the frame of the list. */
function isFocusLost(list: HTMLElement | null): boolean {
  const { activeElement, body } = document
  return activeElement === null || activeElement === body || !!list?.parentElement?.contains(activeElement)
}
