// Reloads, and a long conversation: opening it, scrolling through it, writing in it.
import { longestTask } from '../../packages/web/test/longest-task.ts'
import type { Figure, Run } from './figures.ts'
import type { FilledProfile, MeasuredBrowser } from './measured-browser.ts'
import { nameOf } from './people.ts'
import type { Sizes } from './sizes.ts'

const STEP_PX = 600

/** The latest message of the conversation with the first friend. */
export const NEWEST = 'The newest message'

/** Measures reloads: each run is one. */
export async function measureReload(profile: FilledProfile, rounds: number, target: number): Promise<Figure> {
  const browser = await profile.open()
  await browser.slowDown()
  const runs: Run[] = []
  for (let round = 0; round < rounds; round += 1) runs.push(await timed(browser, () => browser.reloads()))
  await browser.close()
  return {
    name: `reload to a list of ${profile.account.conversations.length} conversations`,
    unit: 'ms',
    target,
    runs,
  }
}

/** Measures the conversation with the first friend. Each run begins with a reload. */
export async function measureConversation(
  profile: FilledProfile,
  { rounds, seconds, messages }: Pick<Sizes, 'rounds' | 'seconds' | 'messages'>,
): Promise<readonly Figure[]> {
  const browser = await profile.open()
  const { person } = browser
  const runs = { open: [] as Run[], scroll: [] as Run[], send: [] as Run[] }
  let newest = NEWEST
  for (let round = 0; round < rounds; round += 1) {
    await person.goesTo('#/chats')
    await browser.reloads()
    await browser.isReady()
    await browser.slowDown()
    runs.open.push(
      await timed(browser, () => browser.fromPress(newest, () => person.conversationWith(nameOf(0)).click())),
    )
    newest = `Written in round ${round}`
    await person.types(newest)
    await browser.isReady()
    runs.send.push(await timed(browser, () => browser.fromPress(newest, () => person.field.press('Enter'))))
    const scrolling = await timed(browser, async () => scrollBack(browser, seconds))
    runs.scroll.push({ ...scrolling, value: scrolling.longestTaskMs ?? Number.NaN })
  }
  await browser.close()
  return [
    { name: `open a conversation of ${messages} messages`, unit: 'ms', target: 150, runs: runs.open },
    { name: 'longest task while it is scrolled', unit: 'ms', target: 50, runs: runs.scroll },
    { name: 'a message sent appears', unit: 'ms', target: 50, runs: runs.send },
  ]
}

/** Does something that answers a value, and waits until the app is idle after it. */
export async function timed(browser: MeasuredBrowser, work: () => Promise<number>): Promise<Run> {
  let value = Number.NaN
  const longestTaskMs = await longestTask(browser.page, async () => {
    value = await work()
    await browser.isReady()
  })
  return { value, longestTaskMs }
}

/** Turns the wheel for some seconds, a step with each frame. Returns how many messages were passed. */
async function scrollBack({ page, person }: MeasuredBrowser, seconds: number): Promise<number> {
  const list = page.getByRole('region', { name: person.t.conversation.list(nameOf(0)) })
  const first = async (): Promise<number> =>
    Number(await list.getByRole('listitem').first().getAttribute('aria-posinset'))
  const before = await first()
  await list.hover()
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    await page.mouse.wheel(0, -STEP_PX)
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  return before - (await first())
}
