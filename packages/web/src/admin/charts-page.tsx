// Charts of the last day, from the relay's own figures.
import { Empty } from '../parts/state.tsx'
import { nowMs } from '../session/clock.ts'
import { adminTexts } from '../texts/admin.ts'
import { numberOf, sizeOf } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import type { MinuteFigures } from './answers.ts'
import { Chart, type Line } from './chart.tsx'
import { useAnswer } from './use-answer.ts'

const EVERY_MS = 60_000
const DAY_MS = 86_400_000

export function ChartsPage() {
  const t = adminTexts.value.charts
  const read = useAnswer('figures', { everyMs: EVERY_MS })
  return (
    <Answered read={read}>
      {(minutes) =>
        minutes.length === 0 ? (
          <Empty icon="clock" title={t.none}>
            {t.noneYet}
          </Empty>
        ) : (
          <Charts minutes={minutes} />
        )
      }
    </Answered>
  )
}

function Charts({ minutes }: { readonly minutes: readonly MinuteFigures[] }) {
  const t = adminTexts.value.charts
  const to = nowMs()
  const frame = { from: to - DAY_MS, to }
  const line = (name: string, figure: (minute: MinuteFigures) => number | null): Line => ({
    name,
    points: minutes.map((minute) => ({ at: Date.parse(minute.at), value: figure(minute) })),
  })
  const each = { ...frame, unit: t.perMinute, say: numberOf, ofHour: 'sum' } as const
  return (
    <>
      <p class="soft">{t.hint}</p>
      <div class="admin-charts">
        <Chart
          {...frame}
          title={t.connections}
          unit=""
          say={numberOf}
          ofHour="most"
          lines={[line(t.connections, ({ connections }) => connections)]}
        />
        <Chart {...each} title={t.messages} lines={[line(t.messages, ({ messages }) => messages)]} />
        <Chart
          {...each}
          title={t.registrations}
          lines={[line(t.registrations, ({ registrations }) => registrations)]}
        />
        <Chart
          {...frame}
          title={t.latency}
          unit={t.latencyUnit}
          say={t.milliseconds}
          ofHour="most"
          lines={[line(t.latency, ({ ack_ms }) => ack_ms)]}
        />
        <Chart
          {...frame}
          title={t.storage}
          unit=""
          say={sizeOf}
          ofHour="most"
          lines={[
            line(t.database, ({ database_bytes }) => database_bytes),
            line(t.media, ({ media_bytes }) => media_bytes),
          ]}
        />
        <Chart
          {...each}
          title={t.troubles}
          lines={[line(t.refusals, ({ refusals }) => refusals), line(t.errors, ({ errors }) => errors)]}
        />
      </div>
    </>
  )
}
