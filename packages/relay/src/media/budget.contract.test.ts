// The budget of all media: the sum follows every change, and beyond the budget nobody uploads.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { defaultLimits } from '@sotto/protocol'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt, openMailboxWorld, type Person } from '../../test/mailbox-world.ts'
import { recordingLog } from '../../test/payment-watch.ts'
import { systemRandom } from '../operations/random.ts'
import { applySteps } from '../storage/migrate.ts'
import { mediaTotal } from '../storage/migrations/media-total.ts'
import { addBlob, type BlobRow, doomBlob } from './blobs.ts'
import { budgetOf, bytesOfMedia, MediaBudget } from './budget.ts'

const BUDGET_BYTES = 5000

for (const engine of engines) {
  describe(`the budget of media on ${engine.name}`, () => {
    let store: TestStore
    let people: readonly Person[]
    let parts: Parameters<typeof addBlob>[2]
    let events: [string, string][]

    beforeEach(async () => {
      const world = await openMailboxWorld(engine)
      store = world.store
      people = [world.alice, world.bob]
      const recorded = recordingLog()
      events = recorded.events
      const budget = new MediaBudget({ budgetBytes: () => BUDGET_BYTES, log: recorded.log })
      const { storage } = store
      parts = { storage, clock: clockAt(1), randomBytes: systemRandom, limits: defaultLimits(), budget }
    })
    afterEach(() => store.remove())

    /** Begins an upload of so many bytes. @returns its blob, or the code of the refusal */
    async function begin(person: number, exactBytes: number): Promise<BlobRow | string> {
      const { id } = people[person] ?? { id: undefined }
      if (id === undefined) throw new Error('there is no such person')
      try {
        return (await addBlob(id, { state: 'awaited', exactBytes }, parts)).blob
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    }

    function blobOf(begun: BlobRow | string): BlobRow {
      if (typeof begun === 'string') throw new Error(begun)
      return begun
    }

    test('one account that uses up the budget stops the uploads of all, until its bytes are removed', async () => {
      const first = blobOf(await begin(0, 4000))
      expect(await begin(1, 1001)).toBe('RELAY_FULL')
      expect(await begin(1, 2000)).toBe('RELAY_FULL')
      const second = blobOf(await begin(1, 1000))
      expect(await bytesOfMedia(store.storage.sql)).toBe(5000)
      expect(events).toEqual([['warn', 'media_total_reached']])

      // Deleted bytes count until the store has removed them.
      await store.storage.transaction((sql) => doomBlob(sql, first))
      expect(await begin(1, 1000)).toBe('RELAY_FULL')
      await store.storage.transaction((sql) => sql`DELETE FROM media_doomed WHERE object = ${first.object}`)
      expect(await bytesOfMedia(store.storage.sql)).toBe(1000)
      blobOf(await begin(1, 3000))
      expect(await begin(0, 3000)).toBe('RELAY_FULL')
      expect(events).toHaveLength(2)
      expect(second.bytes).toBe(1000)
    })

    test('the sum leaves out what a transaction undid, and an older store gets it from its rows', async () => {
      const { storage } = store
      const blob = blobOf(await begin(0, 700))
      const undone = storage.transaction(async (sql) => {
        await sql`UPDATE media_blobs SET bytes = bytes + 5 WHERE id = ${blob.id}`
        await doomBlob(sql, blob)
        throw new Error('undone')
      })
      expect(await undone.catch(String)).toBe('Error: undone')
      expect(await bytesOfMedia(storage.sql)).toBe(700)
      await storage.transaction(async (sql) => {
        await applySteps(sql, undo[storage.engine.dialect])
        await applySteps(sql, mediaTotal(storage.engine.dialect))
      })
      expect(await bytesOfMedia(storage.sql)).toBe(700)
      blobOf(await begin(0, 300))
      expect(await bytesOfMedia(storage.sql)).toBe(1000)
    })
  })
}

const tables = ['media_blobs', 'media_doomed']
/** Makes a store as it was before it had a sum. */
const undo = {
  sqlite: [
    'DROP TABLE media_total',
    ...tables.flatMap((table) =>
      ['added', 'changed', 'removed'].map((name) => `DROP TRIGGER ${table}_${name}`),
    ),
  ],
  postgres: ['DROP TABLE media_total', 'DROP FUNCTION count_media CASCADE'],
}

test('the budget is half of the disk of the folder, unless it is set', () => {
  const folder = { kind: 'folder', folder: undefined, totalBytes: undefined } as const
  expect(budgetOf(folder, 1001)).toBe(500)
  expect(budgetOf(folder, undefined)).toBe(Number.POSITIVE_INFINITY)
  expect(budgetOf({ ...folder, totalBytes: 7 }, 1000)).toBe(7)
})
