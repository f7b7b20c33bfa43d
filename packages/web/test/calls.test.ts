// Stories of people who call each other, through a real TURN server, with Chromium's fake camera.
import { afterAll, expect, test } from 'bun:test'
import { startCoturn } from '@sotto/relay/testing/coturn'
import type { Locator } from 'playwright-core'
import { Caller } from '../../client/test/call-people.ts'
import { Person } from '../../client/test/people.ts'
import type { PeopleWorld } from '../../client/test/people-world.ts'
import type { AppPerson } from './app-person.ts'
import { barriersIn } from './axe.ts'
import { AppWorld } from './world.ts'

const SECRET = 'a secret of 32 characters or so!'
const coturn = await startCoturn(SECRET)
const world = new AppWorld({ TURN_URLS: `turn:127.0.0.1:${coturn.port}`, TURN_SECRET: SECRET })
afterAll(() => coturn.stop())

test('friends have a video call, do something else meanwhile, and both logs show it', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  await alice.opens('Bob')
  await alice.presses(calls.videoCall)
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
  await bob.reads(calls.ends.theyHungUp('Alice'))
  await callOf(bob).waitFor({ state: 'detached' })
  await alice.goesTo('#/calls')
  await bob.goesTo('#/calls')
  await logRow(alice, 'Bob').filter({ hasText: calls.outgoingCall }).waitFor()
  await logRow(bob, 'Alice').filter({ hasText: calls.incomingCall }).click()
  await bob.reads(new RegExp(calls.outcomes.theyHungUp))
  await bob.presses(calls.remove)
  await bob.reads(calls.unknown)
})

test('a voice call becomes one with video, and another tab tells of it and ends it', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  const first = bob.page
  await bob.comes()
  const second = bob.page
  await alice.opens('Bob')
  await alice.presses(calls.voiceCall)
  bob.looksAt(first)
  await bob.reads(calls.incomingCall)
  bob.looksAt(second)
  await bob.presses(calls.answer)
  await callOf(alice).getByRole('button', { name: calls.camera, pressed: false }).click()
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
  bob.looksAt(first)
  await bob.reads(new RegExp(calls.elsewhere))
  await bob.presses(calls.hangUp)
  await alice.reads(calls.ends.theyHungUp('Bob'))
  bob.looksAt(second)
  await callOf(bob).waitFor({ state: 'detached' })
})

test('a call that is declined or missed is told, and called back from the log', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  await alice.opens('Bob')
  await alice.presses(calls.voiceCall)
  await bob.presses(calls.reject)
  await alice.reads(calls.ends.declined('Bob'))

  await alice.presses(calls.voiceCall)
  await bob.reads(calls.incomingCall)
  await alice.presses(calls.hangUp)
  await bob.reads(calls.ends.missed('Alice'))
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

test('no state of a call has a barrier, in both themes', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  const found: string[] = []
  const look = async (person: AppPerson): Promise<void> => {
    for (const theme of ['light', 'dark'] as const) {
      await person.page.emulateMedia({ colorScheme: theme })
      await person.settles()
      found.push(...(await barriersIn(person.page)).map((barrier) => `${theme}: ${barrier}`))
    }
  }
  await alice.opens('Bob')
  await alice.presses(calls.videoCall)
  await alice.reads(calls.calling)
  await look(alice)
  await bob.reads(calls.incomingVideo)
  await look(bob)
  await bob.presses(calls.answer)
  await callOf(alice)
    .getByText(/^\d+:\d\d$/)
    .waitFor()
  await look(alice)
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
  await look(bob)
  await bob.page.keyboard.press('Escape')
  await look(bob)
  await alice.presses(calls.hangUp)
  await bob.goesTo('#/calls')
  await logRow(bob, 'Alice').waitFor()
  await look(bob)
  await logRow(bob, 'Alice').click()
  await bob.reads(calls.removeAll)
  await look(bob)
  expect(found).toEqual([])
})

test('devices are used during a call only, and a refusal by the browser is explained', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  for (const { page } of [alice, bob]) await page.evaluate(recordTracks)
  await alice.opens('Bob')
  await alice.presses(calls.videoCall)
  await bob.presses(calls.answerVideo)
  await plays(callOf(alice).getByLabel('Bob', { exact: true }))
  expect(await alice.page.evaluate(() => liveTracks())).toEqual(['audio', 'video'])
  await alice.presses(calls.camera)
  await callOf(alice).getByLabel(calls.ownPicture).waitFor({ state: 'detached' })
  expect(await alice.page.evaluate(() => liveTracks())).toEqual(['audio'])
  await bob.presses(calls.hangUp)
  await alice.reads(calls.ends.theyHungUp('Bob'))
  for (const { page } of [alice, bob]) expect(await page.evaluate(() => liveTracks())).toEqual([])

  await alice.page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
  })
  await alice.presses(calls.voiceCall)
  await alice.reads(calls.problems.NotAllowedError ?? '')
  expect(await callOf(alice).count()).toBe(0)
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
  const [friend] = await mallory.person.client.conversations()
  const sdp = { sdp: 'sdp of another app', sdp_type: 'offer' }
  await mallory.sendSignal('call_offer', { alias: friend?.contactId ?? '' }, 'unencrypted', sdp)
  await alice.reads(alice.t.calls.ends.unencryptedCaller('Mallory'))
  expect(await callOf(alice).count()).toBe(0)
  await alice.goesTo('#/calls')
  await logRow(alice, 'Mallory').filter({ hasText: alice.t.calls.outcomes.unencrypted }).waitFor()
  await mallory.person.client.close()
})

test('a call that rings takes no focus from what is typed', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const { calls } = alice.t
  await bob.opens('Alice')
  await bob.field.click()
  await alice.opens('Bob')
  await alice.presses(calls.voiceCall)
  await bob.reads(calls.incomingCall)
  await bob.page.keyboard.type('go on')
  expect(await bob.field.inputValue()).toBe('go on')
})

declare global {
  /** The kinds of the tracks that the page has opened and not stopped. */
  var liveTracks: () => readonly string[]
}

function recordTracks(): void {
  const devices = navigator.mediaDevices
  const open = devices.getUserMedia.bind(devices)
  const opened: MediaStreamTrack[] = []
  devices.getUserMedia = async (constraints) => {
    const stream = await open(constraints)
    opened.push(...stream.getTracks())
    return stream
  }
  globalThis.liveTracks = () =>
    opened.flatMap(({ readyState, kind }) => (readyState === 'live' ? [kind] : [])).toSorted()
}

/** The window of the call. */
function callOf(person: AppPerson): Locator {
  return person.page.locator('dialog.call-window')
}

function logRow(person: AppPerson, name: string): Locator {
  return person.page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByRole('link')
    .first()
}

/** Waits until a picture has been drawn and time goes on in it. */
async function plays(video: Locator): Promise<void> {
  await video.waitFor()
  await video.evaluate(
    (element) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (element instanceof HTMLVideoElement && element.videoWidth > 0 && element.currentTime > 0.2)
            resolve()
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
}
