// Asks before all messages of a conversation are deleted on this device.
import { Confirm } from '../../parts/dialog.tsx'
import { texts } from '../../texts/texts.ts'

interface ClearDialogProps {
  readonly name: string
  readonly onClear: () => unknown
  readonly onClose: () => void
}

export function ClearDialog({ name, onClear, onClose }: ClearDialogProps) {
  const t = texts.value
  return (
    <Confirm
      title={t.chats.clearTitle}
      text={t.chats.clearText(name)}
      action={t.common.delete}
      isDangerous
      onConfirm={onClear}
      onClose={onClose}
    />
  )
}
