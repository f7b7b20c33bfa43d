// Why something is reported, and what the operator may see of it.
import { useSignal } from '@preact/signals'
import { Reports, type ReportWords } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { Switch } from '../../parts/choice.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { noticeSuspension } from '../../session/notices.ts'
import type { Reportable } from '../../session/reporting.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { reportTexts } from '../../texts/report.ts'
import { texts } from '../../texts/texts.ts'

/** What the protocol takes, in characters. */
const MOST_REASON = 1000
const MOST_CONTENT = 8192

interface ReportFormProps {
  readonly about: Reportable
  readonly onSent: () => void
  readonly onClose: () => void
}

export function ReportForm({ about, onSent, onClose }: ReportFormProps) {
  const { client } = useSession()
  const reason = useSignal('')
  const isAttached = useSignal(false)
  const error = useSignal<string | undefined>(undefined)
  const t = reportTexts.value
  const content = contentOf(about)
  const left = MOST_REASON - [...reason.value].length

  const send = async (): Promise<void> => {
    error.value = undefined
    const words = { reason: reason.value.trim().toWellFormed() }
    try {
      const isShown = content !== undefined && isAttached.value
      await sendReport(new Reports(client), about, isShown ? { ...words, content } : words)
      onSent()
    } catch (thrown) {
      noticeSuspension(thrown)
      error.value = explain(thrown)
    }
  }
  return (
    <Form class="report-form" onSubmit={send}>
      <p>
        {t.text} {t.notTold}
      </p>
      <TextField
        label={t.reason}
        value={reason.value}
        onInput={(value) => {
          reason.value = value
          error.value = undefined
        }}
        rows={4}
        maxLength={MOST_REASON}
        hint={t.left(left)}
        error={error.value}
        required
      />
      {content === undefined ? (
        (about.kind === 'channel' || about.kind === 'post') && <p class="soft small">{t.isPublic}</p>
      ) : (
        <>
          <Switch
            label={about.kind === 'friendRequest' ? t.attachRequest : t.attachMessage}
            hint={t.attachHint}
            isOn={isAttached.value}
            onChange={(isOn) => (isAttached.value = isOn)}
          />
          <details>
            <summary>{t.attached}</summary>
            <p class="report-content" dir="auto">
              {content}
            </p>
          </details>
        </>
      )}
      <footer class="dialog-actions">
        <Button onClick={onClose}>{texts.value.common.cancel}</Button>
        <SubmitButton kind="danger" isDisabled={reason.value.trim() === ''}>
          {t.send}
        </SubmitButton>
      </footer>
    </Form>
  )
}

/** What the reporter can show the operator, as far as a report takes it. */
function contentOf(about: Reportable): string | undefined {
  const content = 'content' in about ? about.content : undefined
  return content === undefined ? undefined : [...content].slice(0, MOST_CONTENT).join('')
}

function sendReport(reports: Reports, about: Reportable, words: ReportWords): Promise<void> {
  switch (about.kind) {
    case 'account':
      return reports.account(about.aliasId, words)
    case 'friendRequest':
      return reports.friendRequest(about.aliasId, words)
    case 'channel':
      return reports.channel(about.channelId, words)
    case 'post':
      return reports.post(about.channelId, about.postId, words)
    default:
      return about satisfies never
  }
}
