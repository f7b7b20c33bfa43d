// Shows where a link leads before it is opened, because its text says something else.
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { dialogsTexts } from '../../texts/dialogs.ts'
import { texts } from '../../texts/texts.ts'
import type { TextPart } from './links.ts'
import './details.css'

interface LinkDialogProps {
  readonly link: Required<TextPart>
  readonly onClose: () => void
}

export function LinkDialog({ link: { text, href }, onClose }: LinkDialogProps) {
  const t = dialogsTexts.value
  const open = (): void => {
    window.open(href, '_blank', 'noopener,noreferrer')
    onClose()
  }
  return (
    <Dialog
      title={t.linkTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <Button kind="danger" onClick={open}>
            {t.linkOpen}
          </Button>
        </>
      }
    >
      <p>{t.linkText}</p>
      <dl class="details">
        <div>
          <dt class="small soft">{t.linkShown}</dt>
          <dd class="code">{text}</dd>
        </div>
        <div>
          <dt class="small soft">{t.linkLeads}</dt>
          <dd class="code">{href}</dd>
        </div>
      </dl>
    </Dialog>
  )
}
