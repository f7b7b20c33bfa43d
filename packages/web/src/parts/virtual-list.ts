// A list that draws all of its rows while it is short, and only those in view once it is long. The part for
// long lists is loaded when a list needs it, or with calls: a first message needs none of it.
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { LongVirtualList } from './long-virtual-list.ts'
import type { VirtualList, VirtualListOptions } from './placed-rows.ts'
import { MOST_DRAWN, ShortVirtualList } from './short-virtual-list.ts'

let Long: typeof LongVirtualList | undefined

/**
 * Loads the part for long lists. Returns false if it cannot be loaded. Then a list draws all of its rows,
 * which is slower and shows the same, and the next list tries again.
 */
export async function loadLongLists(): Promise<boolean> {
  try {
    Long ??= (await import('./long-virtual-list.ts')).LongVirtualList
    return true
  } catch {
    return false
  }
}

/** A list that scrolls by itself: draws the component again when another part is visible. */
export function useVirtualList(options: VirtualListOptions): VirtualList {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  const redraw = (): void => drawAgain(undefined)
  const isLong = options.count > MOST_DRAWN
  const [first] = useState(() =>
    isLong && Long ? new Long(options, redraw, undefined) : new ShortVirtualList(options, redraw),
  )
  const current = useRef<VirtualList>(first)
  if (isLong && Long && current.current instanceof ShortVirtualList)
    current.current = new Long(options, redraw, current.current.scrollOffset)
  const list = current.current
  list.setOptions(options)
  useLayoutEffect(() => list.mount(), [list])
  useLayoutEffect(() => list.afterDrawing())
  const waiting = isLong && list instanceof ShortVirtualList ? list : undefined
  useEffect(() => {
    if (!waiting) return
    void loadLongLists().then((isLoaded) => {
      if (!isLoaded) waiting.drawAll()
      redraw()
    })
  }, [waiting])
  return list
}
