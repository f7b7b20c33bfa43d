// The heap of the page during an hour of use, without the pauses of the hour.
import type { Figure } from './figures.ts'
import type { FilledProfile, MeasuredBrowser } from './measured-browser.ts'
import type { Sizes } from './sizes.ts'

/** What the user does in each minute: conversations that are opened, messages that come and that are sent. */
const OPENED = 3
const RECEIVED = 5
const SENT = 2
const PLACES = ['#/contacts', '#/channels', '#/settings', '#/calls', '#/search']

/** Measures the heap over so many simulated minutes. */
export async function measureHeap(
  profile: FilledProfile,
  { rounds, minutes }: Sizes,
): Promise<readonly Figure[]> {
  const ends: number[] = []
  const slopes: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const browser = await profile.open()
    const sizes: number[] = []
    for (let minute = 0; minute < minutes; minute += 1) {
      await useForAMinute(browser, profile, `${round}.${minute}`, minute)
      sizes.push((await browser.heapBytes()) / 1e6)
    }
    await browser.close()
    ends.push(sizes.at(-1) ?? Number.NaN)
    slopes.push(slopeOf(sizes.slice(Math.floor(sizes.length / 2))) * 60)
  }
  return [
    { name: `heap after ${minutes} minutes of use`, unit: 'MB', target: 60, runs: ends.map(runOf) },
    { name: 'its slope over the second half', unit: 'MB/h', target: 1, runs: slopes.map(runOf) },
  ]
}

async function useForAMinute(
  browser: MeasuredBrowser,
  { account: { friend, alias, conversations } }: FilledProfile,
  name: string,
  minute: number,
): Promise<void> {
  const { person } = browser
  for (let index = 0; index < OPENED; index += 1) {
    await person.goesTo(`#/chats/${conversations[(minute * OPENED + index) % conversations.length]}`)
    await person.field.waitFor()
  }
  await person.goesTo(`#/chats/${conversations[0]}`)
  for (let index = 0; index < RECEIVED; index += 1)
    await friend.client.send(alias, `Received ${name}.${index}`)
  await person.sees(`Received ${name}.${RECEIVED - 1}`)
  for (let index = 0; index < SENT; index += 1) await person.writes(`Sent ${name}.${index}`)
  await person.sees(`Sent ${name}.${SENT - 1}`, { mark: 'delivered' })
  await person.goesTo(PLACES[minute % PLACES.length] ?? '#/contacts')
}

/** The slope of the line through values at equal distances, by least squares. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const over = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0)
  const under = values.reduce((sum, _value, at) => sum + (at - middle) ** 2, 0)
  return over / under
}

function runOf(value: number): { readonly value: number } {
  return { value }
}
