// What the stories of a conversation share: two devices that talk, and what they show and tell.
import { expect } from 'bun:test'
import { accountsOfTheModel } from './accounts.ts'
import type { Device } from './device.ts'
import { openPair, type Pair } from './pair.ts'

export const MINUTE_MS = 60_000
export const DAY_MS = 24 * 60 * MINUTE_MS

let accounts: ReturnType<typeof accountsOfTheModel> | undefined

/** Two devices of two accounts, not connected yet. */
export async function newPair(): Promise<Pair> {
  accounts ??= accountsOfTheModel()
  return openPair(await accounts)
}

/** Two devices that are connected and have begun. */
export async function talk(): Promise<Pair> {
  const pair = await newPair()
  await pair.a.connect()
  await pair.b.connect()
  await say(pair, pair.a, 'hello')
  expect(textsOf(pair.b)).toEqual(['hello'])
  return pair
}

/** Writes a text, whose id follows from it, and carries it to the other device. */
export async function say(pair: Pair, from: Device, text: string): Promise<void> {
  from.write(`${from.name}-${text.replaceAll(' ', '-')}`, text)
  await pair.settle(pair.a, pair.b, from)
}

/** The texts that a device shows. */
export function textsOf({ store }: Device): string[] {
  return [...store.history.values()].flatMap(({ body, isUnreadable }) =>
    isUnreadable ? ['(unreadable)'] : [body],
  )
}

/** What a device has told its user. */
export function toldTo({ notices }: Device): string[] {
  return notices.map(({ tell }) => tell)
}
