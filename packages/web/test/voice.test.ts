// Stories of voice messages, with Chromium's own microphone, which beeps once a second.
import { expect, test } from 'bun:test'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** Records until the row says so many seconds. */
async function records(person: AppPerson, seconds: number): Promise<void> {
  await person.presses(person.t.conversation.record)
  await recordsUntil(person, seconds)
}

async function recordsUntil(person: AppPerson, seconds: number): Promise<void> {
  await person.page.waitForFunction((wanted) => {
    const [, shown] = /0:(\d\d)/.exec(document.querySelector('.recorder')?.textContent ?? '') ?? []
    return Number(shown) >= wanted
  }, seconds)
}

/** Notes from now on which voice messages play: a letter for each, `P` if it does. */
async function watches(person: AppPerson): Promise<void> {
  await person.page.evaluate((pause) => {
    const notes: string[] = []
    Reflect.set(globalThis, 'notes', notes)
    new MutationObserver(() => {
      const buttons = [...document.querySelectorAll('.voice-play')]
      const state = buttons.map((each) => (each.getAttribute('aria-label') === pause ? 'P' : '-')).join('')
      if (notes.at(-1) !== state) notes.push(state)
    }).observe(document.body, { subtree: true, childList: true, attributes: true })
  }, person.t.media.pauseVoice)
}

/** Waits until the voice messages were in this state, however short, and returns all states. */
async function notes(person: AppPerson, state: string): Promise<readonly string[]> {
  const handle = await person.page.waitForFunction((wanted) => {
    const all: unknown = Reflect.get(globalThis, 'notes')
    return Array.isArray(all) && all.includes(wanted) && all.map(String)
  }, state)
  return (await handle.jsonValue()) || []
}

test('a voice message is recorded, paused, sent, and played at another speed', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  await records(alice, 1)
  await alice.page.keyboard.press('Escape')
  await alice.presses(alice.t.media.resumeRecording)
  await recordsUntil(alice, 2)
  await alice.presses(alice.t.media.sendVoice)

  const play = bob.page.getByRole('button', { name: bob.t.media.playVoice })
  await play.waitFor()
  // The beeps are of different loudness.
  const heights = await bob.page.locator('.waveform rect').evaluateAll((all) => {
    return new Set(all.map((each) => each.getAttribute('height'))).size
  })
  expect(heights).toBeGreaterThan(2)
  const position = bob.page.getByRole('slider', { name: bob.t.media.position })
  const lengthMs = Number(await position.getAttribute('max'))
  expect(lengthMs).toBeGreaterThan(1400)
  const speed = bob.page.getByRole('button', { name: bob.t.media.speed('1') })
  await speed.click()
  await bob.page.getByRole('button', { name: bob.t.media.speed('1.5') }).waitFor()
  await watches(bob)
  await play.click()
  await notes(bob, 'P')
  // It is over, and would begin again.
  await play.waitFor()
  expect(await position.inputValue()).toBe('0')
})

test('a voice message is played from where the keyboard goes, and one at a time', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  for (const number of [1, 2]) {
    await records(alice, 2)
    await alice.presses(alice.t.media.sendVoice)
    await alice.page
      .getByRole('slider')
      .nth(number - 1)
      .waitFor()
  }
  const [first, second] = [0, 1].map((at) => alice.page.getByRole('slider').nth(at))
  if (!first || !second) throw new Error('there are two')
  await second.focus()
  await alice.page.keyboard.press('ArrowRight')
  await until('it is further on', async () => Number(await second.inputValue()) >= 1000)
  expect(await first.inputValue()).toBe('0')
  const plays = alice.page.getByRole('button', { name: alice.t.media.playVoice })
  await watches(alice)
  await plays.first().click()
  await notes(alice, 'P-')
  await plays.last().click()
  expect(await notes(alice, '-P')).not.toContain('PP')
})

test('a recording that is deleted is not sent, and the microphone is given back', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.page.evaluate(() => {
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      const stream = await ask(wanted)
      Reflect.set(globalThis, 'lastStream', stream)
      return stream
    }
  })
  await records(alice, 1)
  await alice.presses(alice.t.media.discard)
  await alice.page.getByRole('button', { name: alice.t.conversation.record }).waitFor()
  const states = await alice.page.evaluate(() => {
    const stream: unknown = Reflect.get(globalThis, 'lastStream')
    return stream instanceof MediaStream ? stream.getTracks().map(({ readyState }) => readyState) : []
  })
  expect(states).toEqual(['ended'])
  expect(await alice.page.getByRole('slider').count()).toBe(0)
})
