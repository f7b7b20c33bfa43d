// What a copy of a device's store opens of the recorded traffic, if its thief only listens: nothing from
// before whose keys were deleted, and nothing after the owner's own next commit.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { MlsError, open } from '@sotto/mls'
import { decodeLetter } from '../../src/secrecy/version-3/letter.ts'
import { openHandshake } from '../../src/secrecy/version-3/sides.ts'
import { decodeCourse } from '../../src/secrecy/version-3/version-3.ts'
import { accountsOfTheModel } from './accounts.ts'
import type { Device } from './device.ts'
import { openPair, type Pair } from './pair.ts'
import type { Store } from './store.ts'

setDefaultTimeout(240_000)

const DAY_MS = 24 * 60 * 60_000

interface Recorded {
  readonly epoch: number
  readonly payload: Uint8Array
  readonly isHandshake: boolean
}

/** Records what a device sends from now on. */
function record({ line }: Device, to: Recorded[]): void {
  if (!line) throw new Error('the device is not connected')
  const push = line.up.push.bind(line.up)
  line.up.push = (...frames) => {
    for (const frame of frames)
      if (frame.type === 'msg') {
        const { epoch, payload, groupInfo } = frame
        to.push({ epoch, payload, isHandshake: groupInfo !== undefined })
      }
    return push(...frames)
  }
}

async function say(pair: Pair, from: Device, text: string): Promise<void> {
  from.write(`${from.name}-${text.replaceAll(' ', '-')}`, text)
  await pair.settle(pair.a, pair.b)
}

/** The texts that a copy of a store opens, following every handshake that it can follow. */
async function opensOf({ course }: Store, traffic: readonly Recorded[], pair: Pair): Promise<string[]> {
  if (!course) throw new Error('the store has no course')
  const groups = decodeCourse(course).groups.map(({ group }) => group)
  // The store has the identity, which opens the outer encryption in both directions.
  const sides = [(await pair.a.surroundings()).sides, (await pair.b.surroundings()).sides]
  const texts: string[] = []
  for (const { epoch, payload, isHandshake } of traffic) {
    const inner = isHandshake
      ? (await Promise.all(sides.map((each) => openHandshake(each, epoch, payload)))).find((each) => each)
          ?.payload
      : payload
    expect(inner).toBeDefined()
    for (const group of [...groups]) {
      const opened = await open(group, inner ?? payload, () => true).catch((error: unknown) => {
        if (error instanceof MlsError) return undefined
        throw error
      })
      if (opened) groups.push(opened.group)
      if (opened?.kind !== 'message') continue
      texts.push(new TextDecoder().decode(decodeLetter(opened.plaintext)?.body))
    }
  }
  return texts
}

/** Two connected devices, and everything that the relay carries between them. */
async function openRecorded(): Promise<{ readonly pair: Pair; readonly traffic: readonly Recorded[] }> {
  const pair = await openPair(await accountsOfTheModel())
  const traffic: Recorded[] = []
  for (const device of [pair.a, pair.b]) {
    await device.connect()
    record(device, traffic)
  }
  return { pair, traffic }
}

test('a stolen copy of a store opens nothing from before, and nothing after its owner’s next commit', async () => {
  const { pair, traffic } = await openRecorded()
  const { a, b } = pair
  await say(pair, a, 'before')
  await say(pair, b, 'an answer before')
  const copy = b.store
  await say(pair, a, 'while the copy is fresh')
  await say(pair, b, 'as secret as that')
  // A device commits before its first message in an epoch that is a day old.
  await pair.pass(2 * DAY_MS, b)
  await say(pair, b, 'with a commit of the owner')
  await say(pair, a, 'after it')
  await pair.pass(2 * DAY_MS, a, b)
  await say(pair, a, 'with a commit of the contact')
  await say(pair, b, 'long after it')
  const opened = await opensOf(copy, traffic, pair)
  // A thief who listens gets what comes until then: the attempt is a real one.
  expect(opened).toContain('while the copy is fresh')
  for (const text of ['before', 'an answer before']) expect(opened).not.toContain(text)
  for (const text of [
    'with a commit of the owner',
    'after it',
    'with a commit of the contact',
    'long after it',
  ])
    expect(opened).not.toContain(text)
})

test('without a commit of the owner, a stolen copy goes on opening', async () => {
  const { pair, traffic } = await openRecorded()
  const { a, b } = pair
  await say(pair, a, 'before')
  await say(pair, b, 'an answer')
  const copy = b.store
  await pair.pass(2 * DAY_MS, a)
  await say(pair, a, 'with a commit of the contact alone')
  expect(await opensOf(copy, traffic, pair)).toContain('with a commit of the contact alone')
})
