// One report with what was attached to it, and the ways on. What people wrote is text, never markup.
import { Button, ButtonLink } from '../parts/button.tsx'
import { href } from '../session/route.ts'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { fullTime } from '../texts/dates.ts'
import type { ReportDetail } from './answers.ts'
import type { Deed } from './deed-dialog.tsx'
import { Fact } from './fact.tsx'
import { ItemPage } from './item-page.tsx'
import { postRemoval } from './post-removal.ts'
import { ask } from './relay-commands.ts'
import { useAnswer } from './use-answer.ts'

export function ReportPage({ id }: { readonly id: string }) {
  const t = adminModerationTexts.value.reports
  const read = useAnswer('reports.show', { input: { id: Number(id) } })
  const deeds = useAnswer('deeds.list', { input: { object: `report ${id}`, limit: 100 } })
  return (
    <ItemPage list="reports" id={id} read={read} deeds={{ title: t.deeds, read: deeds }}>
      {(report, begin) => <Report report={report} onDeed={begin} />}
    </ItemPage>
  )
}

interface ReportProps {
  readonly report: ReportDetail
  readonly onDeed: (deed: Deed) => void
}

function Report({ report, onDeed }: ReportProps) {
  const t = adminModerationTexts.value.reports
  const { about, object, reporter, reason, content, post, reported_at, done_at } = report
  return (
    <>
      <section class="card">
        <h2>
          {t.about[about]} <bdi class="code">{object}</bdi>
        </h2>
        <dl class="admin-figures">
          <Fact name={t.reporter}>
            <a class="link code" href={href('accounts', reporter)}>
              {reporter}
            </a>
          </Fact>
          <Fact name={t.reportedAt}>{fullTime(Date.parse(reported_at))}</Fact>
          {done_at !== null && <Fact name={t.doneAt}>{fullTime(Date.parse(done_at))}</Fact>}
        </dl>
        <WaysOn report={report} onDeed={onDeed} />
      </section>
      <Words title={t.reason} text={reason === '' ? null : reason} otherwise={t.noReason} />
      {about === 'post' && <Words title={t.post} text={post} otherwise={t.postGone} />}
      <Words
        title={t.attached}
        hint={t.attachedHint}
        text={content}
        otherwise={done_at === null ? t.nothingAttached : t.erased}
      />
    </>
  )
}

/** Where the operator can do something about what was reported. */
function WaysOn({ report: { id, about, object, post, done_at }, onDeed }: ReportProps) {
  const t = adminModerationTexts.value.reports
  const { removeDo } = adminModerationTexts.value.channels
  // Of a post, these are the ids of its channel and of itself.
  const [first = '', postId = ''] = object.split(' ')
  const done: Deed = {
    title: t.doneTitle,
    text: t.doneText,
    action: t.doneDo,
    run: (why) => ask('reports.done', { id, why }),
  }
  return (
    <div class="item-end">
      {about === 'account' || about === 'friend_request' ? (
        <ButtonLink href={href('accounts', first)}>{t.toAccount}</ButtonLink>
      ) : (
        <ButtonLink href={href('channels', first)}>{t.toChannel}</ButtonLink>
      )}
      {post !== null && <Button onClick={() => onDeed(postRemoval(first, postId))}>{removeDo}</Button>}
      {done_at === null && <Button onClick={() => onDeed(done)}>{t.doneDo}</Button>}
    </div>
  )
}

interface WordsProps {
  readonly title: string
  readonly hint?: string
  readonly text: string | null
  /** What is said if there is no text. */
  readonly otherwise: string
}

/** What somebody wrote. */
function Words({ title, hint, text, otherwise }: WordsProps) {
  return (
    <section class="admin-section">
      <h2>{title}</h2>
      {text === null ? (
        <p class="soft">{otherwise}</p>
      ) : (
        <>
          {hint && <p class="soft small">{hint}</p>}
          <blockquote class="report-words" dir="auto">
            {text}
          </blockquote>
        </>
      )}
    </section>
  )
}
