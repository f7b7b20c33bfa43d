// Shows where a link leads before it is opened, because its text says something else.
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { texts } from '../../texts/texts.ts'
import type { TextPart } from './links.ts'

interface LinkDialogProps {
  readonly link: Required<TextPart>
  readonly onClose: () => void
}

export function LinkDialog({ link: { text, href }, onClose }: LinkDialogProps) {
  const t = texts.value
  const open = (): void => {
    window.open(href, '_blank', 'noopener,noreferrer')
    onClose()
  }
  return (
    <Dialog
      title={t.conversation.linkTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button kind="danger" onClick={open}>
            {t.conversation.linkOpen}
          </Button>
        </>
      }
    >
      <p>{t.conversation.linkText}</p>
      <dl class="details">
        <div>
          <dt class="small soft">{t.conversation.linkShown}</dt>
          <dd class="code">{text}</dd>
        </div>
        <div>
          <dt class="small soft">{t.conversation.linkLeads}</dt>
          <dd class="code">{href}</dd>
        </div>
      </dl>
    </Dialog>
  )
}
