// Stories of long conversations: they show their end, keep what is read in its place, and never jump.
import { expect, test } from 'bun:test'
import type { Person } from '../../client/test/people.ts'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { badFrames, watchFrames } from './frames.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

/** Sends numbered messages of different lengths. Resolves with the text of the last one. */
async function sendMany(from: Person, to: string, numbers: readonly [number, number]): Promise<string> {
  const text = (number: number): string => `message ${number}. ${'and more words '.repeat((number * 7) % 23)}`
  for (let number = numbers[0]; number <= numbers[1]; number++) await from.client.send(to, text(number))
  return `message ${numbers[1]}.`
}

/** Makes the processor as slow as that of a cheap phone. */
async function slowDown({ page }: AppPerson): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
}

const list = ({ page, t }: AppPerson, name: string) =>
  page.getByRole('region', { name: t.conversation.list(name) })

/** How far a message is from the upper edge of the list, in pixels. */
async function placeOf(person: AppPerson, text: string): Promise<number> {
  const [message, frame] = [await person.sees(text), await list(person, 'Bob').boundingBox()]
  return ((await message.boundingBox())?.y ?? Number.NaN) - (frame?.y ?? Number.NaN)
}

test('an open conversation shows its end while hundreds of messages come, and each frame all that is in view', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  const before = await sendMany(bob, toAlice, [1, 60])
  await alice.seesInList('Bob', before)
  await slowDown(alice)
  await watchFrames(alice.page)
  await alice.opens('Bob')
  await alice.presses(t.toEnd)
  await alice.sees(before)
  // More than the window of messages has room for, in one burst and then one after another.
  await alice.goesOffline()
  const burst = await sendMany(bob, toAlice, [61, 300])
  await alice.goesOnline()
  await alice.sees(burst)
  await alice.sees(await sendMany(bob, toAlice, [301, 360]))
  await alice.page.getByRole('button', { name: t.toEnd }).waitFor({ state: 'detached' })
  await until(
    'everything is read',
    async () => !/\d unread/.test(await alice.conversationWith('Bob').innerText()),
  )
  expect(await badFrames(alice.page)).toEqual([])

  // Nor is there a frame without them while the list is scrolled by most of a screen with each.
  const region = list(alice, 'Bob')
  await region.hover()
  for (let step = 0; step < 10; step++) {
    await alice.page.mouse.wheel(0, -600)
    await alice.page.evaluate(() => new Promise(requestAnimationFrame))
  }
  await until(
    'it is scrolled',
    async () => (await region.evaluate((element) => element.scrollHeight - element.scrollTop)) > 3000,
  )
  await alice.settles()
  expect(await badFrames(alice.page)).toEqual([])
})

test('what one reads stays in its place while messages come, the window is resized, and earlier ones load', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  const last = await sendMany(bob, toAlice, [1, 300])
  await alice.seesInList('Bob', last)
  await alice.opens('Bob')
  await alice.presses(t.toEnd)
  await alice.sees(last)
  const region = list(alice, 'Bob')
  await region.hover()
  // Far enough that the window of messages moves, in steps that leave out no message.
  const isThere = alice.page.getByRole('article').filter({ hasText: 'message 180.' })
  while ((await isThere.count()) === 0) {
    await region.evaluate((element) => {
      element.scrollTop -= element.clientHeight / 2
    })
    await alice.settles()
  }
  await isThere.scrollIntoViewIfNeeded()
  await alice.settles()
  const place = await placeOf(alice, 'message 180.')
  await sendMany(bob, toAlice, [301, 340])
  // Exactly: what is announced contains it, too.
  await alice.page.getByText(t.newMessages(40), { exact: true }).waitFor()
  expect(await placeOf(alice, 'message 180.')).toBeCloseTo(place, 0)

  // Wide, narrow and wide again: the heights of all messages change.
  for (const width of [700, 1300, 1100]) await alice.page.setViewportSize({ width, height: 720 })
  await alice.settles()
  await alice.sees('message 180.')
  // Upwards, by as much as the wheel says, although the messages above have other heights now.
  for (let step = 0; step < 8; step++) {
    // The first in view: those above it may not be drawn any more.
    const before = await region.evaluate((element) => {
      const articles = [...element.querySelectorAll('article')]
      const top = element.getBoundingClientRect().y
      const first = articles.find((article) => article.getBoundingClientRect().y > top)
      return { y: first?.getBoundingClientRect().y ?? Number.NaN, text: first?.textContent ?? '' }
    })
    await region.evaluate((element) => {
      element.scrollTop -= 120
    })
    await alice.settles()
    const now = await alice.page
      .getByRole('article')
      .filter({ hasText: before.text })
      .evaluate((article) => article.getBoundingClientRect().y)
    expect(now - before.y).toBeCloseTo(120, -1)
  }
  await alice.presses(t.toEnd)
  await alice.sees('message 340.')
})
