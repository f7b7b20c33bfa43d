// Asks for the alias before the account is deleted.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { useIsShown } from '../../parts/use-is-shown.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { texts } from '../../texts/texts.ts'

interface DeleteAccountProps {
  readonly alias: string
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

export function DeleteAccount({ alias, onConfirm, onClose }: DeleteAccountProps) {
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const isShown = useIsShown()
  const t = settingsTexts.value
  const confirm = async (): Promise<void> => {
    isBusy.value = true
    await onConfirm()
    isBusy.value = false
    if (isShown()) onClose()
  }
  return (
    <Dialog
      title={t.deleteAccount}
      onClose={onClose}
      isModal
      actions={
        <>
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <Button
            kind="danger"
            isBusy={isBusy.value}
            isDisabled={typed.value.trim() !== alias}
            onClick={confirm}
          >
            {t.deleteAccount}
          </Button>
        </>
      }
    >
      <p>{t.deleteText}</p>
      <TextField
        label={t.deleteType(alias)}
        value={typed.value}
        onInput={(value) => (typed.value = value)}
        isCode
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
      />
    </Dialog>
  )
}
