// A page on a machine that is so busy that it paints no frame for now.
import type { Page } from 'playwright-core'

declare global {
  /** Runs what was held, and holds nothing more. */
  var releaseFrames: () => void
}

/**
 * Does something with a page while the page gets no frame. What the app does after the next frame waits
 * until all of it is done: it must not be needed for the next key.
 */
export async function withoutFrames(page: Page, work: () => Promise<void>): Promise<void> {
  await page.evaluate(() => {
    const { requestAnimationFrame, cancelAnimationFrame, setTimeout, clearTimeout } = globalThis
    const held = new Map<number, () => void>()
    let last = 0
    const hold = (run: () => void): number => {
      last -= 1
      held.set(last, run)
      return last
    }
    const forget = (id: number): boolean => held.delete(id)
    Object.assign(globalThis, {
      requestAnimationFrame: (run: FrameRequestCallback) => hold(() => requestAnimationFrame(run)),
      cancelAnimationFrame: (id: number) => forget(id) || cancelAnimationFrame(id),
      // Short timers stand in for frames that do not come.
      setTimeout: (run: () => void, ms = 0) =>
        ms < 50 ? hold(() => setTimeout(run, ms)) : setTimeout(run, ms),
      clearTimeout: (id: number) => forget(id) || clearTimeout(id),
      releaseFrames: () => {
        Object.assign(globalThis, { requestAnimationFrame, cancelAnimationFrame, setTimeout, clearTimeout })
        for (const run of held.values()) run()
      },
    })
  })
  await work()
  await page.evaluate(() => globalThis.releaseFrames())
}
