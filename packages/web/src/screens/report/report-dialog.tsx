// Reports something to the relay's operator, then offers to block who it was.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useFirstFocus } from '../../parts/focus.ts'
import { whileBusy } from '../../parts/while-busy.ts'
import { attempt, notify } from '../../session/notices.ts'
import { type Reportable, reporting } from '../../session/reporting.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { reportTexts } from '../../texts/report.ts'
import { ReportForm } from './report-form.tsx'
import './report.css'

export function ReportDialog({ about }: { readonly about: Reportable }) {
  const isSent = useSignal(false)
  const t = reportTexts.value
  /** An answer may come when the user has left this dialog and has opened another. */
  const isOpen = (): boolean => reporting.peek() === about
  const close = (): void => {
    if (isOpen()) reporting.value = undefined
  }
  const sent = (): void => {
    if ('aliasId' in about && isOpen()) {
      isSent.value = true
      return
    }
    notify(t.sentTitle)
    close()
  }
  return (
    <Dialog title={isSent.value ? t.sentTitle : t.title(about.name)} onClose={close} isModal>
      {isSent.value && 'aliasId' in about ? (
        <BlockToo name={about.name} aliasId={about.aliasId} onClose={close} />
      ) : (
        <ReportForm about={about} onSent={sent} onClose={close} />
      )}
    </Dialog>
  )
}

interface BlockTooProps {
  readonly name: string
  readonly aliasId: string
  readonly onClose: () => void
}

function BlockToo({ name, aliasId, onClose }: BlockTooProps) {
  const { client } = useSession()
  const isBusy = useSignal(false)
  const text = useFirstFocus<HTMLParagraphElement>()
  const words = contactsTexts.value
  const t = reportTexts.value
  const block = (): Promise<void> =>
    whileBusy(isBusy, async () => {
      if (!(await attempt(() => client.block(aliasId)))) return
      notify(words.isBlocked(name))
      onClose()
    })
  return (
    <>
      <p ref={text} tabIndex={-1}>
        {t.blockToo(name)} {words.blockText}
      </p>
      <footer class="dialog-actions">
        <Button onClick={onClose}>{t.notNow}</Button>
        <Button kind="danger" icon="block" isBusy={isBusy.value} onClick={block}>
          {words.block}
        </Button>
      </footer>
    </>
  )
}
