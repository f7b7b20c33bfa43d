// What a list and the two ways of drawing it say to each other.

/** A row of a list, placed. All of it is in pixels from the top of what scrolls. */
export interface VirtualRow {
  readonly index: number
  readonly key: unknown
  readonly start: number
  readonly end: number
}

/** What a list is made of. Sizes and places are in pixels. */
export interface VirtualListOptions {
  readonly count: number
  readonly getScrollElement: () => HTMLElement | null
  /** The height of a row that is not measured yet. */
  readonly estimateSize: (index: number) => number
  readonly getItemKey: (index: number) => string | number
  readonly measureElement?: (row: HTMLElement, entry: ResizeObserverEntry | undefined) => number
  /** How many rows beside those in view a long list draws. */
  readonly overscan?: number
  readonly paddingStart?: number
  readonly paddingEnd?: number
  /** What is above the list and scrolls with it. */
  readonly scrollMargin?: number
  /** What is in view stays there when rows are added before it. */
  readonly anchorTo?: 'end'
  readonly scrollEndThreshold?: number
  /** About where and how large the list will be, before it is on the screen. */
  readonly initialRect?: { readonly width: number; readonly height: number }
  readonly initialOffset?: () => number
  /** Called when a frame that has scrolled is painted: for what can wait until then. */
  readonly onScrolled?: () => void
}

/** A list as its component draws it. */
export interface VirtualList {
  readonly scrollOffset: number
  setOptions(options: VirtualListOptions): void
  /** Begins to observe what scrolls. Returns how to end it. */
  mount(): () => void
  afterDrawing(): void
  /** The rows to draw. */
  getVirtualItems(): readonly VirtualRow[]
  getTotalSize(): number
  getVirtualItemForOffset(offset: number): VirtualRow | undefined
  /** A ref for each row that has `data-index`. */
  readonly measureElement: (row: HTMLElement | null) => void
  scrollToEnd(): void
  scrollToIndex(index: number, place: { readonly align: 'auto' | 'start' | 'center' }): void
}
