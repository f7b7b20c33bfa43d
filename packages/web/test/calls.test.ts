// Stories of people who call each other, through a real TURN server, with Chromium's fake camera.
import { expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { Caller } from '../../client/test/call-people.ts'
import { Person, until } from '../../client/test/people.ts'
import type { PeopleWorld } from '../../client/test/people-world.ts'
import type { AppPerson } from './app-person.ts'
import { Barriers } from './axe.ts'
import { callOf, liveTracks, plays, recordTracks } from './call-window.ts'
import { callWorld } from './call-world.ts'
import { isTold } from './told.ts'

const world = callWorld()

test('friends have a video call, do something else meanwhile, and both logs show it', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls } = alice.t
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.videoCall)
  await alice.reads(calls.calling)
  await bob.reads(calls.incomingVideo)
  expect(await bob.page.title()).toBe(calls.isCalling('Alice'))
  await bob.presses(calls.answerVideo)
  for (const [one, other] of [
    [alice, 'Bob'],
    [bob, 'Alice'],
  ] as const) {
    await plays(callOf(one).getByLabel(other, { exact: true }))
    await plays(callOf(one).getByLabel(calls.ownPicture))
  }
  expect(await bob.page.title()).toBe('Sotto')

  await bob.presses(calls.mute)
  await alice.reads(calls.theyAreMuted('Bob'))
  await bob.presses(calls.camera)
  await callOf(alice).getByLabel('Bob', { exact: true }).waitFor({ state: 'hidden' })
  expect(await callOf(bob).getByLabel(calls.ownPicture).count()).toBe(0)

  await alice.page.keyboard.press('Escape')
  await alice.writes('Can you hear me?')
  await alice.presses(calls.makeLarge)
  await alice.presses(calls.hangUp)
  await isTold(bob, calls.ends.theyHungUp('Alice'))
  await callOf(bob).waitFor({ state: 'detached' })
  await alice.goesTo('#/calls')
  await bob.goesTo('#/calls')
  await logRow(alice, 'Bob').filter({ hasText: calls.outgoingCall }).waitFor()
  await logRow(bob, 'Alice').filter({ hasText: calls.incomingCall }).click()
  await bob.reads(new RegExp(calls.outcomes.theyHungUp))
  await bob.presses(calls.remove)
  await bob.reads(calls.unknown)
})

test('a call that is declined or missed is told, and called back from the log', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls } = alice.t
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.voiceCall)
  await bob.presses(calls.reject)
  await isTold(alice, calls.ends.declined('Bob'))

  await alice.presses(alice.t.conversation.voiceCall)
  await bob.reads(calls.incomingCall)
  await alice.presses(calls.hangUp)
  await isTold(bob, calls.ends.missed('Alice'))
  await bob.goesTo('#/calls')
  await logRow(bob, 'Alice').filter({ hasText: calls.outcomes.missed }).waitFor()
  await bob.page
    .getByRole('button', { name: calls.callBack('Alice') })
    .first()
    .click()
  await alice.presses(calls.answer)
  await callOf(alice)
    .getByText(/^\d+:\d\d$/)
    .waitFor()
})

test('no state of a call has a barrier, in both languages and themes', async () => {
  const phrases = await world.phrasesOfFriends('Alice', 'Bob')
  const [alice, bob] = await Promise.all([
    world.recovered('Alice', phrases[0] ?? ''),
    world.recovered('Bob', phrases[1] ?? '', { language: 'ar' }),
  ])
  const { calls } = alice.t
  for (const { page } of [alice, bob]) await page.evaluate(ringWithoutEnd)
  const barriers = new Barriers()
  const look = (person: AppPerson, name: string): Promise<void> => barriers.lookAt(person, name)
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.videoCall)
  await alice.reads(calls.calling)
  await look(alice, 'calling')
  await bob.reads(bob.t.calls.incomingVideo)
  await look(bob, 'ringing')
  await bob.presses(bob.t.calls.answer)
  await callOf(alice)
    .getByText(/^\d+:\d\d$/)
    .waitFor()
  await look(alice, 'talking')
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
  await look(bob, 'seen')
  await alice.presses(calls.devices)
  await look(alice, 'devices')
  await alice.page.keyboard.press('Escape')
  await bob.page.keyboard.press('Escape')
  await look(bob, 'small')
  await alice.presses(calls.hangUp)
  await bob.goesTo('#/calls')
  await logRow(bob, 'Alice').waitFor()
  await look(bob, 'log')
  await logRow(bob, 'Alice').click()
  await bob.reads(bob.t.calls.removeAll)
  await look(bob, 'log-open')
  expect(barriers.found).toEqual([])
})

