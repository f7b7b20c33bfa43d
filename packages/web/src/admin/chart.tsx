// A chart of the last day, and the same in words and in a table.
import { adminTexts } from '../texts/admin.ts'
import { timeOfDay } from '../texts/dates.ts'
import { byHour, extremesOf, type Frame, lineOf, type Point, topOf } from './chart-lines.ts'
import './chart.css'

const WIDTH = 720
const HEIGHT = 160

/** A line of a chart. */
export interface Line {
  readonly name: string
  readonly points: readonly Point[]
}

interface ChartProps {
  readonly title: string
  /** What the values are, such as "per minute". */
  readonly unit: string
  /** At most two. */
  readonly lines: readonly Line[]
  /** Milliseconds since 1970. */
  readonly from: number
  readonly to: number
  /** A value as text. */
  readonly say: (value: number) => string
  /** What the table shows of an hour. */
  readonly ofHour: 'sum' | 'most'
}

export function Chart({ title, unit, lines, from, to, say, ofHour }: ChartProps) {
  const t = adminTexts.value.charts
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => (value === null ? [] : [value])))
  const frame: Frame = { from, to, top: topOf(values) }
  const isMany = lines.length > 1
  const words = lines.map(({ name, points }) => {
    const found = extremesOf(points)
    const text = found
      ? t.summary(say(found.last.value), say(found.most.value), timeOfDay(found.most.at))
      : t.nothing
    return isMany ? `${name}: ${text}` : text
  })
  return (
    <figure class="card chart">
      <figcaption>
        <h2>
          {title} <span class="soft chart-unit">{unit}</span>
        </h2>
        {words.map((text, index) => (
          <p key={text} class="small chart-words">
            {isMany && <span class="chart-key" data-line={index} />}
            {text}
          </p>
        ))}
      </figcaption>
      <div class="chart-frame">
        <span class="chart-top small soft number" aria-hidden="true">
          {say(frame.top)}
        </span>
        <svg
          class="chart-lines"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}. ${words.join(' ')}`}
        >
          <path class="chart-grid" d={`M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
          {lines.map(({ name, points }, index) => (
            <path key={name} class="chart-line" data-line={index} d={lineOf(points, frame, WIDTH, HEIGHT)} />
          ))}
        </svg>
        {/* Time goes from left to right in every language. */}
        <div class="chart-times small soft number" dir="ltr" aria-hidden="true">
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <bdi key={part}>{timeOfDay(from + (to - from) * part)}</bdi>
          ))}
        </div>
      </div>
      <Hours lines={lines} say={say} ofHour={ofHour} title={title} />
    </figure>
  )
}

/** The same as a table, hour by hour, if somebody opens it. */
function Hours({ lines, say, ofHour, title }: Pick<ChartProps, 'lines' | 'say' | 'ofHour' | 'title'>) {
  const t = adminTexts.value.charts
  const combine = (values: readonly number[]): number =>
    ofHour === 'sum' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)
  const columns = lines.map(
    ({ points }) => new Map(byHour(points, combine).map(({ at, value }) => [at, value])),
  )
  const hours = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => b - a)
  return (
    <details class="chart-hours">
      <summary>{t.asTable}</summary>
      <table class="admin-table">
        <caption class="spoken">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t.hour}</th>
            {lines.map(({ name }) => (
              <th key={name} scope="col">
                {lines.length > 1 ? `${name}, ${t[ofHour]}` : t[ofHour]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {hours.map((hour) => (
            <tr key={hour}>
              <th scope="row">{timeOfDay(hour)}</th>
              {columns.map((column, index) => (
                <td key={lines[index]?.name} class="number">
                  {column.has(hour) ? say(column.get(hour) ?? 0) : '–'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
