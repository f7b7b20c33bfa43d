// The leader tab closes, crashes or is frozen: another tab becomes the leader, and nothing is lost or
// repeated.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../people.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

/** Drops the answers that a tab sends to other tabs, as if it always closed just before. */
async function dropAnswers(tab: AppTab): Promise<void> {
  await tab.page.evaluate(() => {
    const { postMessage } = BroadcastChannel.prototype
    BroadcastChannel.prototype.postMessage = function post(data): void {
      if (data.message.type !== 'answer') postMessage.call(this, data)
    }
  })
}

test('when the leader is closed while another tab sends, no message is lost or repeated', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  const texts = Array.from({ length: 100 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await until('some messages have arrived', async () => (await bob.heardTexts()).length > 0)
  await alice.page.close()
  expect(new Set(await sending).size).toBe(texts.length)
  await bob.hears(texts.length)
  await until('all are delivered', async () =>
    (await second.transcript(b)).every((line) => line.endsWith('[delivered]')),
  )
  expect(await bob.heardTexts()).toEqual(texts)
  expect((await second.transcript(b)).length).toBe(texts.length)
  expect(await second.call<number>('countUnsent')).toBe(0)
  expect((await second.heard('takeover')).length).toBe(1)
  expect(await second.heard('goaway')).toEqual([])
})

test('messages that the leader sent but could not confirm are not sent again by the next leader', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  await dropAnswers(alice)
  const texts = Array.from({ length: 10 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await until('bob has all messages', async () => (await bob.heardTexts()).length === texts.length)
  await alice.page.close()
  await sending
  await second.call('send', b, 'the end')
  await until('bob hears the end', async () => (await bob.heardTexts()).includes('the end'))
  expect(await bob.heardTexts()).toEqual([...texts, 'the end'])
  expect((await second.transcript(b)).length).toBe(texts.length + 1)
})

test('when the leader crashes, another tab becomes the leader, and no message is lost', async () => {
  const { alice, second, bob, a, b } = await world.twoTabs()
  const crashed = new Promise((resolve) => alice.page.once('crash', resolve))
  const texts = Array.from({ length: 50 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  const devtools = await alice.page.context().newCDPSession(alice.page)
  // This call never gets an answer, because the page that would answer has crashed.
  devtools.send('Page.crash').catch(() => {})
  await crashed
  await sending
  await bob.hears(texts.length)
  expect(await bob.heardTexts()).toEqual(texts)
  await bob.call('send', a, 'still there?')
  await until('the second tab hears it', async () => (await second.heardTexts()).includes('still there?'))
})

test('when the leader is frozen, another tab becomes the leader, and the first receives again once it runs', async () => {
  const { alice, second, bob, a, b } = await world.twoTabs()
  await alice.page.evaluate(() => {
    Object.assign(globalThis, { isKept: true })
  })
  await alice.leave()
  await until('the second tab has the connection', () => second.sockets.open === 1)
  await second.call('send', b, 'from the second')
  await until('bob hears it', async () => (await bob.heardTexts()).length === 1)
  await alice.comeBack()
  expect(await alice.page.evaluate(() => 'isKept' in globalThis)).toBe(true)
  await bob.call('send', a, 'welcome back')
  for (const tab of [alice, second])
    await until('both tabs hear the message', async () => (await tab.heardTexts()).includes('welcome back'))
  await alice.call('send', b, 'thank you')
  await until('bob hears it', async () => (await bob.heardTexts()).includes('thank you'))
  expect([alice.sockets.ever, second.sockets.ever]).toEqual([1, 1])
  for (const tab of [alice, second]) expect(await tab.heard('goaway')).toEqual([])
  expect((await alice.heard('takeover')).length).toBe(1)
})

test('calls made just before a tab is frozen are carried out once, when the tab runs again', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
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

test('a frozen leader writes nothing more, and once it runs again the next leader writes the rest', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  const texts = Array.from({ length: 400 }, (_, at) => `message ${at}`)
  // The page gets the event of a freeze, but its scripts keep running, as if it were thawed at once.
  const sending = alice.page.evaluate(
    ([b, texts]) => {
      // In the middle of the writes, however fast they are.
      const { put } = IDBObjectStore.prototype
      let writesLeft = 20
      IDBObjectStore.prototype.put = function later(...args) {
        writesLeft -= 1
        if (writesLeft === 0) queueMicrotask(() => document.dispatchEvent(new Event('freeze')))
        return put.apply(this, args)
      }
      return app.sendAll(b, texts)
    },
    [b, texts] as const,
  )
  await until('the second tab is the leader', async () => (await second.heard('takeover')).length === 1)
  const written = (await second.transcript(b)).length
  await Bun.sleep(500)
  expect((await second.transcript(b)).length).toBe(written)
  expect(written).toBeLessThan(texts.length)
  await alice.page.evaluate(() => document.dispatchEvent(new Event('resume')))
  for (const outcome of await sending) expect(outcome).toHaveProperty('answer')
  await bob.hears(texts.length)
  expect(await bob.heardTexts()).toEqual(texts)
})

test('a channel that the leader creates as it closes is not created twice, and its outcome is reported as unknown', async () => {
  const { alice, second } = await world.twoTabs()
  await dropAnswers(alice)
  const failure = failureOf(second.call('channels.create', { name: 'Only one' }))
  await until(
    'the channel is created',
    async () => (await alice.call<unknown[]>('channels.mine')).length === 1,
  )
  await alice.page.close()
  expect(await failure).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  await second.connected()
  const mine = await second.call<{ name: string }[]>('channels.mine')
  expect(mine.map(({ name }) => name)).toEqual(['Only one'])
})

test('a store that has failed is opened again by any tab, and all tabs go on', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  await alice.page.evaluate(() => {
    const { put } = IDBObjectStore.prototype
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('the disk is full', 'QuotaExceededError')
    }
    Reflect.set(globalThis, 'freeSpace', () => Object.assign(IDBObjectStore.prototype, { put }))
  })
  const failed = { code: 'STORE_FAILED' }
  expect(await failureOf(second.call('send', b, 'on a full disk'))).toMatchObject(failed)
  await alice.page.evaluate(() => Reflect.get(globalThis, 'freeSpace')())
  expect(await failureOf(alice.call('send', b, 'with the same store'))).toMatchObject(failed)

  // A tab that cannot open it changes nothing.
  await second.page.evaluate(() => {
    const { open } = IDBFactory.prototype
    IDBFactory.prototype.open = () => {
      IDBFactory.prototype.open = open
      throw new DOMException('the disk is full', 'UnknownError')
    }
  })
  expect(await failureOf(second.call('reopen'))).toMatchObject(failed)
  expect(await second.heard('takeover')).toEqual([])

  await second.call('reopen')
  await second.call('connect')
  await second.call('send', b, 'from the second')
  await alice.call('send', b, 'from the first')
  await alice.call('reopen')
  // The tab that runs the client opens it again itself.
  await alice.call('reopen')
  await alice.call('connect')
  await second.call('send', b, 'once more')
  // The other tab may run it for a moment in between.
  expect((await second.heard('takeover')).length).toBeGreaterThanOrEqual(3)
  await bob.hears(3)
  expect(await bob.heardTexts()).toEqual(['from the second', 'from the first', 'once more'])
})
