// Times, days, lengths and sizes in the user's language.
import { language } from './texts.ts'

const DAY_MS = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language.value} ${JSON.stringify(options)}`
  const known = formats.get(key) ?? new Intl.DateTimeFormat(language.value, options)
  formats.set(key, known)
  return known
}

/** The time of day: `14:05`. */
export function timeOfDay(ms: number): string {
  return format({ hour: 'numeric', minute: '2-digit' }).format(ms)
}

/** A day as a heading: today, yesterday, a weekday within the last week, else a date. */
export function dayOf(ms: number, nowMs: number): string {
  const daysAgo = daysBetween(ms, nowMs)
  if (daysAgo === 0 || daysAgo === 1) {
    const words = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' })
    return words.format(-daysAgo, 'day')
  }
  if (daysAgo > 1 && daysAgo < 7) return format({ weekday: 'long' }).format(ms)
  const isThisYear = new Date(ms).getFullYear() === new Date(nowMs).getFullYear()
  return format({ day: 'numeric', month: 'long', ...(isThisYear ? {} : { year: 'numeric' }) }).format(ms)
}

/** The shortest form for a list: the time today, a weekday within the last week, else a date. */
export function shortTime(ms: number, nowMs: number): string {
  const daysAgo = daysBetween(ms, nowMs)
  if (daysAgo <= 0) return timeOfDay(ms)
  if (daysAgo < 7) return format({ weekday: 'short' }).format(ms)
  return format({ day: 'numeric', month: 'numeric', year: '2-digit' }).format(ms)
}

/** A date with its time, for details. */
export function fullTime(ms: number): string {
  return format({ dateStyle: 'long', timeStyle: 'short' }).format(ms)
}

/** A short date with its time, as it stands before each line of a transcript. */
export function dateAndTime(ms: number): string {
  return format({ dateStyle: 'short', timeStyle: 'short' }).format(ms)
}

/** Whether two times are on the same day here. */
export function isSameDay(oneMs: number, otherMs: number): boolean {
  return daysBetween(oneMs, otherMs) === 0
}

/** A length as minutes and seconds: `1:05`. */
export function lengthOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [hours = 0, minutes = 0, rest = 0] = parts
  const two = (value: number): string => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** A size in bytes, kilobytes or megabytes. */
export function sizeOf(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return new Intl.NumberFormat(language.value, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(bytes / 1000 ** power)
}

/** A part of a whole, from 0 to 1, as a percentage. */
export function percentOf(part: number): string {
  return new Intl.NumberFormat(language.value, { style: 'percent' }).format(part)
}

/** Names, joined as in a sentence. */
export function namesOf(names: readonly string[]): string {
  return new Intl.ListFormat(language.value).format(names)
}

/** A whole number. */
export function numberOf(value: number): string {
  return new Intl.NumberFormat(language.value).format(value)
}

function daysBetween(ms: number, laterMs: number): number {
  const midnight = (each: number): number => new Date(each).setHours(0, 0, 0, 0)
  return Math.round((midnight(laterMs) - midnight(ms)) / DAY_MS)
}
