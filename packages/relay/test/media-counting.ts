// The promise that what a store holds for an account always counts for it, on any engine and store.
import { expect } from 'bun:test'
import fc from 'fast-check'
import type { BlobStore } from '../src/media/blob-store.ts'
import type { Storage } from '../src/storage/storage.ts'
import { LEAST_PART_BYTES } from './media-bytes.ts'
import { CountingWorld, type Step } from './media-counting-world.ts'

/** A store that is opened again by each new relay, and the bytes that it holds. */
export interface CountedPlace {
  open(): Promise<BlobStore>
  storedBytes(): Promise<number>
}

/**
 * Takes random steps of a client, with relays that die now and then. After each step, no more bytes are
 * stored than count; in the end, exactly the blobs that were completed are stored and count.
 * @param openPlace opens an empty place
 * @param sizes the sizes of parts, as multiples of {@link LEAST_PART_BYTES}
 */
export async function expectAllCounted(
  { storage, openPlace }: { storage: Storage; openPlace: () => Promise<CountedPlace> },
  { sizes, runs }: { sizes: readonly number[]; runs: number },
): Promise<void> {
  const steps = fc.array(stepsOf(sizes), { minLength: 4, maxLength: 24 })
  const holds = fc.asyncProperty(steps, async (taken) => {
    const place = await openPlace()
    const world = await CountingWorld.open(storage, place.open)
    try {
      await world.take({ kind: 'begin' })
      for (const { step, diesAfter } of taken) {
        await (diesAfter === undefined ? world.take(step) : world.dieIn(step, diesAfter))
        expect(await place.storedBytes()).toBeLessThanOrEqual(await world.countedBytes())
      }
      await world.endAll()
      const whole = world.completed.reduce((sum, { content }) => sum + content.length, 0)
      expect([await place.storedBytes(), await world.countedBytes()]).toEqual([whole, whole])
      for (const blob of world.completed) {
        expect(Buffer.compare(await world.read(blob), blob.content)).toBe(0)
      }
    } finally {
      world.close()
    }
  })
  await fc.assert(holds, { numRuns: runs, endOnFailure: true, examples: [[lostWrite]] })
}

/** A relay dies after the store has a part and before the database has it; the next one completes without. */
const lostWrite: { step: Step; diesAfter: number | undefined }[] = [
  { step: writeOf(1), diesAfter: undefined },
  { step: writeOf(2), diesAfter: 1 },
  { step: { kind: 'complete', upload: 0 }, diesAfter: undefined },
]

function writeOf(part: number): Step {
  const bytes = 2 * LEAST_PART_BYTES
  return { kind: 'write', upload: 0, part, bytes, isAnnounced: true, ending: 'whole' }
}

/** Steps of a client; now and then, the relay dies during one, after some of its transactions. */
function stepsOf(sizes: readonly number[]): fc.Arbitrary<{ step: Step; diesAfter: number | undefined }> {
  const upload = fc.nat(1)
  const write: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant('write' as const),
    upload,
    part: fc.integer({ min: 1, max: 4 }),
    bytes: fc.constantFrom(...sizes).map((count) => count * LEAST_PART_BYTES),
    isAnnounced: fc.boolean(),
    ending: fc.constantFrom('whole' as const, 'whole' as const, 'cut' as const, 'waits' as const),
  })
  const ending = fc.constantFrom('whole' as const, 'cut' as const)
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 12, arbitrary: write },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('end a waiting write' as const), ending }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('complete' as const), upload }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), upload }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'begin' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'two hours pass' as const }) },
  )
  const death = fc.option(fc.nat(2), { freq: 8, nil: undefined })
  return fc.record({ step, diesAfter: death })
}