test('devices are used during a call only, and a refusal by the browser is explained', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls } = alice.t
  for (const { page } of [alice, bob]) await recordTracks(page)
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.videoCall)
  await bob.presses(calls.answerVideo)
  await plays(callOf(alice).getByLabel('Bob', { exact: true }))
  expect(await liveTracks(alice.page)).toEqual(['audio', 'video'])
  await alice.presses(calls.camera)
  await callOf(alice).getByLabel(calls.ownPicture).waitFor({ state: 'detached' })
  expect(await liveTracks(alice.page)).toEqual(['audio'])
  await bob.presses(calls.hangUp)
  await isTold(alice, calls.ends.theyHungUp('Bob'))
  for (const { page } of [alice, bob]) expect(await liveTracks(page)).toEqual([])

  await alice.page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
  })
  await alice.presses(alice.t.conversation.voiceCall)
  await isTold(alice, calls.problems.NotAllowedError ?? '')
  expect(await callOf(alice).count()).toBe(0)
})

test('what is told during a call covers none of its controls, on small phones too', async () => {
  const [first = '', second = ''] = await world.phrasesOfKnown('Alice', 'Bob')
  const [alice, bob] = await Promise.all([
    world.recovered('Alice', first, { screen: 'phone' }),
    world.recovered('Bob', second, { screen: 'phone', language: 'ar' }),
  ])
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.voiceCall)
  await bob.presses(bob.t.calls.answer)
  for (const { page, t } of [alice, bob]) {
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
    })
    const camera = page.getByRole('button', { name: t.calls.camera, pressed: false })
    await camera.click()
    await page.locator('dialog .notice').waitFor()
    for (const [width, height] of [
      [390, 800],
      [320, 568],
    ] as const) {
      await page.setViewportSize({ width, height })
      expect(await page.evaluate(coveredControls)).toEqual([])
    }
  }
  await alice.presses(alice.t.calls.hangUp)
  await isTold(bob, bob.t.calls.ends.theyHungUp('Alice'))
})

test('who calls without encryption is told, and it does not ring', async () => {
  const [phrase = ''] = await world.phrasesOfFriends('Alice')
  const alice = await world.recovered('Alice', phrase)
  const join: PeopleWorld['join'] = (name, options) => Person.join(name, world.relay.url, options)
  const mallory = await Caller.join({ join }, 'Mallory')
  await mallory.person.client.requestFriend(await alice.ownAlias())
  await alice.follows(alice.t.common.contacts)
  await alice.presses(alice.t.contacts.accept)
  await alice.follows(alice.t.common.chats)
  await alice.conversationWith('Mallory').waitFor()
  const friend = await until(
    'Mallory knows of it',
    async () => (await mallory.person.client.conversations())[0],
  )
  const sdp = { sdp: 'sdp of another app', sdp_type: 'offer' }
  await mallory.sendSignal('call_offer', { alias: friend.contactId }, 'unencrypted', sdp)
  await isTold(alice, alice.t.calls.ends.unencryptedCaller('Mallory'))
  expect(await callOf(alice).count()).toBe(0)
  await alice.goesTo('#/calls')
  await logRow(alice, 'Mallory').filter({ hasText: alice.t.calls.outcomes.unencrypted }).waitFor()
  await mallory.person.client.close()
})

test('a call that rings takes no focus from what is typed', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls } = alice.t
  await bob.opens('Alice')
  await bob.field.click()
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.voiceCall)
  await bob.reads(calls.incomingCall)
  await bob.page.keyboard.type('go on')
  expect(await bob.field.inputValue()).toBe('go on')
})

function logRow(person: AppPerson, name: string): Locator {
  return person.page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByRole('link')
    .first()
}

/** From now on the calls of this page ring until somebody ends them: a busy machine looks long at them. */
function ringWithoutEnd(): void {
  const { setTimeout } = globalThis
  const later = (run: () => void, ms?: number): unknown => setTimeout(run, ms === 45_000 ? 600_000 : ms)
  Object.assign(globalThis, { setTimeout: later })
}

/** The names of the controls in whose middle something else is, or nothing because it is off the screen. */
function coveredControls(): readonly string[] {
  const controls = [...document.querySelectorAll('.call-controls button, .call-header button')]
  if (controls.length < 5) throw new Error('these are not all controls')
  return controls.flatMap((control) => {
    const { x, y, width, height } = control.getBoundingClientRect()
    const found = document.elementFromPoint(x + width / 2, y + height / 2)
    return control.contains(found) ? [] : [control.textContent || (control.ariaLabel ?? '')]
  })
}
