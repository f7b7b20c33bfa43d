// Several tabs of one person: one connection, every event in each, and no break when the tab that has it goes.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../people.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(60_000)

const world = new BrowserWorld()

async function pair(): Promise<{ alice: AppTab; second: AppTab; bob: AppTab; a: string; b: string }> {
  const [alice, bob] = [await world.enter('alice'), await world.enter('bob')]
  await alice.befriend(bob)
  const second = await world.duplicate(alice)
  return { alice, second, bob, a: await alice.alias(), b: await bob.alias() }
}

/** Lets everything leave a tab but its answers, as if it always went just before. */
async function keepAnswers(tab: AppTab): Promise<void> {
  await tab.page.evaluate(() => {
    const { postMessage } = BroadcastChannel.prototype
    BroadcastChannel.prototype.postMessage = function post(data): void {
      if (data.message.type !== 'answer') postMessage.call(this, data)
    }
  })
}

test('two tabs have one connection, and each hears everything once', async () => {
  const { alice, second, bob, a, b } = await pair()
  expect(await second.alias()).toBe(a)
  await bob.call('send', a, 'hello')
  await alice.call('send', b, 'from the first')
  await second.call('send', b, 'from the second')
  await until('bob hears both', async () => (await bob.heardTexts()).length === 2)
  expect(await bob.heardTexts()).toEqual(['from the first', 'from the second'])
  for (const tab of [alice, second]) {
    await until('his message and both receipts', async () => {
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
    await until('it has the new name', () =>
      tab.page.evaluate(() => globalThis.app.client.identity?.nickname === 'Alice B.'),
    )
  expect((await alice.heard('identity_changed')).length).toBe(before + 1)
  expect(await second.heard('identity_changed')).toMatchObject([{ identity: { nickname: 'Alice B.' } }])
  expect([alice.sockets, second.sockets]).toEqual([
    { open: 1, ever: 1 },
    { open: 0, ever: 0 },
  ])
})

test('a tab that is closed while another sends through it loses and repeats nothing', async () => {
  const { alice, second, bob, b } = await pair()
  const texts = Array.from({ length: 100 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await until('it has begun', async () => (await bob.heardTexts()).length > 0)
  await alice.page.close()
  expect(new Set(await sending).size).toBe(texts.length)
  await until('bob has all', async () => (await bob.heardTexts()).length >= texts.length, 20_000)
  await until('all are delivered', async () =>
    (await second.transcript(b)).every((line) => line.endsWith('[delivered]')),
  )
  expect(await bob.heardTexts()).toEqual(texts)
  expect((await second.transcript(b)).length).toBe(texts.length)
  expect(await second.call<number>('countUnsent')).toBe(0)
  expect((await second.heard('takeover')).length).toBe(1)
  expect(await second.heard('goaway')).toEqual([])
})

test('what a tab has done and could not answer is not done again by the next', async () => {
  const { alice, second, bob, b } = await pair()
  await keepAnswers(alice)
  const texts = Array.from({ length: 10 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await until('bob has all', async () => (await bob.heardTexts()).length === texts.length)
  await alice.page.close()
  await sending
  await second.call('send', b, 'the end')
  await until('bob hears the end', async () => (await bob.heardTexts()).includes('the end'))
  expect(await bob.heardTexts()).toEqual([...texts, 'the end'])
  expect((await second.transcript(b)).length).toBe(texts.length + 1)
})

test('a tab that crashes is followed by another', async () => {
  const { alice, second, bob, a, b } = await pair()
  const crashed = new Promise((resolve) => alice.page.once('crash', resolve))
  const texts = Array.from({ length: 50 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  const devtools = await alice.page.context().newCDPSession(alice.page)
  // Never answered: the page that would is gone.
  devtools.send('Page.crash').catch(() => {})
  await crashed
  await sending
  await until('bob has all', async () => (await bob.heardTexts()).length >= texts.length, 20_000)
  expect(await bob.heardTexts()).toEqual(texts)
  await bob.call('send', a, 'still there?')
  await until('the second hears it', async () => (await second.heardTexts()).includes('still there?'))
})

test('a tab that is frozen lets another go on, and hears again once it runs again', async () => {
  const { alice, second, bob, a, b } = await pair()
  await alice.page.evaluate(() => {
    Object.assign(globalThis, { isKept: true })
  })
  await alice.leave()
  await until('the second has the connection', () => second.sockets.open === 1)
  await second.call('send', b, 'from the second')
  await until('bob hears it', async () => (await bob.heardTexts()).length === 1)
  await alice.comeBack()
  expect(await alice.page.evaluate(() => 'isKept' in globalThis)).toBe(true)
  await bob.call('send', a, 'welcome back')
  for (const tab of [alice, second])
    await until('both hear it', async () => (await tab.heardTexts()).includes('welcome back'))
  await alice.call('send', b, 'thank you')
  await until('bob hears it', async () => (await bob.heardTexts()).includes('thank you'))
  expect([alice.sockets.ever, second.sockets.ever]).toEqual([1, 1])
  for (const tab of [alice, second]) expect(await tab.heard('goaway')).toEqual([])
  expect((await alice.heard('takeover')).length).toBe(1)
})

test('what a frozen tab was asked for is done when it runs again, once', async () => {
  const { alice, second, bob, b } = await pair()
  await second.page.close()
  // The calls begin, and the page stops before they can end.
  const sending = alice.page.evaluate(
    ([b, texts]) => {
      Object.assign(globalThis, { sending: globalThis.app.sendAll(b, texts) })
      location.href = 'about:blank'
    },
    [b, ['one', 'two', 'three']] as const,
  )
  await sending
  await alice.page.waitForURL('about:blank')
  await alice.comeBack()
  const outcomes = await alice.page.evaluate(() => Reflect.get(globalThis, 'sending'))
  expect(outcomes).toMatchObject([
    { answer: { text: 'one' } },
    { answer: { text: 'two' } },
    { answer: { text: 'three' } },
  ])
  await until('bob hears all', async () => (await bob.heardTexts()).length >= 3)
  await until('all are delivered', async () =>
    (await alice.transcript(b)).every((line) => line.endsWith('[delivered]')),
  )
  expect(await bob.heardTexts()).toEqual(['one', 'two', 'three'])
  expect((await alice.transcript(b)).length).toBe(3)
})

test('what a frozen tab had not written yet it never writes, but has the next one do it once it runs again', async () => {
  const { alice, second, bob, b } = await pair()
  const texts = Array.from({ length: 400 }, (_, at) => `message ${at}`)
  // Frozen as a page is, but for its scripts going on at once: as if it were thawed right away.
  const sending = alice.page.evaluate(
    ([b, texts]) => {
      const all = app.sendAll(b, texts)
      setTimeout(() => document.dispatchEvent(new Event('freeze')), 10)
      return all
    },
    [b, texts] as const,
  )
  await until('the second leads', async () => (await second.heard('takeover')).length === 1)
  const written = (await second.transcript(b)).length
  await Bun.sleep(500)
  expect((await second.transcript(b)).length).toBe(written)
  expect(written).toBeLessThan(texts.length)
  await alice.page.evaluate(() => document.dispatchEvent(new Event('resume')))
  for (const outcome of await sending) expect(outcome).toHaveProperty('answer')
  await until('bob has all', async () => (await bob.heardTexts()).length >= texts.length, 20_000)
  expect(await bob.heardTexts()).toEqual(texts)
})

test('connect and disconnect of one tab are those of all', async () => {
  const { alice, second } = await pair()
  await second.call('disconnect')
  await until('the first sees it', async () => (await alice.networkState()) === 'disconnected')
  // Whoever leads next leaves it as it was asked for.
  await alice.page.close()
  expect(await second.call<number>('countUnsent')).toBe(0)
  expect(await second.networkState()).toBe('disconnected')
  await second.call('connect')
  await second.connected()
})

test('the phrase stays in the tab that is to show it', async () => {
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
  await until('the first has it, too', async () =>
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

test('what fails in another tab fails here with the same code', async () => {
  const { second } = await pair()
  await expect(second.call('send', 'nobody_at_all', 'hello')).rejects.toMatchObject({
    code: 'UNKNOWN_CONTACT',
  })
  await expect(second.call('lookUpUser', 'nobody_at_all')).rejects.toMatchObject({
    code: 'REFUSED',
    refusal: 'NOT_FOUND',
  })
  await expect(second.call('lookUpUser', 'No!')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(second.call('messages', 5)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(second.call('create', { nickname: 'other', mnemonic: 'no words' })).rejects.toMatchObject({
    code: 'INVALID_PHRASE',
  })
})

test('many tabs that want the client at once all get it', async () => {
  const { alice, second, bob, b } = await pair()
  const third = await world.duplicate(alice)
  const tabs = [alice, second, third]
  const phrases = await Promise.all(tabs.map((tab) => tab.call<string>('recoveryPhrase')))
  expect(new Set(phrases).size).toBe(1)
  await Promise.all(tabs.map((tab, at) => tab.call('send', b, `tab ${at}`)))
  await until('bob hears all', async () => (await bob.heardTexts()).length === tabs.length)
  expect((await bob.heardTexts()).toSorted()).toEqual(['tab 0', 'tab 1', 'tab 2'])
  const open = tabs.map(({ sockets }) => sockets.open)
  expect(open.toSorted()).toEqual([0, 0, 1])
})

test('a tab that needs the client gets it past those that only wait in line', async () => {
  const { alice, second } = await pair()
  const third = await world.duplicate(alice)
  await third.call('recoveryPhrase')
  await third.connected()
  for (const tab of [alice, second]) expect((await tab.heard('takeover')).length).toBe(1)
  expect([alice, second, third].map(({ sockets }) => sockets.ever)).toEqual([1, 0, 1])
})

test('what is sent while the client changes hands arrives once and in order', async () => {
  const { alice, second, bob, b } = await pair()
  const third = await world.duplicate(alice)
  const texts = Array.from({ length: 100 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await third.call('recoveryPhrase')
  await alice.call('recoveryPhrase')
  await sending
  await until('bob has all', async () => (await bob.heardTexts()).length >= texts.length, 20_000)
  expect(await bob.heardTexts()).toEqual(texts)
  expect(await second.call<number>('countUnsent')).toBe(0)
})

test('a tab that makes an identity keeps the client until that is done', async () => {
  const context = await world.newContext()
  const [first, second] = [await world.open(context), await world.open(context)]
  const asked = Promise.withResolvers<void>()
  const mayGo = Promise.withResolvers<void>()
  let registrations = 0
  await first.page.route('**/api/v1/register', async (route) => {
    registrations += 1
    asked.resolve()
    await mayGo.promise
    await route.continue()
  })
  const created = first.call('create', { nickname: 'alice' })
  await asked.promise
  const phrase = second.call<string>('recoveryPhrase')
  // Its wish has been heard once an answer to something later has.
  expect(await second.call<number>('countUnsent')).toBe(0)
  mayGo.resolve()
  await created
  expect((await phrase).split(' ').length).toBe(12)
  expect(registrations).toBe(1)
})

test('of two identities made at once in a tab the first is made, and none once the tab is closed', async () => {
  const tab = await world.open(await world.newContext())
  const outcomes = await tab.page.evaluate(async () => {
    const { client } = globalThis.app
    const code = (error: { code: string }) => error.code
    const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    // The first has to make its words, which the second has.
    const made = [client.create({ nickname: 'first' }), client.create({ nickname: 'second', mnemonic })]
    const outcomes = await Promise.all(made.map((each) => each.then(({ nickname }) => nickname, code)))
    const late = client.create({ nickname: 'third', replace: true }).then(({ nickname }) => nickname, code)
    await client.close()
    return [...outcomes, await late]
  })
  expect(outcomes).toEqual(['first', 'IDENTITY_EXISTS', 'CLOSED'])
})

test('a client locked in one tab is locked in all, and opens in the tab that has the passphrase', async () => {
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
  await second.call('setPassphrase', passphrase)
  await second.connected()
  const said = await overheard.jsonValue()
  expect(said.length).toBeGreaterThan(0)
  expect(said.filter((text) => text.includes('plum'))).toEqual([])
  await alice.call('lock')
  for (const tab of [alice, second]) {
    await until('it is locked', () => tab.page.evaluate(() => globalThis.app.client.isLocked))
    expect(await tab.page.evaluate(() => globalThis.app.client.identity)).toBe(undefined)
    await expect(tab.call('friends')).rejects.toMatchObject({ code: 'LOCKED' })
  }
  await expect(alice.call('unlock', 'plum otter')).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' })
  await alice.call('unlock', passphrase)
  for (const tab of [alice, second])
    await until('it is open', () => tab.page.evaluate(() => !globalThis.app.client.isLocked))
  await second.call('connect')
  await second.connected()
  expect(await second.heard('lock_state')).toEqual(['locked', 'unlocked'])
  // Who closes the tab that was unlocked, locks.
  await alice.page.close()
  await until('it is told', async () => (await second.heard('lock_state')).at(-1) === 'locked')
  await until('it is locked', () => second.page.evaluate(() => globalThis.app.client.isLocked))
  await second.call('unlock', passphrase)
  expect(await second.call('friends')).toEqual([])
  expect(await second.page.evaluate(() => globalThis.app.client.isSealed)).toBe(true)
})

test('channels are every tab’s, and a post comes to each', async () => {
  const { alice, second, bob } = await pair()
  const id = await second.call<string>('channels.create', { name: 'From the second tab' })
  await bob.call('channels.subscribe', id)
  await second.call('channels.post', id, 'hello readers')
  await until('bob hears it', async () => (await bob.heard('channel_post')).length === 1)
  const posts = await alice.call<{ content: string }[]>('channels.posts', id)
  expect(posts.map(({ content }) => content)).toEqual(['hello readers'])
  await expect(second.call('channels.get', 'ch_nothing')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(second.call('channels.deletePost', id, `p_${'x'.repeat(22)}`)).rejects.toMatchObject({
    code: 'REFUSED',
    refusal: 'NOT_FOUND',
  })
  expect((await second.call<unknown[]>('shop.search')).length).toBeGreaterThan(0)
})

test('an alias bound in one tab is every tab’s, and each hears of it', async () => {
  const { alice, second } = await pair()
  const [item] = await second.call<{ alias_id: string }[]>('shop.search', 'tabs')
  const order = await second.call<{ order_id: string }>('shop.purchase', item?.alias_id)
  const before = (await alice.heard('identity_changed')).length
  for (const tab of [alice, second])
    await until(
      'it hears of the payment',
      async () => (await tab.heard('payment_confirmed')).length === 1,
      20_000,
    )
  expect(await second.call<string>('shop.bind', order.order_id)).toBe(item?.alias_id ?? '')
  for (const tab of [alice, second]) expect(await tab.alias()).toBe(item?.alias_id ?? '')
  expect((await alice.heard('identity_changed')).length).toBe(before + 1)
  expect(await second.heard('identity_changed')).toMatchObject([{ identity: { aliasId: item?.alias_id } }])
  expect(alice.sockets).toEqual({ open: 1, ever: 1 })
})

test('a channel that a tab was asked to make as it went is not made twice, and nobody is told that it was not', async () => {
  const { alice, second } = await pair()
  await keepAnswers(alice)
  const made = second.call('channels.create', { name: 'Only one' })
  await until('it is made', async () => (await alice.call<unknown[]>('channels.mine')).length === 1)
  await alice.page.close()
  await expect(made).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  await second.connected()
  const mine = await second.call<{ name: string }[]>('channels.mine')
  expect(mine.map(({ name }) => name)).toEqual(['Only one'])
})

test('a tab that is asked for the client first finishes what could not be asked for again', async () => {
  const { alice, second } = await pair()
  const third = await world.duplicate(alice)
  const asked = Promise.withResolvers<void>()
  const mayGo = Promise.withResolvers<void>()
  await alice.page.route('**/api/v1/channels', async (route) => {
    asked.resolve()
    await mayGo.promise
    await route.continue()
  })
  const made = second.call<string>('channels.create', { name: 'Only one' })
  await asked.promise
  const phrase = third.call<string>('recoveryPhrase')
  // Its wish has been heard once an answer to something later has.
  expect(await third.call<number>('countUnsent')).toBe(0)
  mayGo.resolve()
  expect(await made).toStartWith('ch_')
  expect((await phrase).split(' ').length).toBe(12)
})
