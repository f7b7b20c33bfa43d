// The admin page in Chromium: a link enters once, what is shown is what the relay says, and nobody stays in
// who was put out.
import { expect, test } from 'bun:test'
import { message, wireAccount, wireFriends } from '@sotto/relay/testing/wire'
import { useAdminStage } from './admin-world.ts'

const stage = useAdminStage({
  TURN_URLS: 'turn:turn.example:3478',
  TURN_SECRET: 'sixteen or more characters',
})

/** What Chromium says about the answer to somebody without a session. */
const NO_SESSION = /status of 401/

test('a link enters, leaves no trace in the address, and works for nobody else', async () => {
  const link = await stage.link()
  const ada = await stage.enters({}, link)
  const { admin } = ada.t
  await ada.page.getByRole('heading', { name: admin.pages.status, level: 1 }).waitFor()
  expect(ada.page.url()).toEndWith('/#/status')
  await ada.reloads()
  await ada.reads(admin.status.connections)
  await ada.page.goBack()
  expect(ada.page.url()).not.toContain('open')

  const mallory = await stage.enters({}, link)
  mallory.expects(NO_SESSION)
  await mallory.reads(admin.linkBad)
  expect(await mallory.page.getByText(admin.status.connections).count()).toBe(0)
})

test('the session is of one tab and one port: there is no cookie, and a further tab needs its own link', async () => {
  const ada = await stage.enters()
  const { admin } = ada.t
  await ada.reads(admin.status.connections)
  expect(await ada.context.cookies()).toEqual([])
  ada.expects(NO_SESSION)
  const further = await ada.context.newPage()
  await further.goto(ada.page.url())
  await further.getByText(admin.noSession).waitFor()
  await further.getByText(admin.howToEnter).waitFor()
  expect(await further.evaluate(() => sessionStorage.length)).toBe(0)
  await further.close()
  await ada.reloads()
  await ada.reads(admin.status.connections)
})

test('status follows the relay', async () => {
  const ada = await stage.enters()
  const t = ada.t.admin.status
  await ada.reads(t.connections)
  const before = Number(await ada.figure(t.accounts))
  const account = await wireAccount(stage.relay.url)
  await account.connect()
  await ada.page
    .locator('.admin-figure', { hasText: t.accounts })
    .first()
    .getByText(String(before + 1), { exact: true })
    .waitFor()
  expect(await ada.figure(t.connections)).toBe('1')
})

test('settings are found by name, and secrets are not shown', async () => {
  const ada = await stage.enters()
  const { settings } = ada.t.admin
  await ada.visits('settings')
  await ada.page.getByRole('search').getByRole('textbox').fill('turn_')
  await ada.page.getByText('RATE_LIMITS').waitFor({ state: 'detached' })
  await ada.reads('turn:turn.example:3478')
  await ada.reads(settings.secret)
  expect(await ada.page.content()).not.toContain('sixteen or more')
})

test('the log shows who has entered, and its errors alone if asked', async () => {
  const ada = await stage.enters()
  const { log } = ada.t.admin
  await ada.visits('log')
  await ada.reads('admin_session_begun')
  await ada.page.getByRole('radio', { name: log.errors, exact: true }).click()
  await ada.reads(log.nothing)
})

test('who logs out, or is put out by sotto admin --close, is told how to enter again', async () => {
  const ada = await stage.enters()
  const { admin } = ada.t
  await ada.reads(admin.status.connections)
  await ada.presses(admin.leave)
  await ada.reads(admin.noSession)
  ada.expects(NO_SESSION)
  await ada.reloads()
  await ada.reads(admin.noSession)

  const grace = await stage.enters()
  await grace.reads(admin.status.connections)
  grace.expectsInterruptions()
  await stage.tells('admin.close', {})
  await grace.reads(admin.unreachable)
  // The figures stay, with a line that they are not up to date.
  await grace.reads(admin.outdated)
  await grace.reads(admin.status.connections)
})

test('a link that is opened in the tab of an ended session enters again', async () => {
  const ada = await stage.enters()
  const { admin } = ada.t
  await ada.reads(admin.status.connections)
  await ada.presses(admin.leave)
  await ada.reads(admin.noSession)
  const link = await stage.link()
  await ada.page.goto(link)
  await ada.reads(admin.status.connections)
  expect(ada.page.url()).toEndWith('/#/status')
})

test('charts have what the relay writes each minute, in words and in a table, and keep it over a restart', async () => {
  const { relay } = stage
  await relay.letPass(1) // From now on its clock stands, so that all is written to one minute.
  const { alice, bob, conv } = await wireFriends(relay.url)
  const socket = await alice.connect()
  for (const text of ['one', 'two', 'three']) socket.send(message(bob.alias, conv, text))
  for (let acks = 0; acks < 3; acks++) await socket.next('ack')
  const written = async (): Promise<number> => {
    const minutes = await stage.tells('figures', {})
    return minutes.reduce((sum, { messages }) => sum + messages, 0)
  }
  while ((await written()) < 3) {
    await relay.maintain()
    await Bun.sleep(20)
  }
  await relay.kill('SIGTERM')
  await relay.start()

  const grace = await stage.enters()
  const { charts } = grace.t.admin
  await grace.visits('charts')
  const chart = grace.page.getByRole('figure', { name: charts.messages })
  await chart.getByText(/most 3 at/).waitFor()
  expect(await chart.getByRole('img').getAttribute('aria-label')).toMatch(/^Messages\. Now \d+, most 3 at/)
  await chart.getByText(charts.asTable).click()
  await chart.getByRole('row', { name: '3' }).waitFor()
})

test('the page can be read in Arabic, from right to left', async () => {
  const ada = await stage.enters()
  await ada.reads(ada.t.admin.status.connections)
  await ada.page.getByLabel(ada.t.admin.language).selectOption('ar')
  await ada.reads('الاتصالات')
  expect(await ada.page.evaluate(() => document.documentElement.dir)).toBe('rtl')
  await ada.reloads()
  await ada.reads('الاتصالات')
})
