// Stories of channels: what is written, read, sold and bought.
import { expect, test } from 'bun:test'
import { Channels } from '@sotto/client'
import { tellRelay } from '@sotto/relay'
import type { Route } from 'playwright-core'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { longestTask } from './longest-task.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

/** The longest time, in milliseconds, for which the page may not answer. */
const FREEZE_MS = 200

const world = new AppWorld({ PAYMENTS: 'dev' })

async function createsChannel(person: AppPerson, name: string): Promise<void> {
  const t = person.t.channels
  await person.goesTo('#/channels/new')
  await person.reads(t.publicText)
  await person.page.getByLabel(t.name, { exact: true }).fill(name)
  await person.presses(t.create)
  await person.page.getByLabel(t.newPost).waitFor()
}

async function posts(person: AppPerson, text: string): Promise<void> {
  await person.page.getByLabel(person.t.channels.newPost).fill(text)
  await person.presses(person.t.channels.post)
}

async function findsChannel(person: AppPerson, name: string): Promise<void> {
  await person.goesTo('#/channels')
  await person.page.getByRole('textbox', { name: person.t.channels.search }).fill(name)
  await person.page.getByRole('link').filter({ hasText: name }).click()
  await person.page.getByRole('heading', { name }).waitFor()
}

test('a channel is created, found, read as it is written, sold, and deleted by its new owner', async () => {
  const [anna, bob] = await Promise.all([world.joins('Anna'), world.joins('Bob', { screen: 'phone' })])
  await createsChannel(anna, 'Kettles of Anna')
  await posts(anna, '# Oolong today\n\nIt is **hot**, says [the shop](https://tea.example/oolong)')
  await anna.page.getByRole('article').getByRole('heading', { name: 'Oolong today' }).waitFor()
  await posts(anna, 'Wrong pot')
  await anna.sees('Wrong pot')
  await anna.page
    .getByRole('article')
    .filter({ hasText: 'Wrong pot' })
    .getByRole('button', { name: anna.t.channels.deletePost })
    .click()
  await anna.presses(anna.t.common.delete)
  await isTold(anna, anna.t.channels.postDeleted)

  await findsChannel(bob, 'Kettles of Anna')
  await bob.sees('Oolong today')
  expect(await bob.page.getByRole('article').count()).toBe(1)
  await bob.presses(bob.t.channels.subscribe)
  await bob.page.getByRole('button', { name: bob.t.channels.unsubscribe }).waitFor()
  await posts(anna, 'Green tomorrow')
  await bob.sees('Green tomorrow')

  // Its words say something else than where the link leads.
  await bob.page.getByRole('link', { name: 'the shop' }).click()
  await bob.reads('https://tea.example/oolong')
  await bob.page.keyboard.press('Escape')

  await anna.follows(anna.t.channels.edit)
  await anna.page.getByLabel(anna.t.channels.price).fill('40')
  await anna.presses(anna.t.channels.offer)
  await isTold(anna, anna.t.channels.offered)
  await findsChannel(bob, 'Kettles of Anna')
  await bob.presses(bob.t.channels.buy)
  await bob.follows(bob.t.shop.openChannel)
  await bob.page.getByLabel(bob.t.channels.newPost).waitFor()
  await bob.follows(bob.t.channels.edit)
  await bob.presses(bob.t.channels.delete)
  await bob.presses(bob.t.common.delete)
  await bob.reads(bob.t.channels.empty)
})

test('a post that is made while the others are read is shown with them', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const channels = new Channels(bob.client)
  const id = await channels.create({ name: 'Weather' })
  await channels.post(id, 'Rain')
  await alice.goesTo(`#/channels/${id}`)
  await alice.presses(alice.t.channels.subscribe)
  await alice.page.getByRole('button', { name: alice.t.channels.unsubscribe }).waitFor()
  await alice.goesTo('#/chats')

  const readOnce = async (route: Route): Promise<void> => {
    const withoutSun = await route.fetch()
    await channels.post(id, 'Sun')
    // What the relay told before has come.
    await bob.client.send(toAlice, 'Look')
    await alice.page.getByRole('link', { name: alice.t.common.unread(1) }).waitFor()
    await route.fulfill({ response: withoutSun })
  }
  await alice.context.route(/\/posts\?/, readOnce, { times: 1 })
  await alice.page.evaluate((to) => {
    location.hash = to
  }, `#/channels/${id}`)
  await alice.sees('Rain')
  await alice.sees('Sun')
})

test('hostile posts run nothing, load nothing, and are shown', async () => {
  const mallory = await Person.join('Mallory', world.relay.url)
  const channels = new Channels(mallory.client)
  const id = await channels.create({ name: 'Traps' })
  const hostile = [
    '<img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>',
    '![beacon](https://tracker.example/pixel.png) [run](javascript:document.title="run")',
    `${'>'.repeat(10_000)} deep`,
    `${'**a *b '.repeat(5000)}`,
    '~~a~ '.repeat(12_000),
    ...['[_;', '![', '\n-@~.|'].map((trap) => trap.repeat(65_536 / trap.length)),
    '\u202e\u2066 reversed [\u202egpj.exe](https://a.example/)',
    '- a\n\n'.repeat(12_000),
  ]
  for (const text of hostile) await channels.post(id, text)
  await mallory.client.close()

  const frank = await world.joins('Frank')
  const requests: string[] = []
  frank.page.on('request', (request) => requests.push(request.url()))
  const longestMs = await longestTask(frank.page, async () => {
    await frank.goesTo(`#/channels/${id}`)
    const articles = frank.page.getByRole('article')
    await articles.nth(hostile.length - 1).waitFor()
    await frank.settles()
  })
  expect(longestMs).toBeLessThan(FREEZE_MS)
  expect(await frank.page.title()).not.toBe('run')
  const feed = frank.page.getByRole('list', { name: frank.t.channels.posts })
  expect(await feed.locator('img, script, iframe, [onerror], a[href^="javascript"]').count()).toBe(0)
  expect(requests.filter((url) => url.includes('tracker'))).toEqual([])
  await frank.reads('<img src=x')
  expect(await frank.page.getByRole('link', { name: 'beacon' }).getAttribute('href')).toBe(
    'https://tracker.example/pixel.png',
  )
  // Long posts are shown in parts, each asked for.
  const more = feed.getByRole('button', { name: frank.t.channels.showMore })
  const before = await feed.locator('li').count()
  await more.first().click()
  await frank.settles()
  expect(await feed.locator('li').count()).toBeGreaterThan(before)
})

test('who posts in a channel that the operator has closed reads why', async () => {
  const anna = await world.joins('Anna')
  await createsChannel(anna, 'Free prizes')
  const [, , channel_id] = new URL(anna.page.url()).hash.split('/')
  const why = 'It asks for recovery phrases.'
  await tellRelay({ DATA_DIR: world.relay.dataDir }, 'channels.close', { channel_id, who: 'ada', why })
  anna.expects(/status of 403 .*\/posts/)
  await posts(anna, 'Send me your twelve words')
  await isTold(anna, `${anna.t.laterErrors.codes.CHANNEL_CLOSED} \u2068${why}\u2069`)
  await anna.finds('Send me your twelve words', anna.page.getByLabel(anna.t.channels.newPost))
})
