// Which rows of a long list are drawn. The frame of a scroll adds only those that come into view. Those
// beside the view are drawn after it, most of them where the list is scrolled to: no frame has much to draw.
import type { Range } from '@tanstack/virtual-core'

/** How many rows are drawn before and after the view, as multiples of the overscan that is asked for. */
const BESIDE = { still: [1, 1], up: [2, 0.5], down: [0.5, 2] } as const

export class DrawnRows {
  readonly #settled: () => void
  #isScrolling = false
  #offset = 0
  #direction: keyof typeof BESIDE = 'still'
  #first = 0
  #last = -1
  #firstKey: unknown
  #frame = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param settled called when a frame that has scrolled is painted, to draw the list again */
  constructor(settled: () => void) {
    this.#settled = settled
  }

  /** Whether the frame that is made now scrolls. */
  get isScrolling(): boolean {
    return this.#isScrolling
  }

  /** The list was scrolled to this place, in pixels. */
  scrolled(offset: number): void {
    if (offset !== this.#offset) this.#direction = offset < this.#offset ? 'up' : 'down'
    this.#offset = offset
    if (this.#isScrolling) return
    this.#isScrolling = true
    this.stop()
    this.#frame = requestAnimationFrame(() => {
      // A task that is made while a frame is made runs when the frame is painted.
      this.#timer = setTimeout(() => {
        this.#isScrolling = false
        this.#settled()
      })
    })
  }

  /** The numbers of the rows to draw, by those in view. While the list scrolls, those drawn before stay. */
  choose({ startIndex, endIndex, overscan, count }: Range, keyAt: (index: number) => unknown): number[] {
    let [first, last] = [startIndex, endIndex]
    if (!this.#isScrolling) {
      const [before, after] = BESIDE[this.#direction]
      first = Math.max(0, first - Math.round(overscan * before))
      last = Math.min(count - 1, last + Math.round(overscan * after))
    } else if (this.#isBeside(first, last) && this.#last < count && keyAt(this.#first) === this.#firstKey) {
      first = Math.min(first, this.#first)
      last = Math.max(last, this.#last)
    }
    this.#first = first
    this.#last = last
    this.#firstKey = count > 0 ? keyAt(first) : undefined
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  }

  /** Whether all rows in view are drawn. */
  contain(inView: { readonly startIndex: number; readonly endIndex: number } | null): boolean {
    return inView !== null && inView.startIndex >= this.#first && inView.endIndex <= this.#last
  }

  /** What is drawn next has all rows beside the view, also if the frame of a scroll is not painted yet. */
  drawAll(): void {
    this.#isScrolling = false
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#timer)
  }

  #isBeside(first: number, last: number): boolean {
    return first <= this.#last + 1 && last >= this.#first - 1
  }
}
