// Looks for what does not fit a small or a zoomed screen, is covered there, or is too small for a finger.
import type { BrowserPerson } from './browser-person.ts'

/** As narrow as WCAG's 1.4.10 asks for, and as low as a phone with its keyboard open. */
const SMALL = { width: 320, height: 480 }
/** What is left of 1280 × 720 pixels at a zoom of 200 %. */
const ZOOMED = { width: 640, height: 360 }

/** What does not fit a small or a zoomed screen: one line each, with the element and what is wrong. */
export async function misfitsOf(person: BrowserPerson): Promise<readonly string[]> {
  const misfits: string[] = []
  for (const screen of [SMALL, ZOOMED]) {
    await person.page.setViewportSize(screen)
    await person.holdsStill()
    const found = await person.page.evaluate(misfitsOfPage)
    misfits.push(...found.map((misfit) => `${screen.width} px wide: ${misfit}`))
  }
  return misfits
}

/** Runs in the page. */
function misfitsOfPage(): readonly string[] {
  /** WCAG's 2.5.8, level AA. */
  const LEAST_PX = 24
  /** What pixels may be lost by rounding. */
  const TOLERANCE_PX = 1
  /** What lies above the page until it passes or the user closes it. */
  const PASSING = '.notices, .update, .menu, .emoji-list, .call-card, .call-corner'
  const name = (element: Element): string =>
    `${element.localName}.${element.className} "${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40)}"`
  const isShown = (element: Element): boolean =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    !element.closest('.spoken')
  const scrolled = new Map([...document.querySelectorAll('body *')].map((each) => [each, each.scrollTop]))
  /** What covers an element when it is scrolled to. */
  const coverOf = (element: Element): Element | undefined => {
    const dialog = [...document.querySelectorAll('dialog:modal')].at(-1)
    if (dialog && !dialog.contains(element)) return undefined
    element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
    // Of a link in a text, the first line.
    const { left, top, width, height } = element.getClientRects()[0] ?? element.getBoundingClientRect()
    const above = document.elementFromPoint(left + width / 2, top + height / 2) ?? document.body
    const isItself = element.contains(above) || above.closest('label')?.contains(element)
    return isItself || above.closest(PASSING) ? undefined : above
  }
  const misfits: string[] = []
  for (const element of document.querySelectorAll('body *')) {
    if (!isShown(element) || element.closest('svg, [aria-hidden="true"]')) continue
    const { overflowX } = getComputedStyle(element)
    const scrolls = overflowX === 'auto' || overflowX === 'scroll'
    if (scrolls && element.scrollWidth > element.clientWidth + TOLERANCE_PX)
      misfits.push(`${name(element)} scrolls sideways: ${element.scrollWidth} of ${element.clientWidth} px`)
  }
  for (const element of document.querySelectorAll('a[href], button, input, textarea, [role="slider"]')) {
    if (!isShown(element)) continue
    const { left, right, width, height } = element.getBoundingClientRect()
    if (width === 0 || height === 0) continue
    if (left < -TOLERANCE_PX || right > innerWidth + TOLERANCE_PX)
      misfits.push(`${name(element)} reaches from ${left} to ${right} px`)
    // A link in a sentence is as high as the sentence; a field of a label has all of the label.
    const isInText = getComputedStyle(element).display === 'inline'
    if (!isInText && !element.closest('label') && (width < LEAST_PX || height < LEAST_PX))
      misfits.push(`${name(element)} is ${width} × ${height} px small`)
    const cover = coverOf(element)
    if (cover) misfits.push(`${name(element)} is covered by ${name(cover)}`)
  }
  for (const [element, top] of scrolled) if (element.scrollTop !== top) element.scrollTop = top
  return misfits
}
