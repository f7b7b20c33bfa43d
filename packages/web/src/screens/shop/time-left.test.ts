// How the time of an order is written.
import { expect, test } from 'bun:test'
import { isLong, timeLeftOf } from './time-left.ts'

const HOUR_MS = 3_600_000

test('minutes run as a clock, and days are counted in words', () => {
  expect([0, 899_000, 23.5 * HOUR_MS].map(timeLeftOf)).toEqual(['0:00', '14:59', '23:30:00'])
  expect([24, 25.9, 71.9, 720].map((hours) => timeLeftOf(hours * HOUR_MS))).toEqual([
    ...['1 day', '1 day, 1 hour', '2 days, 23 hours', '30 days'],
  ])
  expect([23.99, 24].map((hours) => isLong(hours * HOUR_MS))).toEqual([false, true])
})
