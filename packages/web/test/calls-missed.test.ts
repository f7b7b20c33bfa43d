// Stories of calls that nobody answers: how they are told, and when they are many.
import { expect, test } from 'bun:test'
import { Caller } from '../../client/test/call-people.ts'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { SCREENS } from './browser-person.ts'
import { callOf } from './call-window.ts'
import { callWorld } from './call-world.ts'
import { longestTask } from './longest-task.ts'
import { FREEZE_MS } from './victim.ts'

const world = callWorld({ RATE_LIMITS: 'off' })

/**
 * Somebody with the app, and a friend with another program who calls. A message has come, so the app is
 * connected: of a call that ends before that, the relay tells nothing.
 */
async function withCaller(): Promise<readonly [AppPerson, Caller, string]> {
  const account = await Person.join('Alice', world.relay.url)
  const bob = await Caller.join({ join: (name) => Person.join(name, world.relay.url) }, 'Bob')
  await account.befriend(bob.person)
  const phrase = await account.client.recoveryPhrase()
  await account.client.close()
  const alice = await world.recovered('Alice', phrase)
  await bob.person.client.send(account.alias, 'Please call me')
  await alice.seesInList('Bob', 'Please call me')
  return [alice, bob, account.alias]
}

/** Calls, and hangs up before anybody answers. */
async function callsInVain(caller: Caller, alias: string): Promise<void> {
  await caller.calls.call(alias)
  caller.calls.hangUp()
  await caller.is('hangup')
}

test('missed calls are told in the bar, the list and the conversation, until the log is seen', async () => {
  const [alice, bob, alias] = await withCaller()
  const { common, chats } = alice.t
  const bar = alice.page
    .getByRole('navigation')
    .getByRole('link')
    .filter({ hasText: common.missed(2) })
  const inConversation = alice.page.getByRole('link', { name: new RegExp(`^${chats.missedCall} ·`) })
  await callsInVain(bob, alias)
  await alice.seesInList('Bob', chats.missedCall)
  await callsInVain(bob, alias)
  await bar.waitFor()
  await alice.reloads()
  await bar.waitFor()
  await alice.opens('Bob')
  await inConversation.click()
  await bar.waitFor({ state: 'detached' })
  // On a wide screen the navigation leads back already.
  const back = alice.page.getByRole('link', { name: common.back })
  expect(await back.count()).toBe(0)
  await alice.page.setViewportSize(SCREENS.phone)
  await alice.goesTo('#/calls')
  await back.waitFor()
  await alice.page.setViewportSize(SCREENS.desktop)
  await alice.goesTo('#/chats')
  await alice.seesInList('Bob', 'Please call me')
  await alice.opens('Bob')
  expect(await inConversation.count()).toBe(0)
  await bob.person.client.close()
})

test('a contact who calls again and again freezes nothing, and does not fill the screen', async () => {
  const [alice, mallory, alias] = await withCaller()
  const missed = (count: number): Promise<void> =>
    alice.page.getByRole('navigation').getByText(alice.t.common.missed(count)).waitFor({ state: 'attached' })
  // Until the app has loaded calls, the client keeps the latest 64 frames of them.
  await callsInVain(mallory, alias)
  await missed(1)
  const longestMs = await longestTask(alice.page, async () => {
    for (let count = 0; count < 59; count++) await callsInVain(mallory, alias)
    await missed(60)
    await callOf(alice).waitFor({ state: 'detached' })
  })
  expect(longestMs).toBeLessThan(FREEZE_MS)
  expect(await alice.page.locator('.notice').count()).toBeLessThanOrEqual(3)
  await mallory.person.client.close()
})

test('the app does not lock by itself during a call, and does after it', async () => {
  const passphrase = 'seven quiet boats'
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.setsPassphrase(passphrase)
  await alice.locksAfter(1, passphrase)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.voiceCall)
  await bob.presses(bob.t.calls.answer)
  const duration = callOf(alice).getByText(/^\d+:\d\d$/)
  await duration.waitFor()
  await alice.context.clock.install()
  // The timers that began before have the real time: a touch makes one that has this.
  await alice.page.mouse.move(5, 5)
  await alice.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await alice.context.clock.fastForward(90_000)
  await alice.presses(alice.t.calls.hangUp)
  await callOf(alice).waitFor({ state: 'detached' })
  await alice.writes('still open')
  await alice.context.clock.fastForward(61_000)
  await alice.page.getByRole('heading', { name: alice.t.lock.title }).waitFor()
})
