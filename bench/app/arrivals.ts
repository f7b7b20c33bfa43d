// Messages that arrive after an absence, with and without their conversation open.
import { timed } from './conversation.ts'
import type { Figure, Run } from './figures.ts'
import type { FilledProfile, MeasuredBrowser } from './measured-browser.ts'
import { nameOf, sendAll } from './people.ts'
import type { Sizes } from './sizes.ts'

/**
 * Measures what happens when the app is opened and many messages wait: from the beginning of the loading
 * until the list shows the last one.
 */
export async function measureArrivals(
  profile: FilledProfile,
  { rounds, arrivals }: Sizes,
): Promise<readonly Figure[]> {
  const browser = await profile.open()
  const [id] = profile.account.conversations
  const figures: Figure[] = []
  await browser.slowDown()
  for (const [where, place] of [
    ['no conversation open', '#/chats'],
    ['their conversation open', `#/chats/${id}`],
  ] as const) {
    const runs: Run[] = []
    for (let round = 0; round < rounds; round += 1)
      runs.push(await comesBack(browser, profile, place, `round ${round}, ${where}`, arrivals))
    const tasks = runs.map(({ longestTaskMs = Number.NaN }) => ({ value: longestTaskMs }))
    const name = `${arrivals} messages arrive, ${where}`
    figures.push({ name: `${name}: done`, unit: 'ms', target: 5000, runs })
    figures.push({ name: `${name}: longest task`, unit: 'ms', target: 100, runs: tasks })
  }
  await browser.close()
  return figures
}

async function comesBack(
  browser: MeasuredBrowser,
  { account: { friend, alias } }: FilledProfile,
  place: string,
  round: string,
  count: number,
): Promise<Run> {
  const { person, page } = browser
  await browser.leaves()
  const texts = Array.from({ length: count }, (_, index) => `Message ${index + 1} of ${round}`)
  await sendAll(friend, alias, texts)
  const run = await timed(browser, async () => {
    await browser.returns(place)
    return page.evaluate((text) => clock.rowShown(text), texts.at(-1) ?? '')
  })
  // Reads them, so that every run begins with the same.
  await person.goesTo('#/chats')
  await person.opens(nameOf(0))
  const toEnd = page.getByRole('button', { name: person.t.conversation.toEnd })
  await browser.isReady()
  if (await toEnd.isVisible()) await toEnd.click()
  await person.sees(texts.at(-1) ?? '')
  await browser.isReady()
  return run
}
