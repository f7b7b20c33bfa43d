// A list that is short enough to draw all of it. It places its rows by their measured heights, like the part
// for long lists, which is loaded only once a list is long.
import type { VirtualList, VirtualListOptions, VirtualRow } from './placed-rows.ts'

/**
 * A list of at most so many rows is drawn whole. Of a longer one, that many rows are drawn until the part for
 * long lists is loaded.
 */
export const MOST_DRAWN = 20

export class ShortVirtualList implements VirtualList {
  #options: VirtualListOptions
  readonly #drawAgain: () => void
  readonly #heights = new Map<unknown, number>()
  readonly #keys = new WeakMap<Element, unknown>()
  readonly #observer: ResizeObserver
  #rows: readonly VirtualRow[] | undefined
  #drawsAll = false

  constructor(options: VirtualListOptions, drawAgain: () => void) {
    this.#options = options
    this.#drawAgain = drawAgain
    this.#observer = new ResizeObserver((entries) => {
      for (const entry of entries) {
        if (entry.target.isConnected) this.#measure(entry.target, entry)
        else this.#observer.unobserve(entry.target)
      }
    })
  }

  get scrollOffset(): number {
    return this.#options.getScrollElement()?.scrollTop ?? 0
  }

  setOptions(options: VirtualListOptions): void {
    this.#options = options
    this.#rows = undefined
  }

  mount(): () => void {
    const scroller = this.#options.getScrollElement()
    const onScroll = (): void => this.#options.onScrolled?.()
    scroller?.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      scroller?.removeEventListener('scroll', onScroll)
      this.#observer.disconnect()
    }
  }

  afterDrawing(): void {}

  /** From now on all rows are drawn, however many they are. */
  drawAll(): void {
    this.#drawsAll = true
    this.#rows = undefined
  }

  getVirtualItems(): readonly VirtualRow[] {
    if (this.#rows) return this.#rows
    const { estimateSize, getItemKey, paddingStart = 0, scrollMargin = 0 } = this.#options
    const rows: VirtualRow[] = []
    let start = paddingStart + scrollMargin
    for (let index = 0; index < this.#drawn; index++) {
      const key = getItemKey(index)
      const end = start + (this.#heights.get(key) ?? estimateSize(index))
      rows.push({ index, key, start, end })
      start = end
    }
    this.#rows = rows
    return rows
  }

  getTotalSize(): number {
    const { count, estimateSize, paddingStart = 0, paddingEnd = 0, scrollMargin = 0 } = this.#options
    const end = this.getVirtualItems().at(-1)?.end ?? paddingStart + scrollMargin
    const rest = count - this.#drawn
    return end - scrollMargin + paddingEnd + (rest > 0 ? rest * estimateSize(this.#drawn) : 0)
  }

  /** How many rows are placed and drawn. A conversation is a window of messages, the last of them in view. */
  get #drawn(): number {
    const { count, anchorTo } = this.#options
    return this.#drawsAll || anchorTo ? count : Math.min(count, MOST_DRAWN)
  }

  getVirtualItemForOffset(offset: number): VirtualRow | undefined {
    const rows = this.getVirtualItems()
    return rows.find(({ end }) => end > offset) ?? rows.at(-1)
  }

  readonly measureElement = (row: HTMLElement | null): void => {
    if (!row) return
    const key = this.#options.getItemKey(Number(row.dataset.index))
    if (this.#keys.has(row)) {
      this.#keys.set(row, key)
      return
    }
    this.#keys.set(row, key)
    this.#observer.observe(row)
    this.#measure(row)
  }

  scrollToEnd(): void {
    this.#options.getScrollElement()?.scrollTo({ top: Number.MAX_SAFE_INTEGER })
  }

  scrollToIndex(index: number, { align }: { readonly align: 'auto' | 'start' | 'center' }): void {
    const scroller = this.#options.getScrollElement()
    const row = this.getVirtualItems()[index]
    if (!scroller || !row) return
    const { start, end } = row
    const { clientHeight: shown, scrollTop } = scroller
    if (align === 'start') scroller.scrollTo({ top: start })
    else if (align === 'center') scroller.scrollTo({ top: start + (end - start - shown) / 2 })
    else if (start < scrollTop) scroller.scrollTo({ top: index === 0 ? 0 : start })
    else if (end > scrollTop + shown) {
      const isLast = index === this.#options.count - 1
      scroller.scrollTo({ top: isLast ? Number.MAX_SAFE_INTEGER : end - shown })
    }
  }

  /** A row has grown by so much. */
  #keepView(key: unknown, grownBy: number): void {
    const scroller = this.#options.getScrollElement()
    const place = this.getVirtualItems().find((each) => each.key === key)
    if (scroller && place && place.end <= scroller.scrollTop) scroller.scrollBy({ top: grownBy })
  }

  /** @param entry what the browser says of a row whose size has changed */
  #measure(row: Element, entry?: ResizeObserverEntry): void {
    const box = entry?.borderBoxSize[0]?.blockSize ?? row.getBoundingClientRect().height
    // The row is hidden.
    if (box === 0) return
    const height = Math.round(box * 1000) / 1000
    const key = this.#keys.get(row)
    const before = this.#heights.get(key)
    if (before === height) return
    // What is in view stays there. The rows are placed only then: a list of thousands is measured row by row.
    if (before !== undefined) this.#keepView(key, height - before)
    this.#heights.set(key, height)
    this.#rows = undefined
    this.#drawAgain()
  }
}
