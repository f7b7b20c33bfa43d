// Stories of calls and what else people have open: another tab, another device, a page that has just come.
import { expect, test } from 'bun:test'
import { callOf, liveTracks, plays, recordTracks } from './call-window.ts'
import { callWorld } from './call-world.ts'
import { isTold } from './told.ts'

const world = callWorld()

test('a voice call becomes one with video, and another tab tells of it and ends it', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls } = alice.t
  const first = bob.page
  await bob.comes()
  const second = bob.page
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.voiceCall)
  bob.looksAt(first)
  await bob.reads(calls.incomingCall)
  bob.looksAt(second)
  await bob.presses(calls.answer)
  await callOf(alice).getByRole('button', { name: calls.camera, pressed: false }).click()
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
  bob.looksAt(first)
  await bob.reads(new RegExp(calls.elsewhere))
  await bob.presses(calls.hangUp)
  await isTold(alice, calls.ends.theyHungUp('Bob'))
  bob.looksAt(second)
  await callOf(bob).waitFor({ state: 'detached' })
})

test('a device is replaced during a call: both sides are told, and no camera stays on', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls, common } = alice.t
  for (const { page } of [alice, bob]) await recordTracks(page)
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.videoCall)
  await bob.presses(calls.answerVideo)
  await plays(callOf(alice).getByLabel('Bob', { exact: true }))
  expect(await liveTracks(bob.page)).toEqual(['audio', 'video'])

  const [, phrase = ''] = await world.phrasesOfKnown('Alice', 'Bob')
  const elsewhere = await world.recovered('Bob', phrase)
  await isTold(bob, calls.ends.replaced)
  await bob.reads(common.replacedTitle)
  await isTold(alice, calls.ends.lost('Bob'))
  for (const { page } of [alice, bob]) expect(await liveTracks(page)).toEqual([])
  for (const person of [alice, bob]) await callOf(person).waitFor({ state: 'detached' })

  // The next call rings on the other device alone.
  await alice.presses(alice.t.conversation.voiceCall)
  await elsewhere.reads(calls.incomingCall)
  expect(await callOf(bob).count()).toBe(0)
  await elsewhere.presses(calls.reject)
  await isTold(alice, calls.ends.declined('Bob'))
  await bob.goesTo('#/calls')
  await bob.follows('Alice')
  await bob.reads(new RegExp(calls.outcomes.replaced))
})

test('somebody who calls while the app still connects need not press again', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls } = alice.t
  // From here on it is stored: it would come by the connection.
  await alice.conversationWith('Bob').waitFor()
  const released = Promise.withResolvers<void>()
  await alice.page.route('**/ws/ticket*', async (route) => {
    await released.promise
    await route.continue()
  })
  await alice.reloads()
  await alice.page.evaluate(waitForConnectionsWithoutEnd)
  // What calls need is loaded.
  await alice.goesTo('#/calls')
  await alice.reads(calls.empty)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.voiceCall)
  released.resolve()
  await bob.presses(calls.reject)
  await isTold(alice, calls.ends.declined('Bob'))
})

/** From now on a call of this page waits for its connection until that is there, also on a busy machine. */
function waitForConnectionsWithoutEnd(): void {
  const { setTimeout } = globalThis
  const later = (run: () => void, ms?: number): unknown => setTimeout(run, ms === 5000 ? 600_000 : ms)
  Object.assign(globalThis, { setTimeout: later })
}
