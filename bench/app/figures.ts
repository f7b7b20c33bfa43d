// The figures of the app, and the table that shows them.
import { median } from '../measure.ts'

/** What one run gave. */
export interface Run {
  readonly value: number
  /** The longest task of the page's main thread meanwhile, in milliseconds. */
  readonly longestTaskMs?: number
}

/** Something that is measured, with what is wanted of it. */
export interface Figure {
  readonly name: string
  readonly unit: 'ms' | 'kB' | 'MB' | 'MB/h'
  /** At most this. */
  readonly target: number
  readonly runs: readonly Run[]
}

/** A row of the results. */
export function rowOf({ name, unit, target, runs }: Figure): Readonly<Record<string, string | number>> {
  const values = runs.map(({ value }) => value)
  const middle = runs.toSorted((a, b) => a.value - b.value)[Math.floor((runs.length - 1) / 2)]
  const value = median(values)
  return {
    figure: name,
    target: `${target} ${unit}`,
    median: `${rounded(value)} ${unit}`,
    range: `${rounded(Math.min(...values))} to ${rounded(Math.max(...values))}`,
    'longest task of the median run':
      middle?.longestTaskMs === undefined ? '' : `${rounded(middle.longestTaskMs)} ms`,
    result: value <= target ? 'kept' : 'missed',
  }
}

/** The rows as a table for a document. */
export function markdownOf(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const [first = {}] = rows
  const lines = [Object.keys(first), Object.keys(first).map(() => '---'), ...rows.map(Object.values)]
  return lines
    .map((cells) => `| ${cells.join(' | ')} |`.replaceAll('--- ', '---').replaceAll(' ---', '---'))
    .join('\n')
}

function rounded(value: number): number {
  return Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value)
}
