// A story of two people who look at how good their connection is.
import { expect, test } from 'bun:test'
import { Barriers } from './axe.ts'
import { callOf, plays } from './call-window.ts'
import { callWorld } from './call-world.ts'
import { isTold } from './told.ts'

const world = callWorld()

test('during a call a word says how good the connection is, and the figures are there on request', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.videoCall)
  await bob.presses(bob.t.calls.answerVideo)
  await plays(callOf(alice).getByLabel('Bob', { exact: true }))
  // Which of the three it is depends on how busy this machine is.
  const meter = callOf(alice).getByText(new RegExp(Object.values(calls.quality).join('|')))
  await meter.click()
  const details = calls.qualityDetails
  for (const name of [details.way, details.roundTrip, details.loss, details.codecs])
    await callOf(alice).getByText(name, { exact: true }).waitFor()
  await callOf(alice)
    .getByText(/audio\/opus, video\/VP[89]/)
    .waitFor()
  const barriers = new Barriers()
  await barriers.lookAt(alice, 'details')
  expect(barriers.found).toEqual([])
  await alice.presses(calls.hangUp)
  await isTold(bob, calls.ends.theyHungUp('Alice'))
})
