// A list that draws only its visible part: TanStack's virtual-core.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  type VirtualItem,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { DrawnRows } from './drawn-rows.ts'
import type { VirtualList, VirtualListOptions } from './placed-rows.ts'

type Virtual = Virtualizer<HTMLElement, HTMLElement>
type Place = Parameters<VirtualizerOptions<HTMLElement, HTMLElement>['scrollToFn']>

export class LongVirtualList implements VirtualList {
  readonly #virtualizer: Virtual
  readonly #rows: DrawnRows
  readonly #drawAgain: () => void
  readonly #measureRow: (row: HTMLElement | null) => void
  #options: VirtualListOptions
  #drawnSize = 0
  #isMeasuring = false
  #scroll: (() => void) | undefined

  /** @param fromOffset how far the list is scrolled already, in pixels; undefined if it is not drawn yet */
  constructor(options: VirtualListOptions, drawAgain: () => void, fromOffset: number | undefined) {
    this.#options = options
    this.#drawAgain = drawAgain
    this.#rows = new DrawnRows(() => {
      this.#options.onScrolled?.()
      drawAgain()
    })
    const initial = this.#resolve(options)
    this.#virtualizer = new Virtualizer({
      ...initial,
      ...(fromOffset === undefined ? {} : { initialOffset: fromOffset }),
    })
    this.#measureRow = this.#virtualizer.measureElement
    // What is above the view may change its size, when a picture is shown or the window is resized.
    if (options.anchorTo === 'end')
      this.#virtualizer.shouldAdjustScrollPositionOnItemSizeChange = ({ key, start, end }) => {
        const top = this.scrollOffset
        return this.#virtualizer.itemSizeCache.has(key) ? end <= top : start < top
      }
  }

  get scrollOffset(): number {
    return this.#virtualizer.scrollOffset ?? 0
  }

  setOptions(options: VirtualListOptions): void {
    this.#options = options
    this.#virtualizer.setOptions(this.#resolve(options))
    this.#drawnSize = this.#virtualizer.getTotalSize()
  }

  mount(): () => void {
    const unmount = this.#virtualizer._didMount()
    return () => {
      unmount()
      this.#rows.stop()
    }
  }

  afterDrawing(): void {
    // After the rows were measured, and before anything else looks at them.
    this.#flush()
    this.#virtualizer._willUpdate()
  }

  getVirtualItems(): readonly VirtualItem[] {
    return this.#virtualizer.getVirtualItems()
  }

  getTotalSize(): number {
    return this.#virtualizer.getTotalSize()
  }

  getVirtualItemForOffset(offset: number): VirtualItem | undefined {
    return this.#virtualizer.getVirtualItemForOffset(offset)
  }

  readonly measureElement = (row: HTMLElement | null): void => {
    this.#isMeasuring = true
    this.#measureRow(row)
    this.#isMeasuring = false
  }

  scrollToEnd(): void {
    this.#virtualizer.scrollToEnd()
  }

  scrollToIndex(index: number, place: { readonly align: 'auto' | 'start' | 'center' }): void {
    this.#virtualizer.scrollToIndex(index, place)
  }

  #resolve({ onScrolled: _, ...options }: VirtualListOptions): VirtualizerOptions<HTMLElement, HTMLElement> {
    return {
      observeElementRect,
      observeElementOffset: (list, tell) => this.#observeOffset(list, tell),
      rangeExtractor: this.#chooseRows,
      // While new rows are measured, each of them corrects the place. Only the last correction is made: after
      // each one the browser would have to lay out the page again for the next row.
      scrollToFn: (...place) => {
        this.#scroll = () => this.#scrollTo(place)
        if (!this.#isMeasuring) this.#flush()
      },
      ...options,
      // Another number asks for the rows again.
      overscan: this.#rows.isScrolling ? 0 : (options.overscan ?? 1),
      onChange: ({ range, getTotalSize }) => {
        // It is drawn again when this frame is painted.
        if (this.#rows.isScrolling && this.#rows.contain(range) && getTotalSize() === this.#drawnSize) return
        this.#drawAgain()
      },
    }
  }

  readonly #chooseRows = (range: Range): number[] =>
    this.#rows.choose(range, (index) => this.#virtualizer.options.getItemKey(index))

  #observeOffset(list: Virtual, tell: (offset: number, isScrolling: boolean) => void): () => void {
    const { scrollElement } = list
    // The tab key leads to the next row only if that is drawn, and a frame may be long in coming.
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key !== 'Tab') return
      this.#rows.drawAll()
      tell(scrollElement?.scrollTop ?? 0, false)
      this.#drawAgain()
    }
    scrollElement?.addEventListener('keydown', onKeyDown)
    const stop = observeElementOffset(list, (offset, isScrolling) => {
      if (isScrolling) this.#rows.scrolled(offset)
      tell(offset, isScrolling)
    })
    return () => {
      scrollElement?.removeEventListener('keydown', onKeyDown)
      stop?.()
    }
  }

  #scrollTo(place: Place): void {
    elementScroll(...place)
    const [, { adjustments, behavior }, { scrollElement }] = place
    if (adjustments || behavior === 'smooth' || !scrollElement) return
    if (this.#virtualizer.scrollOffset === scrollElement.scrollTop) return
    // The browser tells of the new place only with its next frame. Until then the rows of the former place
    // would be drawn, and nothing would be seen after a long way.
    this.#virtualizer.scrollOffset = scrollElement.scrollTop
    this.#drawAgain()
  }

  #flush(): void {
    this.#scroll?.()
    this.#scroll = undefined
  }
}
