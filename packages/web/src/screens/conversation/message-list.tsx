// The messages of a conversation, the latest at the bottom. Only the visible part is drawn, and the window of
// messages moves along with it.
import type { ReadonlySignal } from '@preact/signals'
import type { StoredMessage } from '@sotto/client'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { usePainted } from '../../parts/use-painted.ts'
import { useVirtualList } from '../../parts/virtual-list.ts'
import { now } from '../../session/clock.ts'
import { dayOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { Bubble } from './bubble.tsx'
import type { BubbleActions } from './bubble-actions.ts'
import { estimatedHeight, keyOf, placeOf } from './grouping.ts'
import { useMessageKeys } from './message-keys.ts'
import type { MessagePages, Target } from './message-pages.ts'
import { ToEnd } from './to-end.tsx'
import './message-list.css'

/** The window moves when fewer messages than this are beyond the visible ones. */
const MARGIN = 20
/** So near to the end, in pixels, new messages keep the end in view. */
const END_PX = 80
const HIGHLIGHT_MS = 1600
/** About how much of the window the header and the field to write in take, in pixels. */
const BESIDE_PX = 120

interface MessageListProps {
  readonly pages: MessagePages
  readonly list: readonly StoredMessage[]
  readonly name: string
  /** The number of the conversation's last message; undefined while that is not sent. */
  readonly lastSeq: number | undefined
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
  const isFollowing = useRef(false)
  const seen = useRef({ first: '', last: '', scrollTop: 0 })
  const shownLast = useRef('')
  const wasAsked = useRef(false)
  const t = texts.value.conversation
  const width = useRef(innerWidth)
  const isPainted = usePainted()
  const estimates = useRef(new WeakMap<StoredMessage, number>())
  const virtual = useVirtualList({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      const message = list[index]
      if (!message) return 56
      const known = estimates.current.get(message)
      if (known !== undefined) return known
      const height = estimatedHeight(message, placeOf(list[index - 1], message, unreadSeq), width.current)
      // What stands above the first one is not known while there are earlier ones.
      if (index > 0) estimates.current.set(message, height)
      return height
    },
    getItemKey: useCallback(
      (index: number) => {
        const message = list[index]
        return message ? keyOf(message) : index
      },
      [list],
    ),
    measureElement: exactHeight,
    overscan: isPainted ? 7 : 0,
    paddingStart: 16,
    paddingEnd: 16,
    // What is in view stays there when messages are added before it, and the end stays in view.
    anchorTo: 'end',
    scrollEndThreshold: END_PX,
    onScrolled: () => tell(),
    // Before the list is on the screen: about where it will be opened.
    initialRect: { width: innerWidth, height: innerHeight - BESIDE_PX },
    initialOffset: () => offsetOf(target, list, unreadSeq),
  })
  const keys = useMessageKeys({ list, virtual, scroller, pages, onOpen: actions.onMenu })

  const [first, last] = [keyAt(list, 0), keyAt(list, -1)]
  // Who sees the end sees what comes there, however much it is.
  useLayoutEffect(() => {
    const isNew = last !== shownLast.current
    shownLast.current = last
    if (!isNew || !isFollowing.current || target !== undefined) return
    if (hasLater) pages.show('end')
    else virtual.scrollToEnd()
  }, [list])

  // Who is at the very end stays there when rows turn out to be higher than was thought.
  const height = virtual.getTotalSize()
  const heightBefore = useRef(0)
  useLayoutEffect(() => {
    const before = heightBefore.current
    heightBefore.current = height
    const element = scroller.current
    if (!element || !isFollowing.current) return
    if (before - element.clientHeight - element.scrollTop <= 1) virtual.scrollToEnd()
  }, [height])

  // The keyboard of a phone makes the list lower.
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      if (width.current !== element.clientWidth) estimates.current = new WeakMap()
      width.current = element.clientWidth
      if (isFollowing.current) virtual.scrollToEnd()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  useLayoutEffect(() => {
    if (target === undefined) return
    if (target === 'end') {
      if (hasLater) return
      virtual.scrollToEnd()
      isFollowing.current = true
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
    isFollowing.current = false
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
    // What is done about it draws the screen again, which can wait for the first frame.
    if (!isPainted || !scroller.current || pages.target.value !== undefined) return
    const { scrollTop, scrollHeight, clientHeight } = scroller.current
    const isSeen = !hasLater && scrollHeight - scrollTop - clientHeight <= END_PX
    // Who scrolls up leaves the end. Messages that come only move it away, and are followed.
    const before = seen.current
    seen.current = { first, last, scrollTop }
    const isUp = scrollTop < before.scrollTop || (last === before.last && first !== before.first)
    if (isSeen) isFollowing.current = true
    else if (isUp) isFollowing.current = false
    if (isSeen) pages.stayAtEnd()
    moveWindow()
  }
  // It draws the screen again, so the frame of a scroll does not wait for it.
  const tell = (): void => {
    if (!isPainted || pages.target.value !== undefined) return
    setEndSeen(isFollowing.current)
    onEndSeen(isFollowing.current)
  }
  useEffect(() => {
    look()
    tell()
  }, [list, isPainted])

  // What is not sent is at the end, and has no numbers yet. `-1` says that the end is not known.
  const sent = list.findLastIndex(({ seq }) => seq !== undefined)
  const count = hasLater ? (lastSeq ?? -1) : (list[sent]?.seq ?? 0) + list.length - 1 - sent
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
        <ol
          class="messages-list"
          style={{ blockSize: `${height}px`, paddingBlockStart: `${items[0]?.start ?? 0}px` }}
        >
          {items.map(({ index, key }) => {
            const message = list[index]
            if (!message) return null
            const place = placeOf(list[index - 1], message, unreadSeq)
            return (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                class="messages-item"
                aria-setsize={count}
                aria-posinset={message.seq ?? count - (list.length - 1 - index)}
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

function keyAt(list: readonly StoredMessage[], index: number): string {
  const message = list.at(index)
  return message ? keyOf(message) : ''
}

/** About how far from the beginning of the list a target is, in pixels. */
function offsetOf(target: Target | undefined, list: readonly StoredMessage[], unreadSeq?: number): number {
  const isBefore = ({ seq = Number.POSITIVE_INFINITY }: StoredMessage): boolean =>
    typeof target !== 'object' || seq < target.seq
  return list
    .filter(isBefore)
    .map((message, at) => estimatedHeight(message, placeOf(list[at - 1], message, unreadSeq), innerWidth))
    .reduce((sum, height) => sum + height, 0)
}

/** A row's height with its fractions: the rows after it stand directly below it. In pixels. */
function exactHeight(row: HTMLElement, entry: ResizeObserverEntry | undefined): number {
  const height = entry?.borderBoxSize[0]?.blockSize ?? row.getBoundingClientRect().height
  return Math.round(height * 1000) / 1000
}

/** Whether the focus is nowhere, or in the frame of the list. */
function isFocusLost(list: HTMLElement | null): boolean {
  const { activeElement, body } = document
  return activeElement === null || activeElement === body || !!list?.parentElement?.contains(activeElement)
}
