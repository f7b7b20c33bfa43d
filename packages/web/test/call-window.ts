// The window of a call, and the pictures in it.
import type { Locator, Page } from 'playwright-core'
import type { AppPerson } from './app-person.ts'

/** The window of the call. */
export function callOf(person: AppPerson): Locator {
  return person.page.locator('dialog.call-window')
}

/** Waits until a picture has been drawn and time goes on in it. */
export async function plays(video: Locator): Promise<void> {
  await video.waitFor()
  await video.evaluate(
    (element) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (element instanceof HTMLVideoElement && element.videoWidth > 0 && element.currentTime > 0.2)
            resolve()
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
}

/** Records from now on which microphones and cameras the page opens. See {@link liveTracks}. */
export async function recordTracks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const devices = navigator.mediaDevices
    const open = devices.getUserMedia.bind(devices)
    const opened: MediaStreamTrack[] = []
    devices.getUserMedia = async (constraints) => {
      const stream = await open(constraints)
      opened.push(...stream.getTracks())
      return stream
    }
    globalThis.kindsOfLiveTracks = () =>
      opened.flatMap(({ readyState, kind }) => (readyState === 'live' ? [kind] : [])).toSorted()
  })
}

/** The kinds of the tracks that the page has opened and not stopped. */
export function liveTracks(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => globalThis.kindsOfLiveTracks())
}

declare global {
  var kindsOfLiveTracks: () => readonly string[]
}
