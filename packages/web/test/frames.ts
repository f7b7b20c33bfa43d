// What the frames of a page show while a list of messages changes.
import type { Page } from 'playwright-core'

/** Something that no frame of a conversation may show. */
export interface BadFrame {
  /** How many pixels of a message are beneath the next one. */
  readonly overlapPx: number
  /** How many pixels of the list show no message where there are some. */
  readonly emptyPx: number
}

interface Recorder {
  badFrames?: BadFrame[]
}

/** Looks at every frame that the page paints from now on, until it is loaded again. */
export async function watchFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    const recorder: typeof globalThis & Recorder = globalThis
    const bad: BadFrame[] = []
    recorder.badFrames = bad
    const look = (): void => {
      const list = document.querySelector('section.messages')
      if (!list) return
      const box = list.getBoundingClientRect()
      const rows = [...list.querySelectorAll('li')]
        .map((row) => row.getBoundingClientRect())
        .filter(({ bottom, top }) => bottom > box.top && top < box.bottom)
        .sort((a, b) => a.top - b.top)
      let [overlapPx, emptyPx] = [0, 0]
      // Above the first message and beneath the last one there is some room.
      let end = list.scrollTop > 16 ? box.top : (rows[0]?.top ?? box.bottom)
      for (const { top, bottom } of rows) {
        overlapPx = Math.max(overlapPx, end - top - (end === box.top ? box.height : 0))
        emptyPx = Math.max(emptyPx, top - end)
        end = bottom
      }
      const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 16
      emptyPx = Math.max(emptyPx, box.bottom - end - (isAtEnd ? 16 : 0))
      // A pixel is rounding.
      if (overlapPx > 1 || emptyPx > 1) bad.push({ overlapPx, emptyPx })
    }
    // A message that is posted in a frame arrives when that frame has been painted.
    const painted = new MessageChannel()
    painted.port1.onmessage = look
    const eachFrame = (): void => {
      painted.port2.postMessage(undefined)
      requestAnimationFrame(eachFrame)
    }
    eachFrame()
  })
}

/** The frames since the last call that showed what they may not. */
export function badFrames(page: Page): Promise<readonly BadFrame[]> {
  return page.evaluate(() => {
    const recorder: typeof globalThis & Recorder = globalThis
    return recorder.badFrames?.splice(0) ?? []
  })
}
