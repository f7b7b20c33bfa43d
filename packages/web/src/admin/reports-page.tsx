// What people reported, as by `sotto reports`.
import { useState } from 'preact/hooks'
import { Switch } from '../parts/choice.tsx'
import { Empty } from '../parts/state.tsx'
import { href, route } from '../session/route.ts'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { dateAndTime, numberOf } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import type { Report } from './answers.ts'
import { ReportPage } from './report-page.tsx'
import { useAnswer } from './use-answer.ts'
import './items.css'

const EVERY_MS = 10_000
const MOST = 200

export function ReportsPage() {
  const [, id] = route.value.path
  return id === undefined ? <ReportList /> : <ReportPage key={id} id={id} />
}

function ReportList() {
  const t = adminModerationTexts.value.reports
  const [all, setAll] = useState(false)
  const read = useAnswer('reports.list', { input: { all, limit: MOST }, everyMs: EVERY_MS })
  return (
    <>
      <div class="admin-switch">
        <Switch label={t.withDone} isOn={all} onChange={setAll} />
      </div>
      <Answered read={read}>
        {(reports) =>
          reports.length === 0 ? (
            <Empty icon="warning" title={t.none} />
          ) : (
            <>
              <ul class="items">
                {reports.map((report) => (
                  <ReportItem key={report.id} report={report} />
                ))}
              </ul>
              {reports.length === MOST && <p class="soft">{t.more(numberOf(MOST))}</p>}
            </>
          )
        }
      </Answered>
    </>
  )
}

function ReportItem({ report }: { readonly report: Report }) {
  const t = adminModerationTexts.value.reports
  const { id, about, object, reporter, reason, has_content, reported_at, done_at } = report
  return (
    <li>
      <a class="item" href={href('reports', String(id))}>
        <span class="item-main">
          <span>
            {t.about[about]} <bdi class="code">{object}</bdi>
          </span>
          <bdi class="report-line">{reason}</bdi>
          <span class="soft small">
            {dateAndTime(Date.parse(reported_at))} · {t.reporter} <bdi class="code">{reporter}</bdi>
          </span>
        </span>
        <span class="item-end">
          {has_content && <span class="mark">{t.withContent}</span>}
          {done_at !== null && (
            <span class="mark" data-kind="good">
              {t.done}
            </span>
          )}
        </span>
      </a>
    </li>
  )
}
