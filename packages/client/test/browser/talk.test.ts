// Two people in two browsers and a real relay: they meet, talk, and keep talking after every kind of
// interruption.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../people.ts'
import { startChromiumWith } from './chromium.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

test('two people make friends and talk, and see the status of each message', async () => {
  const { alice, bob, a, b } = await world.friends()
  await alice.call('send', b, 'hello')
  await until('bob hears it', async () => (await bob.heardTexts()).includes('hello'))
  // Waits for the delivery first: if bob read at once, the read receipt could be sent before the delivery
  // receipt.
  await until(
    'alice sees it delivered',
    async () => (await alice.transcript(b))[0] === 'me: hello [delivered]',
  )
  await bob.call('markRead', a)
  await until('alice sees it read', async () => (await alice.transcript(b))[0] === 'me: hello [read]')
  await bob.call('send', a, 'and hello to you')
  await until('alice hears it', async () => (await alice.heardTexts()).includes('and hello to you'))
  const statuses = (await alice.heard<{ message: { status: string } }>('status_change')).map(
    (e) => e.message.status,
  )
  expect(statuses).toEqual(['sent', 'delivered', 'read'])
})

test('a reloaded page continues where it was, and misses no message sent meanwhile', async () => {
  const { alice, bob, a, b } = await world.friends()
  await alice.sendAll(b, ['one', 'two'])
  await until('bob hears both', async () => (await bob.heardTexts()).length === 2)
  const reloaded = alice.reload()
  await bob.sendAll(a, ['three', 'four'])
  await reloaded
  await alice.connected()
  const all = ['me: one [delivered]', 'me: two [delivered]', 'them: three', 'them: four']
  await until('every message is there once', async () => Bun.deepEquals(await alice.transcript(b), all))
  expect(await alice.heard('goaway')).toEqual([])
  await alice.call('send', b, 'five')
  await until('bob hears it', async () => (await bob.heardTexts()).includes('five'))
})

test('messages written offline are sent at once when the network is back', async () => {
  const { alice, bob, a, b } = await world.friends({ pauses: 'third' })
  let attempts = 0
  alice.page.on('requestfailed', () => {
    attempts += 1
  })
  await alice.page.context().setOffline(true)
  // Chromium's offline mode leaves open sockets alone. A real loss of the network would break them, as this
  // restart does.
  await world.relay.kill('SIGKILL')
  await world.relay.start()
  await until('alice has lost the connection', async () => (await alice.networkState()) === 'connecting')
  await alice.sendAll(b, ['one', 'two'])
  await until('bob is back', async () => (await bob.networkState()) === 'connected')
  await bob.call('send', a, 'three')
  // After the second failed attempt the next one is longer away than this test lasts.
  await until('alice has tried twice', () => attempts >= 2)
  const next = alice.page.waitForEvent('request')
  await alice.page.context().setOffline(false)
  await next
  await alice.connected()
  await until('bob hears both', async () => (await bob.heardTexts()).length === 2)
  expect(await bob.heardTexts()).toEqual(['one', 'two'])
  await until('alice hears his message', async () => (await alice.heardTexts()).includes('three'))
  await until('all are acknowledged', async () => (await alice.call<number>('countUnsent')) === 0)
})

test('a relay that is killed and started again loses nothing, repeats nothing and keeps the order', async () => {
  const { alice, bob, a, b } = await world.friends()
  const mine = Array.from({ length: 60 }, (_, at) => `alice ${at}`)
  const his = Array.from({ length: 60 }, (_, at) => `bob ${at}`)
  const half = [alice.sendAll(b, mine.slice(0, 30)), bob.sendAll(a, his.slice(0, 30))]
  await until('some have arrived', async () => (await bob.heardTexts()).length > 5)
  await world.relay.kill('SIGKILL')
  await Promise.all(half)
  await Promise.all([alice.sendAll(b, mine.slice(30)), bob.sendAll(a, his.slice(30))])
  await world.relay.start()
  await bob.hears(mine.length)
  await alice.hears(his.length)
  await Promise.all([alice.call('markRead', b), bob.call('markRead', a)])
  const read = (line: string): boolean => line.startsWith('them: ') || line.endsWith('[read]')
  await until('alice sees all read', async () => (await alice.transcript(b)).every(read))
  await until('bob sees all read', async () => (await bob.transcript(a)).every(read))
  expect(await bob.heardTexts()).toEqual(mine)
  expect(await alice.heardTexts()).toEqual(his)
  const own = (await alice.transcript(b)).filter((line) => line.startsWith('me: '))
  expect(own).toEqual(mine.map((text) => `me: ${text} [read]`))
  expect([await alice.call('countUnsent'), await bob.call('countUnsent')]).toEqual([0, 0])
})

test('a browser that is closed and started again is still the same person', async () => {
  const profile = await mkdtemp(join(tmpdir(), 'sotto-profile-'))
  try {
    const bob = await world.enter('bob')
    const b = await bob.alias()
    const before = await world.keep(await startChromiumWith(profile))
    const alice = await world.open(before)
    await alice.register('alice')
    await alice.befriend(bob)
    const a = await alice.alias()
    await alice.call('send', b, 'before')
    await until('bob hears it', async () => (await bob.heardTexts()).includes('before'))
    await until(
      'the message is delivered',
      async () => (await alice.transcript(b)).join() === 'me: before [delivered]',
    )
    await before.close()
    await bob.call('send', a, 'while you were away')

    const after = await world.keep(await startChromiumWith(profile))
    const again = await world.open(after)
    expect(await again.alias()).toBe(a)
    const all = ['me: before [delivered]', 'them: while you were away']
    await until('every message is there once', async () => Bun.deepEquals(await again.transcript(b), all))
    await again.call('send', b, 'after')
    await until('bob hears it', async () => (await bob.heardTexts()).includes('after'))
    // Otherwise Chromium writes into the folder while the folder is removed.
    await after.close()
  } finally {
    await rm(profile, { recursive: true, force: true })
  }
})
