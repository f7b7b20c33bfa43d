// A list of any length in a screen that scrolls: only the rows in view and some beside them are drawn.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useVirtualList } from './virtual-list.ts'
import './long-list.css'

interface LongListProps<T> {
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  readonly children: (item: T) => ComponentChildren
  /** The height of most rows, in pixels. */
  readonly rowHeight?: number
}

/** The height of a usual row: `--row` in tokens.css. */
const ROW_HEIGHT = 68

export function LongList<T>({ items, keyOf, children, rowHeight = ROW_HEIGHT }: LongListProps<T>) {
  const list = useRef<HTMLUListElement>(null)
  // What is above the list scrolls with it.
  const [above, setAbove] = useState(0)
  const scroller = (): HTMLElement | null => list.current?.closest<HTMLElement>('.screen-content') ?? null
  const virtual = useVirtualList({
    count: items.length,
    getScrollElement: scroller,
    estimateSize: () => rowHeight,
    getItemKey: (index) => {
      const item = items[index]
      return item === undefined ? index : keyOf(item)
    },
    overscan: 8,
    scrollMargin: above,
  })
  useLayoutEffect(() => {
    const frame = scroller()
    if (!frame || !list.current) return
    const top = list.current.getBoundingClientRect().top - frame.getBoundingClientRect().top
    setAbove(Math.round(top + frame.scrollTop))
  })
  return (
    <ul ref={list} class="long-list" style={{ blockSize: `${virtual.getTotalSize()}px` }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const item = items[index]
        if (item === undefined) return null
        return (
          <li
            key={key}
            ref={virtual.measureElement}
            class="long-list-item"
            data-index={index}
            style={{ transform: `translateY(${start - above}px)` }}
            aria-setsize={items.length}
            aria-posinset={index + 1}
          >
            {children(item)}
          </li>
        )
      })}
    </ul>
  )
}
