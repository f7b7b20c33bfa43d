// Draws only the visible part of a long list: TanStack's virtual-core, bound to Preact.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { DrawnRows } from './drawn-rows.ts'

type Options = Omit<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'observeElementRect' | 'observeElementOffset' | 'scrollToFn' | 'rangeExtractor' | 'onChange'
> & {
  /** Called when a frame that has scrolled is painted: for what can wait until then. */
  readonly onScrolled?: () => void
}

/** A virtualizer of a list that scrolls by itself: draws the component again when another part is visible. */
export function useVirtualList(options: Options): Virtualizer<HTMLElement, HTMLElement> {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  const onScrolled = useRef(options.onScrolled)
  onScrolled.current = options.onScrolled
  const [rows] = useState(
    () =>
      new DrawnRows(() => {
        onScrolled.current?.()
        drawAgain(undefined)
      }),
  )
  const [rangeExtractor] = useState(
    () => (range: Range) => rows.choose(range, (index) => virtualizer.options.getItemKey(index)),
  )
  const drawnSize = useRef(0)
  const isMeasuring = useRef(false)
  const scroll = useRef<() => void>(undefined)
  const flush = (): void => {
    scroll.current?.()
    scroll.current = undefined
  }
  const resolved: VirtualizerOptions<HTMLElement, HTMLElement> = {
    observeElementRect,
    observeElementOffset: (list, tell) => {
      const { scrollElement } = list
      // The tab key leads to the next row only if that is drawn, and a frame may be long in coming.
      const onKeyDown = ({ key }: KeyboardEvent): void => {
        if (key !== 'Tab') return
        rows.drawAll()
        tell(scrollElement?.scrollTop ?? 0, false)
        drawAgain(undefined)
      }
      scrollElement?.addEventListener('keydown', onKeyDown)
      const stop = observeElementOffset(list, (offset, isScrolling) => {
        if (isScrolling) rows.scrolled(offset)
        tell(offset, isScrolling)
      })
      return () => {
        scrollElement?.removeEventListener('keydown', onKeyDown)
        stop?.()
      }
    },
    rangeExtractor,
    // While new rows are measured, each of them corrects the place. Only the last correction is made: after
    // each one the browser would have to lay out the page again for the next row.
    scrollToFn: (...place) => {
      scroll.current = () => {
        elementScroll(...place)
        const [, { adjustments, behavior }, { scrollElement }] = place
        if (adjustments || behavior === 'smooth' || !scrollElement) return
        if (virtualizer.scrollOffset === scrollElement.scrollTop) return
        // The browser tells of the new place only with its next frame. Until then the rows of the former
        // place would be drawn, and nothing would be seen after a long way.
        virtualizer.scrollOffset = scrollElement.scrollTop
        drawAgain(undefined)
      }
      if (!isMeasuring.current) flush()
    },
    ...options,
    // Another number asks for the rows again.
    overscan: rows.isScrolling ? 0 : (options.overscan ?? 1),
    onChange: ({ range, getTotalSize }) => {
      // It is drawn again when this frame is painted.
      if (rows.isScrolling && rows.contain(range) && getTotalSize() === drawnSize.current) return
      drawAgain(undefined)
    },
  }
  const [virtualizer] = useState(() => {
    const made = new Virtualizer(resolved)
    const measure = made.measureElement
    made.measureElement = (row) => {
      isMeasuring.current = true
      measure(row)
      isMeasuring.current = false
    }
    return made
  })
  virtualizer.setOptions(resolved)
  drawnSize.current = virtualizer.getTotalSize()
  // After the rows were measured, and before anything else looks at them.
  useLayoutEffect(flush)
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => () => rows.stop(), [rows])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}
