// The parts of the benchmark of the app work together, with little of everything.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { markdownOf, rowOf } from './figures.ts'
import { slopeOf } from './heap.ts'
import { measureApp } from './measure-app.ts'

setDefaultTimeout(240_000)

test('a browser is filled, and what is done in it is measured', async () => {
  const sizes = { few: 2, many: 2, messages: 100, arrivals: 20, minutes: 2, seconds: 0.3, rounds: 1 }
  const figures = await Array.fromAsync(measureApp(new Set(['conversation', 'arrivals', 'heap']), sizes))
  expect(figures.map(({ name }) => name)).toEqual([
    'open a conversation of 100 messages',
    'longest task while it is scrolled',
    'a message sent appears',
    '20 messages arrive, no conversation open: done',
    '20 messages arrive, no conversation open: longest task',
    '20 messages arrive, their conversation open: done',
    '20 messages arrive, their conversation open: longest task',
    'heap after 2 minutes of use',
    'its slope over the second half',
  ])
  // A slope needs more than one value; every other figure is a number above zero.
  for (const { runs } of figures.slice(0, -1)) for (const { value } of runs) expect(value).toBeGreaterThan(0)
})

test('a row tells the median, and the longest task of the median run', () => {
  const runs = [50, 10, 30].map((value) => ({ value, longestTaskMs: value / 2 }))
  expect(markdownOf([rowOf({ name: 'something', unit: 'ms', target: 40, runs })])).toBe(
    [
      '| figure | target | median | range | longest task of the median run | result |',
      '|---|---|---|---|---|---|',
      '| something | 40 ms | 30 ms | 10 to 50 | 15 ms | kept |',
    ].join('\n'),
  )
})

test('a slope is that of the line through the values', () => {
  expect(slopeOf([1, 3, 5, 7])).toBe(2)
  expect(slopeOf([4, 4, 4])).toBe(0)
})
