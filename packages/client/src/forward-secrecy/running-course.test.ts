// The course of a conversation next to a connection: what is told late, and frames of which one fails.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { openStates, StillClock } from '../../test/stores/secret-states-world.ts'
import { accountsOfTheModel } from '../../test/version-3/accounts.ts'
import { openPair } from '../../test/version-3/pair.ts'
import type { Step } from '../secrecy/version-3/version-3.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import type { StoreChange } from '../stores/stores.ts'
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
    peerSpeaks: () => false,
    synced: () => undefined,
    ...host,
  })
  return { course, steps }
}

/** A frame that is known already, so that any course handles it. */
function frameOf(seq: number): TimedFrame {
  const payload = Uint8Array.of(seq % 256)
  return {
    event: { type: 'frame', id: `m${seq}`, seq, epoch: 0, isHandshake: false, payload, isKnown: true },
    at: seq,
  }
}

const framesTo = (last: number): TimedFrame[] => Array.from({ length: last }, (_, at) => frameOf(at + 1))

/** A store whose writes of frames wait until they are let through. */
class HeldStore extends MemoryStore {
  readonly writes: PromiseWithResolvers<void>[] = []
  #isHolding = false
  #onWrite = Promise.withResolvers<void>()

  hold(): void {
    this.#isHolding = true
  }

  /** Resolves with a write once it waits. */
  async held(index: number): Promise<PromiseWithResolvers<void>> {
    for (;;) {
      const found = this.writes[index]
      if (found) return found
      await this.#onWrite.promise
    }
  }

  override async write(changes: readonly StoreChange[]): Promise<void> {
    if (this.#isHolding) {
      const held = Promise.withResolvers<void>()
      this.writes.push(held)
      this.#onWrite.resolve()
      this.#onWrite = Promise.withResolvers()
      await held.promise
    }
    return super.write(changes)
  }
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
  expect(await course.giveFrames([1, 2, 3, 4].map(frameOf))).toHaveLength(2)
  expect(steps).toHaveLength(2)
  expect(await course.giveFrames([3, 4].map(frameOf))).toHaveLength(2)
})

test('steps are made while those before them are being written, and stored after them', async () => {
  const store = new HeldStore()
  const states = await openStates(store)
  // The first write of all makes keys, and writes them by themselves.
  await states.write([{ kind: 'leaf', id: 'device', state: Uint8Array.of(1) }])
  const isMade = Promise.withResolvers<void>()
  let records = 0
  const { course, steps } = await newCourse({
    states,
    record: async () => {
      records += 1
      if (records === 128) isMade.resolve()
      return { changes: [], after: () => {} }
    },
  })
  store.hold()
  const given = course.giveFrames(framesTo(150))
  const first = await store.held(0)
  await isMade.promise
  // Meanwhile another course takes more frames than that. This one waits for its write.
  await (await newCourse({})).course.giveFrames(framesTo(200))
  expect(records).toBe(128)
  expect(steps).toHaveLength(0)
  first.resolve()
  const next = await store.held(1)
  next.resolve()
  // The last write begins once that of the frames before it is durable.
  const last = await store.held(2)
  expect(steps).toHaveLength(128)
  last.resolve()
  expect(await given).toHaveLength(150)
  expect(steps).toHaveLength(150)
})

test('a step that reads the store waits for the writes of all steps before it', async () => {
  const seen: number[] = []
  let records = 0
  const { course, steps } = await newCourse({
    readsStore: () => records >= 70,
    record: async () => {
      records += 1
      if (records > 70) seen.push(steps.length)
      return { changes: [], after: () => {} }
    },
  })
  expect(await course.giveFrames(framesTo(100))).toHaveLength(71)
  expect(seen).toEqual([70])
})

test('after a write that fails nothing that follows it is stored, and the frames are not handled', async () => {
  const store = new HeldStore()
  const states = await openStates(store)
  // The first write of all makes keys, and writes them by themselves.
  await states.write([{ kind: 'leaf', id: 'device', state: Uint8Array.of(1) }])
  const { course, steps } = await newCourse({ states })
  store.hold()
  const given = course.giveFrames(framesTo(200))
  const first = await store.held(0)
  first.reject(new Error('the disk is full'))
  expect(await failureOf(given)).toMatchObject({ message: 'the disk is full' })
  expect(steps).toHaveLength(0)
  expect(store.writes).toHaveLength(1)
  expect(await failureOf(course.give({ type: 'tick' }))).toMatchObject({ code: 'STORE_FAILED' })
  expect(store.writes).toHaveLength(1)
})
