// Deletes a channel, after asking.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { channelsTexts } from '../../texts/channels.ts'
import { texts } from '../../texts/texts.ts'

interface DeleteChannelProps {
  readonly name: string
  readonly onDelete: () => Promise<void>
}

export function DeleteChannel({ name, onDelete }: DeleteChannelProps) {
  const isAsking = useSignal(false)
  const t = channelsTexts.value
  return (
    <div class="card">
      <h2>{t.delete}</h2>
      <p>{t.deleteText}</p>
      <div class="channels-buttons">
        <Button kind="danger" icon="trash" onClick={() => (isAsking.value = true)}>
          {t.delete}
        </Button>
      </div>
      {isAsking.value && (
        <Confirm
          title={t.deleteAsk(name)}
          text={t.deleteText}
          action={texts.value.common.delete}
          isDangerous
          onConfirm={onDelete}
          onClose={() => (isAsking.value = false)}
        />
      )}
    </div>
  )
}
