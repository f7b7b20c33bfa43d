// A tour through the admin page.
import { wireAccount } from '@sotto/relay/testing/wire'
import { writeDay } from './admin-day.ts'
import type { AdminStage, Operator } from './admin-world.ts'
import type { PersonOptions } from './browser-person.ts'

/** Looks at a page that holds still. */
export type LookAtPage = (operator: Operator, name: string) => Promise<void>

/** Gives the relay something to show. */
export async function fillRelay(stage: AdminStage): Promise<void> {
  const { relay } = stage
  const account = await wireAccount(relay.url, 'Ada')
  await account.post('/vanity/purchase', { alias_id: 'brook_1' })
  const socket = await account.connect()
  await socket.untilPong()
  const channel = (await account.post('/channels', { name: 'Lighthouse', description: 'Ships and weather' }))
    .body
  const { channel_id } = channel
  const fog = { type: 'text', content: 'Fog until noon.' }
  const { post_id } = (await account.post(`/channels/${channel_id}/posts`, fog)).body
  const by = { who: 'grace', why: 'Sends the same request to everybody, and was asked to stop' }
  const mallory = await wireAccount(relay.url, 'Mallory')
  await account.report({
    ...{ about: 'friend_request', alias_id: mallory.alias, reason: 'The same request, ten times' },
    content: `2026-11-20T09:00:00.000Z ${mallory.alias}: <b>Buy now</b>\n${'long'.repeat(80)}`,
  })
  await mallory.report({ about: 'post', channel_id, post_id, reason: 'كذب' })
  await stage.tells('accounts.suspend', { alias_id: mallory.alias, ...by })
  await stage.tells('invites.make', { uses: 5, days: 7, note: 'For the choir' })
  const spent = await stage.tells('invites.make', { uses: 1, days: null, note: 'بطاقة على اللوح' })
  await stage.tells('invites.revoke', { id: spent.invite.id })
  await relay.kill('SIGTERM')
  writeDay(relay.dataDir, Date.now())
  await relay.start()
}

/** Shows every page to `look`. */
export async function tourOfAdmin(
  stage: AdminStage,
  options: PersonOptions,
  look: LookAtPage,
): Promise<void> {
  const operator = await stage.enters(options)
  const { t } = operator
  await operator.reads(t.admin.status.connections)
  for (const page of [
    'status',
    'charts',
    'accounts',
    'channels',
    'reports',
    'orders',
    'invites',
    'deeds',
    'settings',
    'log',
  ] as const) {
    await operator.visits(page)
    await look(operator, page)
  }
  await operator.visits('accounts')
  await operator.follows('Ada')
  await operator.reads(t.adminModeration.accounts.uuid)
  await operator.settles()
  await look(operator, 'account')
  await operator.visits('channels')
  await operator.follows('Lighthouse')
  await operator.reads(t.adminModeration.channels.newest)
  await operator.settles()
  await look(operator, 'channel')
  const { reports } = t.adminModeration
  for (const about of ['friend_request', 'post'] as const) {
    await operator.visits('reports')
    await operator.follows(reports.about[about])
    await operator.reads(reports.deeds)
    await operator.settles()
    await look(operator, `report of ${about}`)
  }
  await operator.visits('orders')
  await operator.follows(t.adminDeeds.orders.kinds.vanity)
  await operator.reads(t.adminDeeds.orders.noPayments)
  await operator.settles()
  await look(operator, 'order')
  await operator.presses(t.adminDeeds.orders.confirmDo)
  await operator.reads(t.adminDeeds.whyHint)
  await operator.settles()
  await look(operator, 'deed')
  await operator.page.keyboard.press('Escape')
  await operator.visits('invites')
  await operator.presses(t.adminDeeds.invites.make)
  await operator.reads(t.adminDeeds.invites.madeText)
  await operator.settles()
  await look(operator, 'invite')
  await operator.presses(t.common.done)
  await operator.presses(t.admin.leave)
  await operator.reads(t.admin.noSession)
  await operator.settles()
  await look(operator, 'left')
}
