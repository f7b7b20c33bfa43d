// The queue in which frames wait for their rate.
import { expect, test } from 'bun:test'
import { PacedFrames } from './paced-frames.ts'

test('a frame that left is not kept in memory, even if the queue is never empty', async () => {
  const left: WeakRef<object>[] = []
  const total = 2000
  let waiting = 0
  const done = Promise.withResolvers<void>()
  const queue = new PacedFrames<{ readonly n: number }, { hold(): boolean; release(): void }>(
    {
      // Every tenth attempt must wait, so that frames leave in portions.
      take: ({ n }) => (waiting++ % 10 === 0 || n === total ? 1 : 0),
      bytesOf: () => 1,
      carryOut: (frame) => {
        left.push(new WeakRef(frame))
        if (frame.n === total - 1) done.resolve()
      },
    },
    { hold: () => true, release: () => undefined },
  )
  for (let n = 0; n <= total; n++) queue.push({ n })
  await done.promise
  // A WeakRef keeps its target until the task has ended.
  await new Promise((resolve) => setImmediate(resolve))
  Bun.gc(true)
  expect(queue.isWaiting).toBe(true) // The last one stays.
  expect(left.filter((ref) => ref.deref()).length).toBeLessThan(total / 10)
  queue.stop()
})
