// Times, lengths and sizes as people read them.
import { expect, test } from 'bun:test'
import { dayOf, fullTime, lengthOf, numberOf, shortTime, sizeOf, timeOfDay } from './dates.ts'

const now = new Date(2026, 10, 23, 12).getTime()
const daysAgo = (days: number): number => new Date(2026, 10, 23 - days, 9, 5).getTime()

test('a day is named by its distance from today', () => {
  expect([0, 1, 3, 30, 400].map((days) => dayOf(daysAgo(days), now))).toEqual([
    'today',
    'yesterday',
    'Friday',
    'October 24',
    'October 19, 2025',
  ])
})

test('a list shows the time of today, a weekday, then a date', () => {
  expect([0, 2, 40].map((days) => shortTime(daysAgo(days), now).replaceAll('\u202f', ' '))).toEqual([
    '9:05 AM',
    'Sat',
    '10/14/26',
  ])
  expect(timeOfDay(now).replaceAll('\u202f', ' ')).toBe('12:00 PM')
  expect(fullTime(now)).toContain('November 23, 2026')
})

test('lengths and sizes are short', () => {
  expect([0, 65_400, 3_725_000].map(lengthOf)).toEqual(['0:00', '1:05', '1:02:05'])
  expect([0, 999, 1500, 2_500_000, 3e12].map(sizeOf)).toEqual([
    '0 byte',
    '999 byte',
    '1.5 kB',
    '2.5 MB',
    '3,000 GB',
  ])
  expect(numberOf(12_345)).toBe('12,345')
})
