// How long an order is still held, in words: minutes, or the days that a payment by hand may take.
import { lengthOf } from '../../texts/dates.ts'
import { language } from '../../texts/texts.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Whether the end is so far away that its date helps more than a countdown. */
export function isLong(leftMs: number): boolean {
  return leftMs >= DAY_MS
}

/** `14:59`, `5:03:00`, or from a day on `2 days, 23 hours`. */
export function timeLeftOf(leftMs: number): string {
  if (!isLong(leftMs)) return lengthOf(leftMs)
  const days = countOf(Math.floor(leftMs / DAY_MS), 'day')
  const hours = Math.floor((leftMs % DAY_MS) / HOUR_MS)
  if (hours === 0) return days
  return new Intl.ListFormat(language.value, { type: 'unit' }).format([days, countOf(hours, 'hour')])
}

function countOf(count: number, unit: 'day' | 'hour'): string {
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}
