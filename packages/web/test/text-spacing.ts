// Looks for text that is cut off when it needs more room, as WCAG's 1.4.12 asks for.
import type { Page } from 'playwright-core'

/** The text of a page that is cut off under wide spacing: one line each, with the text and what cuts it. */
export function cutTextsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(cutTextsOfPage)
}

/** Runs in the page. */
function cutTextsOfPage(): readonly string[] {
  /** What pixels may be lost by rounding. */
  const TOLERANCE_PX = 1
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(`
    * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
    p { margin-block-end: 2em !important }`)
  document.adoptedStyleSheets.push(sheet)
  const cut: string[] = []
  /** What cuts off a part of a box. An ellipsis says itself that something is left out. */
  const cutterOf = (parent: Element, box: DOMRect): Element | undefined => {
    for (let element: Element | null = parent; element; element = element.parentElement) {
      const { overflowX, overflowY, textOverflow, overflowClipMargin, position } = getComputedStyle(element)
      if (textOverflow === 'ellipsis' || overflowY === 'auto' || overflowY === 'scroll') return undefined
      if (overflowX === 'hidden' || overflowX === 'clip') {
        const margin = overflowX === 'clip' ? Number.parseFloat(overflowClipMargin) || 0 : 0
        const room = element.getBoundingClientRect()
        const over = Math.max(
          room.left - box.left,
          box.right - room.right,
          room.top - box.top,
          box.bottom - room.bottom,
        )
        if (over > margin + TOLERANCE_PX) return element
      }
      if (position === 'fixed') break
    }
    const isOutside = box.left < -TOLERANCE_PX || box.right > innerWidth + TOLERANCE_PX
    return isOutside ? document.body : undefined
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode: node } = texts
    const parent = node.parentElement
    const words = node.textContent?.trim() ?? ''
    if (!parent || words === '' || parent.closest('.spoken, svg, noscript')) continue
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const cutter = cutterOf(parent, range.getBoundingClientRect())
    if (cutter) cut.push(`"${words.slice(0, 40)}" is cut off by ${cutter.localName}.${cutter.className}`)
  }
  document.adoptedStyleSheets.pop()
  return cut
}
