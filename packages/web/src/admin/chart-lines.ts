// Turns figures of the last day into lines of a chart.

/** A value at a time, in milliseconds since 1970. */
export interface Point {
  readonly at: number
  /** Null if there is none. */
  readonly value: number | null
}

/** What a chart shows: from when, to when, and up to which value. */
export interface Frame {
  readonly from: number
  readonly to: number
  readonly top: number
}

const MINUTE_MS = 60_000
/** Points that are farther apart are not connected: the relay did not run in between. */
const GAP_MS = 3 * MINUTE_MS

/** A round value that no point exceeds: 1, 2 or 5 times a power of ten, or twice or four times that. */
export function topOf(values: readonly number[]): number {
  const most = Math.max(0, ...values)
  if (most === 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return power * ([1, 2, 4, 5, 8, 10].find((step) => power * step >= most) ?? 10)
}

/** The line through the points, as the path of an SVG whose view box is `width` × `height`. */
export function lineOf(points: readonly Point[], frame: Frame, width: number, height: number): string {
  const parts: string[] = []
  let before: number | undefined
  for (const { at, value } of points) {
    if (value === null || at < frame.from) continue
    const x = round(((at - frame.from) / (frame.to - frame.from)) * width)
    const y = round(height - (value / frame.top) * height)
    // A point without a neighbour is a short line, so that it is seen.
    const isAlone = before === undefined || at - before > GAP_MS
    parts.push(isAlone ? `M${x} ${y}h0.5` : `L${x} ${y}`)
    before = at
  }
  return parts.join('')
}

/** The largest and the smallest point, and the last. Undefined if there are none. */
export function extremesOf(
  points: readonly Point[],
): { readonly most: Known; readonly least: Known; readonly last: Known } | undefined {
  const known = points.filter(isKnown)
  const [first] = known
  const last = known.at(-1)
  if (!first || !last) return undefined
  return {
    most: known.reduce((most, point) => (point.value > most.value ? point : most), first),
    least: known.reduce((least, point) => (point.value < least.value ? point : least), first),
    last,
  }
}

/** For each hour that has points, newest first, what `combine` makes of their values. */
export function byHour(
  points: readonly Point[],
  combine: (values: readonly number[]) => number,
): readonly Known[] {
  const hours = new Map<number, number[]>()
  for (const { at, value } of points.filter(isKnown)) {
    const hour = new Date(at).setMinutes(0, 0, 0)
    hours.set(hour, [...(hours.get(hour) ?? []), value])
  }
  return [...hours].map(([at, values]) => ({ at, value: combine(values) })).sort((a, b) => b.at - a.at)
}

/** A point that has a value. */
export interface Known extends Point {
  readonly value: number
}

function isKnown(point: Point): point is Known {
  return point.value !== null
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
