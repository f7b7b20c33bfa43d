// The course of a conversation next to a connection: what is told late, and frames of which one fails.
import { expect, test } from 'bun:test'
import { openStates, StillClock } from '../../test/stores/secret-states-world.ts'
import { accountsOfTheModel } from '../../test/version-3/accounts.ts'
import { openPair } from '../../test/version-3/pair.ts'
import type { Step } from '../secrecy/version-3/version-3.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import { type CourseHost, RunningCourse, type Synced, type TimedFrame } from './running-course.ts'

/** A course in a new store, and the steps that were stored. */
async function newCourse(host: Partial<CourseHost>): Promise<{ course: RunningCourse; steps: Step[] }> {
  const steps: Step[] = []
  const pair = await openPair(await accountsOfTheModel())
  const course = new RunningCourse({
    states: await openStates(new MemoryStore()),
    conversationId: 'conversation',
    clock: new StillClock(),
    surroundings: () => pair.a.surroundings(),
    record: async () => ({ changes: [], after: () => {} }),
    readsStore: () => false,
    usedSecrets: async () => [],
    afterStep: (made) => steps.push(made),
    onLaterVersion: () => {},
    synced: () => undefined,
    ...host,
  })
  return { course, steps }
}

test('the end of a connection that is told after the next sync_end does not end the next one', async () => {
  let synced: Synced | undefined = { isDoubtful: false }
  const { course, steps } = await newCourse({ synced: () => synced })
  await course.give({ type: 'tick' })
  synced = { isDoubtful: false }
  // Both wait while the next connection begins.
  const given = [course.give({ type: 'tick' }), course.give({ type: 'down' })]
  await Promise.all(given)
  expect(steps.at(-1)?.course.connection.isSynced).toBe(false)
  await course.give({ type: 'tick' })
  expect(steps.at(-1)?.course.connection.isSynced).toBe(true)
})

test('frames before one that fails are stored, and it is given again', async () => {
  let records = 0
  const { course, steps } = await newCourse({
    record: async () => {
      records += 1
      if (records === 3) throw new Error('the store cannot be read')
      return { changes: [], after: () => {} }
    },
  })
  const frameOf = (seq: number): TimedFrame => {
    const payload = Uint8Array.of(seq)
    return {
      event: { type: 'frame', id: `m${seq}`, seq, epoch: 0, isHandshake: false, payload, isKnown: true },
      at: seq,
    }
  }
  expect(await course.giveFrames([1, 2, 3, 4].map(frameOf))).toHaveLength(2)
  expect(steps).toHaveLength(2)
  expect(await course.giveFrames([3, 4].map(frameOf))).toHaveLength(2)
})
