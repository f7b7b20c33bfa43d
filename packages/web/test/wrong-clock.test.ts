// The clock of a device is wrong by a day: the app says so where it matters, and goes on.
import { expect, test } from 'bun:test'
import { callOf } from './call-window.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const world = new AppWorld()

test('a clock that is wrong by a day is told when a call cannot ring, and messages go on', async () => {
  const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const alice = await world.recovered('Alice', phrase, { aheadMs: DAY_MS })
  const bob = await world.recovered('Bob', bobsPhrase)
  const { calls } = alice.t
  await alice.opens('Bob')
  await bob.opens('Alice')
  await bob.presses(alice.t.conversation.voiceCall)
  await isTold(alice, calls.wrongClock)
  expect(await callOf(alice).count()).toBe(0)
  await bob.presses(calls.hangUp)
  await callOf(bob).waitFor({ state: 'detached' })
  await alice.presses(alice.t.conversation.voiceCall)
  await isTold(bob, calls.wrongClock)
  await alice.presses(calls.hangUp)
  await callOf(alice).waitFor({ state: 'detached' })
  await alice.writes('My clock is wrong')
  await alice.sees('My clock is wrong', { mark: 'read' })
  await bob.sees('My clock is wrong')
})
