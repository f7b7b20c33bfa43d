// Keeps the focus in what is shown. The browser gives it to nothing when the element that has it is removed
// or hidden: then a keyboard begins again at the top, and a screen reader says nothing.

const FOCUSABLE = 'a[href], button, input, textarea, select, summary, [tabindex]'

/** On a touch screen the focus in a field would open the keyboard. */
const TYPING = matchMedia('(hover: hover)').matches ? ':not(*)' : 'input, textarea'

/**
 * From now on, a focus that is lost goes to what is beside it in its list, to where it was before, or to the
 * heading. A click beside everything takes the focus away on purpose.
 */
export function keepFocus(): void {
  /** Where the focus was, the latest last. */
  let visited: HTMLElement[] = []
  let last = isShown(document.activeElement) ? document.activeElement : undefined
  /** The rows that were beside the one that is removed, or the row that has lost a part. */
  let rows: readonly (Node | null)[] = []
  let isAsked = false
  /** Something was hidden, perhaps. To know it, the browser has to compute styles. */
  let mayBeHidden = false

  const look = (): void => {
    isAsked = false
    const { activeElement, body } = document
    const hasFocus = mayBeHidden ? isShown(activeElement) : activeElement !== body
    mayBeHidden = false
    if (!last || hasFocus) return
    // While something is being done, its button waits.
    if (isShown(last) && last.matches(':disabled')) return
    const before = visited.filter((element) => !element.matches(TYPING)).reverse()
    const heading = [...document.querySelectorAll<HTMLElement>('h1, h2')].filter(isShown)
    for (const target of [
      last,
      ...rows.map(firstIn),
      ...before,
      heading.find((each) => each.matches('h1')),
      heading[0],
    ])
      if (isShown(target) && takesFocus(target)) return
  }
  const ask = (isHiding: boolean): void => {
    mayBeHidden ||= isHiding
    if (!isAsked) requestAnimationFrame(look)
    isAsked = true
  }
  new MutationObserver((records) => {
    for (const { target, removedNodes, previousSibling, nextSibling } of records)
      for (const removed of removedNodes)
        if (last && removed.contains(last)) {
          const row = target instanceof Element ? target.closest('li') : null
          rows = removed instanceof HTMLLIElement ? [nextSibling, previousSibling] : [row]
        }
    ask(records.some(({ type }) => type === 'attributes'))
  }).observe(document, {
    subtree: true,
    childList: true,
    attributeFilter: ['data-open', 'disabled', 'hidden'],
  })
  addEventListener('resize', () => ask(true))
  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    last = target
    rows = []
    visited = [...visited.filter((each) => each.isConnected && each !== target), target]
  })
  addEventListener('mouseup', () => {
    if (document.activeElement === document.body) last = undefined
  })
}

function firstIn(row: Node | null): HTMLElement | null | undefined {
  return row instanceof HTMLElement ? row.querySelector<HTMLElement>(FOCUSABLE) : undefined
}

function isShown(element: Element | null | undefined): element is HTMLElement {
  return (
    element instanceof HTMLElement &&
    element !== document.body &&
    element.isConnected &&
    element.checkVisibility({ visibilityProperty: true })
  )
}

function takesFocus(element: HTMLElement): boolean {
  if (!element.matches(FOCUSABLE)) element.tabIndex = -1
  element.focus({ preventScroll: true })
  return document.activeElement === element
}
