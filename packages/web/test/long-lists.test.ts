// Long lists: the page has only the rows that are seen, and the keyboard and the wheel reach the others.
import { afterAll, expect, test } from 'bun:test'
import { friendOf, HostileRelay, makePeer } from '../../client/test/hostile-relay.ts'
import { withoutFrames } from './held-frames.ts'
import { victimOf } from './victim.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const relay = new HostileRelay()
afterAll(() => relay.stop())

const COUNT = 2000

test('of 2,000 contacts only the visible ones are drawn, and the last one is reached', async () => {
  const { person } = await victimOf(world, relay)
  const nameAt = (at: number): string => `friend_${String(at).padStart(4, '0')}`
  const keys = makePeer('keys')
  relay.friends = Array.from({ length: COUNT }, (_, at) =>
    friendOf(
      { ...keys, aliasId: nameAt(at), conversationId: crypto.randomUUID() },
      { friendship_id: at + 1 },
    ),
  )
  await person.goesTo('#/contacts')
  const rows = person.page.locator('.app-list').getByRole('listitem')
  await rows.filter({ hasText: nameAt(0) }).waitFor()
  expect(await person.page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(1000)
  expect(await rows.first().getAttribute('aria-setsize')).toBe(String(COUNT))

  await rows
    .filter({ hasText: nameAt(3) })
    .getByRole('link')
    .focus()
  // Faster than the machine paints.
  await withoutFrames(person.page, async () => {
    for (let count = 0; count < 30; count++) await person.page.keyboard.press('Tab')
  })
  await person.page
    .locator(':focus')
    .filter({ hasText: nameAt(33) })
    .waitFor()

  await person.page.evaluate(() => document.querySelector('.app-list .screen-content')?.scrollTo(0, 1e9))
  const last = rows.filter({ hasText: nameAt(COUNT - 1) })
  await last.getByRole('link').click()
  await person.page.getByRole('heading', { name: nameAt(COUNT - 1) }).waitFor()
  expect(await last.getAttribute('aria-posinset')).toBe(String(COUNT))
  expect(await person.page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(1000)
})

test('a list that is long is drawn whole if the part for long lists cannot be loaded', async () => {
  const { person } = await victimOf(world, relay)
  const keys = makePeer('keys')
  const nameAt = (at: number): string => `person_${String(at).padStart(4, '0')}`
  relay.friends = Array.from({ length: 200 }, (_, at) =>
    friendOf(
      { ...keys, aliasId: nameAt(at), conversationId: crypto.randomUUID() },
      { friendship_id: at + 1 },
    ),
  )
  person.expects(/net::ERR_FAILED/)
  await person.page.route('**/assets/long-virtual-list-*.js', (route) => route.abort())
  await person.goesTo('#/contacts')
  const rows = person.page.locator('.app-list').getByRole('listitem')
  await rows.filter({ hasText: nameAt(199) }).waitFor()
  expect(await rows.count()).toBe(200)
})
