// The lines of charts: gaps where the relay did not run, round tops, and the hours of the table.
import { describe, expect, test } from 'bun:test'
import { byHour, extremesOf, lineOf, type Point, topOf } from './chart-lines.ts'

const MINUTE = 60_000
const points = (...values: readonly (number | null)[]): Point[] =>
  values.map((value, index) => ({ at: index * MINUTE, value }))
const frame = { from: 0, to: 10 * MINUTE, top: 10 }

test('the top is round, and not below any value', () => {
  for (const [most, top] of [
    ...[
      [0, 1],
      [1, 1],
      [2, 2],
      [3, 4],
      [5, 5],
      [7, 8],
      [9, 10],
      [11, 20],
      [99, 100],
    ],
    ...[
      [0.3, 0.4],
      [4_100_000, 5_000_000],
    ],
  ] as const)
    expect([most, Number(topOf([0, most]).toPrecision(3))]).toEqual([most, top])
  expect(topOf([])).toBe(1)
})

describe('a line', () => {
  test('goes through all points, from the bottom to the top', () => {
    expect(lineOf(points(0, 5, 10), frame, 100, 50)).toBe('M0 50h0.5L10 25L20 0')
  })

  test('has a gap where there are no points, and none for a minute that came late', () => {
    const there = points(1, 1, 1, 1, 1, 1, 1).filter((_, index) => index !== 1)
    expect(lineOf(there, frame, 100, 10)).toBe('M0 9h0.5L20 9L30 9L40 9L50 9L60 9')
    const gone = there.filter((_, index) => index < 1 || index > 3)
    expect(lineOf(gone, frame, 100, 10)).toBe('M0 9h0.5M50 9h0.5L60 9')
    expect(lineOf(points(null, null, 2, null), frame, 100, 10)).toBe('M20 8h0.5')
  })

  test('leaves out what was before the frame', () => {
    expect(lineOf(points(1, 2, 3), { ...frame, from: 2 * MINUTE }, 80, 10)).toBe('M0 7h0.5')
    expect(lineOf([], frame, 100, 10)).toBe('')
  })
})

test('the extremes are the first of their values, and the last point is the last known', () => {
  const { most, least, last } = extremesOf(points(3, 1, 7, 7, 1, null)) ?? {}
  expect([most?.at, least?.at, last?.value]).toEqual([2 * MINUTE, MINUTE, 1])
  expect(extremesOf(points(null))).toBeUndefined()
})

test('hours are combined, newest first', () => {
  const hour = 3_600_000
  const at = (value: number, time: number): Point => ({ at: time, value })
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  const given = [at(1, hour), at(2, hour + 59 * MINUTE), at(5, 2 * hour), { at: 3 * hour, value: null }]
  expect(byHour(given, sum).map(({ value }) => value)).toEqual([5, 3])
})
