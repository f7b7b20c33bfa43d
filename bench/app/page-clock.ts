// Measures in the page itself when something is painted. Runs before the app's scripts.
import type { BrowserContext } from 'playwright-core'

/** What the page answers to the benchmark. Times are in milliseconds since the loading of the page began. */
export interface PageClock {
  /** When the list of all conversations was painted. */
  readonly listShown: Promise<number>
  /** When a key or the pointer was last pressed. */
  readonly pressedAt: number
  /** When a message with this text was painted where one can see it. */
  messageShown(text: string): Promise<number>
  /** When a conversation whose row has this text was painted where one can see it. */
  rowShown(text: string): Promise<number>
  /** Resolves when nothing on the page has changed for half a second, and nothing waits to be done. */
  isIdle(): Promise<void>
}

/** Gives every page of the context a clock. `count` is the number of conversations in the list. */
export async function addPageClock(context: BrowserContext, count: number): Promise<void> {
  await context.addInitScript(installClock, count)
}

// Playwright sends the text of this function to the page, so it uses nothing from outside.
function installClock(count: number): void {
  const QUIET_MS = 500
  let pressedAt = Number.NaN
  for (const press of ['pointerdown', 'keydown'])
    addEventListener(press, ({ timeStamp }) => (pressedAt = timeStamp), { capture: true })

  const painted = (isShown: () => boolean): Promise<number> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isShown()) {
          requestAnimationFrame(look)
          return
        }
        // A message that is posted while a frame is made arrives once the frame is painted.
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
          port1.close()
          resolve(performance.now())
        }
        port2.postMessage(undefined)
      }
      requestAnimationFrame(look)
    })

  const isInView = (element: Element): boolean => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2))
  }
  const has = (selector: string, text: string): boolean =>
    [...document.querySelectorAll(selector)].some(
      (element) => element.textContent.includes(text) && isInView(element),
    )

  const clock: PageClock = {
    listShown: painted(() => document.querySelector(`.chats-item[aria-setsize="${count}"] a`) !== null),
    get pressedAt() {
      return pressedAt
    },
    messageShown: (text) => painted(() => has('article', text)),
    rowShown: (text) => painted(() => has('.chats-item', text)),
    isIdle: () =>
      new Promise((resolve) => {
        const end = (): void => {
          observer.disconnect()
          requestIdleCallback(() => resolve())
        }
        let timer = setTimeout(end, QUIET_MS)
        const observer = new MutationObserver(() => {
          clearTimeout(timer)
          timer = setTimeout(end, QUIET_MS)
        })
        observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
      }),
  }
  Object.assign(globalThis, { clock })
}

declare global {
  /** Only in measured pages. */
  var clock: PageClock
}
