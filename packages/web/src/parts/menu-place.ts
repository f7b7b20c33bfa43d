// Where a menu is shown.

/** A point of the window, in CSS pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** What a menu belongs to, and where it was pressed, if it was not a button. */
export interface Place {
  /** It has the focus after the menu, if nothing had it before. */
  readonly element: HTMLElement
  readonly point?: Point
}

/** The distances from the menu to its element and to the edges, in pixels. */
const GAP = 4
const EDGE = 8

/** Puts an open menu below its place, or above it where there is no room, within its pane. */
export function placeMenu(menu: HTMLElement, { element, point }: Place): void {
  const { width, height } = menu.getBoundingClientRect()
  const box = element.getBoundingClientRect()
  const pane = (element.closest('.screen') ?? document.body).getBoundingClientRect()
  const isRtl = document.documentElement.dir === 'rtl'
  // From a point the menu extends along the line of writing; its end is at the end of a button.
  const startOfPoint = point && (isRtl ? point.x - width : point.x)
  const x = startOfPoint ?? (isRtl ? box.left : box.right - width)
  const [below, above] = point ? [point.y, point.y - height] : [box.bottom + GAP, box.top - GAP - height]
  const last = innerHeight - EDGE - height
  const y = below <= last ? below : above >= EDGE ? above : last
  const inPane = Math.max(pane.left + EDGE, Math.min(x, pane.right - width - EDGE))
  menu.style.left = `${Math.max(EDGE, Math.min(inPane, innerWidth - width - EDGE))}px`
  // Its element may be outside of a window that has just become lower.
  menu.style.top = `${Math.max(EDGE, Math.min(y, last))}px`
}
