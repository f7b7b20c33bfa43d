// The text of unread seqs against a set: its last number is never below the true one, and equals it while
// the text was not shortened.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { afterReading, lastUnread, withoutSeqs, withSeq } from './unread-seqs.ts'

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('send'), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('retract', 'read'), at: fc.nat(80) }) },
)

test('the last unread seq is exact, or covers more if there are very many', async () => {
  await fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.array(step, { maxLength: 200 }), (base, steps) => {
      let text = ''
      let last = base
      let unread: number[] = []
      let mostUnread = 0
      for (const { do: what, at } of steps) {
        if (what === 'send') {
          last += 1 + at // The numbers between are of the other side.
          text = withSeq(text, last)
          unread.push(last)
        } else if (what === 'retract') {
          const gone = unread.slice(at, at + 2)
          text = withoutSeqs(text, gone)
          unread = unread.filter((seq) => !gone.includes(seq))
        } else {
          const readSeq = Math.min(last, base + at)
          text = afterReading(text, readSeq)
          unread = unread.filter((seq) => seq > readSeq)
        }
        mostUnread = Math.max(mostUnread, unread.length)
        expect(text.length).toBeLessThanOrEqual(120)
        expect(lastUnread(text)).toBeGreaterThanOrEqual(unread.at(-1) ?? 0)
        if (mostUnread < 15) expect(lastUnread(text)).toBe(unread.at(-1) ?? 0)
      }
      expect(afterReading(text, last)).toBe('')
    }),
  )
})

test('the newest of very many stay exact, and the bound of the others stays until it is read', () => {
  let text = ''
  for (let seq = 1; seq <= 1000; seq++) text = withSeq(text, seq)
  expect(lastUnread(text)).toBe(1000)
  text = withoutSeqs(text, [1000, 999])
  expect(lastUnread(text)).toBe(998)
  text = withoutSeqs(
    text,
    Array.from({ length: 1000 }, (_, n) => n + 1),
  )
  const bound = lastUnread(text)
  expect(text).toBe(`<${bound}`)
  expect(bound).toBeGreaterThan(900)
  expect(afterReading(text, bound - 1)).toBe(text)
  expect(afterReading(text, bound)).toBe('')
})
