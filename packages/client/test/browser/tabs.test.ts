// Several tabs of one person share one connection. Each tab gets every event, and a call in one tab takes
// effect in all tabs.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../people.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

test('two tabs share one connection, and each gets every event once', async () => {
  const { alice, second, bob, a, b } = await world.twoTabs()
  expect(await second.alias()).toBe(a)
  await bob.call('send', a, 'hello')
  await alice.call('send', b, 'from the first')
  await second.call('send', b, 'from the second')
  await until('bob hears both', async () => (await bob.heardTexts()).length === 2)
  expect(await bob.heardTexts()).toEqual(['from the first', 'from the second'])
  for (const tab of [alice, second]) {
    await until('his message and both receipts arrive', async () => {
      const statuses = await tab.heard<{ message: { status: string } }>('status_change')
      return (
        (await tab.heardTexts()).length === 1 &&
        statuses.filter(({ message }) => message.status === 'delivered').length === 2
      )
    })
    expect(await tab.heardTexts()).toEqual(['hello'])
    expect(await tab.heard('goaway')).toEqual([])
    expect(await tab.heard('takeover')).toEqual([])
    expect((await tab.call<unknown[]>('conversations')).length).toBe(1)
  }
  const before = (await alice.heard('identity_changed')).length
  await second.call('setNickname', 'Alice B.')
  for (const tab of [alice, second])
    await until('the tab has the new name', () =>
      tab.page.evaluate(() => globalThis.app.client.identity?.nickname === 'Alice B.'),
    )
  expect((await alice.heard('identity_changed')).length).toBe(before + 1)
  expect(await second.heard('identity_changed')).toMatchObject([{ identity: { nickname: 'Alice B.' } }])
  expect([alice.sockets, second.sockets]).toEqual([
    { open: 1, ever: 1 },
    { open: 0, ever: 0 },
  ])
})

test('connect and disconnect in one tab take effect in all tabs', async () => {
  const { alice, second } = await world.twoTabs()
  await second.call('disconnect')
  await until('the first tab is disconnected', async () => (await alice.networkState()) === 'disconnected')
  // The next leader stays disconnected, as the user wanted.
  await alice.page.close()
  expect(await second.call<number>('countUnsent')).toBe(0)
  expect(await second.networkState()).toBe('disconnected')
  await second.call('connect')
  await second.connected()
})

test('the phrase never leaves the tab that shows it', async () => {
  const context = await world.newContext()
  const [first, second] = [await world.open(context), await world.open(context)]
  const overheard = await first.page.evaluateHandle(() => {
    const said: string[] = []
    new BroadcastChannel('sotto test').addEventListener('message', ({ data }) =>
      said.push(JSON.stringify(data)),
    )
    return said
  })
  const identity = await second.call<{ aliasId: string }>('create', { nickname: 'alice' })
  expect(Object.keys(identity)).not.toContain('mnemonic')
  await until('the first tab has the identity, too', async () =>
    first.page.evaluate(() => globalThis.app.client.identity !== undefined),
  )
  const phrases = [await first.call<string>('recoveryPhrase'), await second.call<string>('recoveryPhrase')]
  expect(phrases[0]?.split(' ').length).toBe(12)
  expect(phrases[1]).toBe(phrases[0] ?? '')
  await second.call('recover', { mnemonic: phrases[0] })
  const said = await overheard.jsonValue()
  expect(said.length).toBeGreaterThan(5)
  expect(said.filter((text) => text.includes(phrases[0] ?? '?') || text.includes('mnemonic'))).toEqual([])
})

