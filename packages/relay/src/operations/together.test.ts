// Work for many at the same time: done in groups, in order, and each gets its own result.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { AtOnce } from './at-once.ts'
import { Together } from './together.ts'

/** Work that goes on when it is told to. */
function held() {
  const groups: (readonly number[])[] = []
  const going: (() => void)[] = []
  const together = new Together(async (items: readonly number[]) => {
    groups.push(items)
    await new Promise<void>((resolve) => going.push(resolve))
    if (items.includes(-1)) throw new Error('refused item')
    return items.map((item) => item * 2)
  })
  const goOn = async (): Promise<void> => {
    while (going.length === 0) await Promise.resolve()
    going.shift()?.()
  }
  return { together, groups, goOn }
}

test('items that come while a run is under way share the next one, 256 at most', async () => {
  const { together, groups, goOn } = held()
  const first = together.do(1)
  const others = Array.from({ length: 300 }, (_, index) => together.do(index + 2))
  await goOn()
  expect(await first).toBe(2)
  await goOn()
  expect(await others[255]).toBe(514)
  await goOn()
  expect(await Promise.all(others)).toEqual(Array.from({ length: 300 }, (_, index) => (index + 2) * 2))
  expect(groups.map((group) => group.length)).toEqual([1, 256, 44])
})

test('a run that fails has failed for its items, and not for later ones', async () => {
  const { together, goOn } = held()
  const first = together.do(-1)
  const second = together.do(2)
  await goOn()
  expect(String(await failureOf(first))).toContain('refused item')
  await goOn()
  expect(await second).toBe(4)
})

test('no more work is under way at once than is allowed, and the rest keeps its order', async () => {
  const atOnce = new AtOnce(2)
  const begun: number[] = []
  const going: (() => void)[] = []
  const done = [1, 2, 3, 4].map((number) =>
    atOnce.run(async () => {
      begun.push(number)
      await new Promise<void>((resolve) => going.push(resolve))
      if (number === 1) throw new Error('one')
    }),
  )
  expect(begun).toEqual([1, 2])
  going.shift()?.()
  expect(String(await failureOf(done[0] ?? Promise.resolve()))).toContain('one')
  going.shift()?.()
  await done[1]
  expect(begun).toEqual([1, 2, 3, 4])
  for (const goOn of going) goOn()
  await Promise.all(done.slice(1))
})
