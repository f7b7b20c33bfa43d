// What operators do on the admin page in Chromium: each deed says what will happen, asks for the reason, and
// is recorded with their name.
import { expect, test } from 'bun:test'
import { wireAccount } from '@sotto/relay/testing/wire'
import { type Operator, useAdminStage } from './admin-world.ts'

const stage = useAdminStage({ MANUAL_PAY_TO: 'the till', REGISTRATION: 'open' })

/** Gives the reason that a dialog asks for, and does the deed. */
async function does(operator: Operator, action: string, why: string): Promise<void> {
  const dialog = operator.page.getByRole('dialog')
  await dialog.getByLabel(operator.t.adminDeeds.why).fill(why)
  await dialog.getByRole('button', { name: action, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('an order by hand is confirmed with a reason, and the record names who did it', async () => {
  const buyer = await wireAccount(stage.relay.url)
  const { order_id } = (await buyer.post('/vanity/purchase', { alias_id: 'riverbed' })).body
  const ada = await stage.enters()
  const t = ada.t.adminDeeds.orders
  await ada.visits('orders')
  await ada.follows(`${t.kinds.vanity} riverbed`)
  await ada.presses(t.confirmDo)
  await ada.reads(/counts as paid in full/)
  // Without a reason, the browser does not send it.
  await ada.page.getByRole('dialog').getByRole('button', { name: t.confirmDo }).click()
  expect((await stage.tells('orders.show', { order_id })).order.status).toBe('pending')
  await does(ada, t.confirmDo, 'paid at the till')
  await ada.reads(t.states.confirmed)
  await ada.reads('paid at the till')
  const { order, events } = await stage.tells('orders.show', { order_id })
  expect(order.status).toBe('confirmed')
  expect(events.filter(({ why }) => why === 'paid at the till')).toMatchObject([{ who: 'ada' }])
})

test('what the relay refuses is said in the dialog, which stays', async () => {
  const buyer = await wireAccount(stage.relay.url)
  const { order_id } = (await buyer.post('/vanity/purchase', { alias_id: 'mountain' })).body
  const ada = await stage.enters()
  const t = ada.t.adminDeeds.orders
  await ada.visits('orders')
  await ada.follows(`${t.kinds.vanity} mountain`)
  await ada.presses(t.confirmDo)
  await stage.tells('orders.confirm', { order_id, who: 'grace', why: 'was quicker' })
  ada.expects(/status of 422/)
  const dialog = ada.page.getByRole('dialog')
  await dialog.getByLabel(ada.t.adminDeeds.why).fill('again')
  await dialog.getByRole('button', { name: t.confirmDo, exact: true }).click()
  await dialog.getByText(`${order_id} is confirmed already`).waitFor()
})

test('an account is found, suspended for some days, and let in again; each deed is on record', async () => {
  const mallory = await wireAccount(stage.relay.url, 'Mallory')
  const socket = await mallory.connect()
  const ada = await stage.enters()
  const { accounts } = ada.t.adminModeration
  await ada.visits('accounts')
  await ada.page.getByRole('search').getByRole('textbox').fill('mallo')
  await ada.follows('Mallory')
  await ada.presses(accounts.suspendDo)
  await ada.reads(accounts.suspendText)
  await ada.page.getByRole('dialog').getByLabel(accounts.days).fill('3')
  await does(ada, accounts.suspendDo, 'sent the same to everybody')
  await ada.reads(accounts.liftDo)
  await socket.closed
  const { suspended } = await stage.tells('accounts.show', { alias_id: mallory.alias })
  const days = (Date.parse(suspended?.until ?? '') - Date.parse(suspended?.since ?? '')) / 86_400_000
  expect(days).toBeCloseTo(3, 1)

  await ada.presses(accounts.liftDo)
  await does(ada, accounts.liftDo, 'promised to stop')
  await ada.page.getByText(accounts.withoutEnd).waitFor({ state: 'detached' })
  await ada.visits('deeds')
  await ada.reads('promised to stop')
  expect(await stage.tells('deeds.list', { object: mallory.alias })).toMatchObject([
    { who: 'ada', what: 'accounts.lift', why: 'promised to stop' },
    { who: 'ada', what: 'accounts.suspend', why: 'sent the same to everybody' },
  ])
})

test('an account is deleted only after the dialog has said what that means', async () => {
  const gone = await wireAccount(stage.relay.url, 'Nobody')
  const ada = await stage.enters()
  const { accounts } = ada.t.adminModeration
  await ada.visits('accounts')
  await ada.follows('Nobody')
  await ada.presses(accounts.deleteDo)
  await ada.reads(accounts.deleteText)
  await ada.presses(ada.t.common.cancel)
  expect(await stage.tells('accounts.find', { text: gone.alias })).toHaveLength(1)
  await ada.presses(accounts.deleteDo)
  await does(ada, accounts.deleteDo, 'asked for it in a letter')
  await ada.page.getByRole('search').waitFor()
  expect(await stage.tells('accounts.find', { text: gone.alias })).toEqual([])
})

test('a post is removed, and the channel closed and deleted', async () => {
  const owner = await wireAccount(stage.relay.url)
  const { channel_id } = (await owner.post('/channels', { name: 'Fair winds' })).body
  await owner.post(`/channels/${channel_id}/posts`, { type: 'text', content: 'Buy my pills' })
  const ada = await stage.enters()
  const { channels } = ada.t.adminModeration
  await ada.visits('channels')
  await ada.follows('Fair winds')
  await ada.reads('Buy my pills')
  await ada.presses(channels.removeDo)
  await does(ada, channels.removeDo, 'advertising')
  await ada.reads(channels.noPosts)
  await ada.presses(channels.closeDo)
  await does(ada, channels.closeDo, 'only advertising')
  await ada.reads(channels.closedBecause)
  expect((await stage.tells('channels.show', { channel_id })).closed_for).toBe('only advertising')
  await ada.presses(channels.deleteDo)
  await does(ada, channels.deleteDo, 'went on elsewhere')
  await ada.page.getByRole('search').waitFor()
  expect(await stage.tells('channels.find', { text: channel_id })).toEqual([])
})

test('a report is read as text, its post removed, the account found, and it is done', async () => {
  const [reporter, owner] = [await wireAccount(stage.relay.url), await wireAccount(stage.relay.url, 'Pillar')]
  const { channel_id } = (await owner.post('/channels', { name: 'Quick pills' })).body
  const pills = { type: 'text', content: 'Take <b>two</b>' }
  const { post_id } = (await owner.post(`/channels/${channel_id}/posts`, pills)).body
  const content = '<img src=x onerror="document.title=1">\nshe wrote <b>this</b>'
  await reporter.report({ about: 'post', channel_id, post_id, reason: '<i>poison</i>' })
  await reporter.report({ about: 'account', alias_id: owner.alias, reason: 'pills again', content })
  const ada = await stage.enters()
  const { reports, channels, accounts } = ada.t.adminModeration
  await ada.visits('reports')
  await ada.reads('<i>poison</i>')
  await ada.follows(`${reports.about.post} ${channel_id} ${post_id}`)
  await ada.reads(reporter.alias)
  await ada.reads('Take <b>two</b>')
  await ada.reads(reports.nothingAttached)
  await ada.presses(channels.removeDo)
  await does(ada, channels.removeDo, 'no pills here')
  await ada.reads(reports.postGone)
  expect((await stage.tells('channels.show', { channel_id })).posts).toBe(0)
  await ada.presses(reports.doneDo)
  await ada.reads(reports.doneText)
  await does(ada, reports.doneDo, 'removed it')
  await ada.page.getByRole('button', { name: reports.doneDo }).waitFor({ state: 'detached' })
  await ada.follows(reports.toChannel)
  await ada.reads('Quick pills')

  await ada.visits('reports')
  await ada.reads('pills again')
  expect(await ada.page.getByText('<i>poison</i>').count()).toBe(0)
  await ada.follows(`${reports.about.account} ${owner.alias}`)
  const words = ada.page.getByRole('blockquote').filter({ hasText: 'she wrote' })
  expect(await words.innerText()).toBe(content)
  await ada.follows(reports.toAccount)
  await ada.reads(accounts.uuid)
  await ada.reads('Pillar')
  await ada.visits('reports')
  await ada.page.getByRole('switch', { name: reports.withDone }).click()
  await ada.reads('<i>poison</i>')
  expect(await stage.tells('reports.list', {})).toMatchObject([{ about: 'account', object: owner.alias }])
  expect(await stage.tells('deeds.list', { object: post_id })).toMatchObject([
    { who: 'ada', what: 'channels.remove-post', why: 'no pills here' },
  ])
})

test('an invite is shown once, and can be ended', async () => {
  const ada = await stage.enters()
  const t = ada.t.adminDeeds.invites
  await ada.visits('invites')
  await ada.reads(t.none)
  await ada.page.getByLabel(t.note).fill('for the choir')
  await ada.page.getByLabel(t.uses).fill('2')
  await ada.presses(t.make)
  const dialog = ada.page.getByRole('dialog')
  await dialog.getByRole('img', { name: t.qr }).waitFor()
  const code = await dialog.locator('.code').innerText()
  expect(code.length).toBeGreaterThan(10)
  await ada.presses(ada.t.common.copy)
  await ada.reads(ada.t.common.copied)
  expect(await ada.page.evaluate(() => navigator.clipboard.readText())).toBe(code)
  await ada.presses(ada.t.common.done)
  await ada.reads(t.used(0, 2))
  expect(await ada.page.content()).not.toContain(code)
  expect(await stage.tells('invites.list', {})).toMatchObject([
    { note: 'for the choir', uses: 2, state: 'open' },
  ])

  await ada.presses(t.endDo)
  await ada.reads(t.endText)
  await ada.page.getByRole('dialog').getByRole('button', { name: t.endDo, exact: true }).click()
  await ada.reads(t.states.revoked)
  expect(await stage.tells('invites.list', {})).toMatchObject([{ state: 'revoked' }])
})

test('a number of uses that is none is refused by the relay', async () => {
  const ada = await stage.enters()
  const t = ada.t.adminDeeds.invites
  await ada.visits('invites')
  ada.expects(/status of 422/)
  await ada.page.getByLabel(t.uses).fill('0')
  await ada.presses(t.make)
  await ada.reads('uses: must be at least 1')
})