test('a call that fails in the leader fails in the calling tab with the same code', async () => {
  const { second } = await world.twoTabs()
  expect(await failureOf(second.call('send', 'nobody_at_all', 'hello'))).toMatchObject({
    code: 'UNKNOWN_CONTACT',
  })
  expect(await failureOf(second.call('lookUpUser', 'nobody_at_all'))).toMatchObject({
    code: 'REFUSED',
    refusal: 'NOT_FOUND',
  })
  expect(await failureOf(second.call('lookUpUser', 'No!'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await failureOf(second.call('messages', 5))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await failureOf(second.call('create', { nickname: 'other', mnemonic: 'no words' }))).toMatchObject({
    code: 'INVALID_PHRASE',
  })
})

test('a client locked in one tab is locked in all, and the passphrase in one tab unlocks it in all', async () => {
  const context = await world.newContext({ isSealed: true })
  const alice = await world.open(context)
  await alice.register('alice')
  const second = await world.duplicate(alice)
  const passphrase = 'plum otter canyon velvet'
  const overheard = await alice.page.evaluateHandle(() => {
    const said: string[] = []
    const channel = new BroadcastChannel('sotto test')
    channel.addEventListener('message', ({ data }) => said.push(JSON.stringify(data)))
    return said
  })
  const knowsPassphrase = (tab: typeof second) => tab.page.evaluate(() => globalThis.app.client.hasPassphrase)
  expect(await Promise.all([alice, second].map(knowsPassphrase))).toEqual([false, false])
  await second.call('setPassphrase', passphrase)
  await second.connected()
  for (const tab of [alice, second])
    await until('the tab knows of the passphrase', () => knowsPassphrase(tab))
  const said = await overheard.jsonValue()
  expect(said.length).toBeGreaterThan(0)
  expect(said.filter((text) => text.includes('plum'))).toEqual([])
  await alice.call('lock')
  for (const tab of [alice, second]) {
    await until('the tab is locked', () => tab.page.evaluate(() => globalThis.app.client.isLocked))
    expect(await tab.page.evaluate(() => globalThis.app.client.identity)).toBe(undefined)
    expect(await failureOf(tab.call('friends'))).toMatchObject({ code: 'LOCKED' })
  }
  expect(await failureOf(alice.call('unlock', 'plum otter'))).toMatchObject({ code: 'WRONG_PASSPHRASE' })
  await alice.call('unlock', passphrase)
  for (const tab of [alice, second])
    await until('the tab is unlocked', () => tab.page.evaluate(() => !globalThis.app.client.isLocked))
  await second.call('connect')
  await second.connected()
  expect(await second.heard('lock_state')).toEqual(['locked', 'unlocked'])
  // Closing the tab that was unlocked locks the client.
  await alice.page.close()
  await until(
    'the second tab gets the event',
    async () => (await second.heard('lock_state')).at(-1) === 'locked',
  )
  await until('the second tab is locked', () => second.page.evaluate(() => globalThis.app.client.isLocked))
  await second.call('unlock', passphrase)
  expect(await second.call('friends')).toEqual([])
  expect(await second.page.evaluate(() => globalThis.app.client.isSealed)).toBe(true)
})

test('every tab can use channels and the shop', async () => {
  const { alice, second, bob } = await world.twoTabs()
  const id = await second.call<string>('channels.create', { name: 'From the second tab' })
  await bob.call('channels.subscribe', id)
  await second.call('channels.post', id, 'hello readers')
  await until('bob hears it', async () => (await bob.heard('channel_post')).length === 1)
  const posts = await alice.call<{ content: string }[]>('channels.posts', id)
  expect(posts.map(({ content }) => content)).toEqual(['hello readers'])
  expect(await failureOf(second.call('channels.get', 'ch_nothing'))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  expect(await failureOf(second.call('channels.deletePost', id, `p_${'x'.repeat(22)}`))).toMatchObject({
    code: 'REFUSED',
    refusal: 'NOT_FOUND',
  })
  expect((await second.call<unknown[]>('shop.search')).length).toBeGreaterThan(0)
})

test('an alias bound in one tab changes in every tab, and each tab gets the event', async () => {
  const { alice, second } = await world.twoTabs()
  const [item] = await second.call<{ alias_id: string }[]>('shop.search', 'tabs')
  const order = await second.call<{ order_id: string }>('shop.purchase', item?.alias_id)
  const before = (await alice.heard('identity_changed')).length
  for (const tab of [alice, second])
    await until(
      'the tab gets the event of the payment',
      async () => (await tab.heard('payment_confirmed')).length === 1,
    )
  expect(await second.call<string>('shop.bind', order.order_id)).toBe(item?.alias_id ?? '')
  for (const tab of [alice, second]) expect(await tab.alias()).toBe(item?.alias_id ?? '')
  expect((await alice.heard('identity_changed')).length).toBe(before + 1)
  expect(await second.heard('identity_changed')).toMatchObject([{ identity: { aliasId: item?.alias_id } }])
  expect(alice.sockets).toEqual({ open: 1, ever: 1 })
})
