// Continues with the account, contacts and messages of a file that another device has saved.
import { useSignal } from '@preact/signals'
import { importArchive } from '@sotto/client/archive'
import { useId } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { prefer } from '../../session/preferences.ts'
import { useSession } from '../../session/use-session.ts'
import { deviceTexts } from '../../texts/device.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'

export function ImportForm({ onBack }: { readonly onBack: () => void }) {
  const { client } = useSession()
  const id = useId()
  const file = useSignal<File | undefined>(undefined)
  const passphrase = useSignal('')
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const t = deviceTexts.value

  const read = async (): Promise<void> => {
    if (!file.value) return
    error.value = undefined
    try {
      prefer({ isPhraseUnconfirmed: false })
      await importArchive(client, file.value.stream(), passphrase.value)
    } catch (thrown) {
      error.value = explain(thrown)
    }
  }
  return (
    <main class="welcome">
      <h1>{texts.value.welcome.importTitle}</h1>
      <p class="soft">{t.importText}</p>
      <Form busy={isBusy} onSubmit={read}>
        <div class="field">
          <label class="field-label" for={id}>
            {t.importFile}
          </label>
          <input
            id={id}
            type="file"
            class="field-input"
            required
            onChange={({ currentTarget }) => (file.value = currentTarget.files?.[0])}
          />
        </div>
        <TextField
          label={t.backupPassphrase}
          value={passphrase.value}
          onInput={(value) => (passphrase.value = value)}
          error={error.value}
          hint={isBusy.value ? t.importing : undefined}
          isSecret
          autocomplete="off"
          required
        />
        <div class="welcome-buttons">
          <Button onClick={onBack}>{texts.value.common.back}</Button>
          <SubmitButton kind="primary" isDisabled={!file.value}>
            {t.importDo}
          </SubmitButton>
        </div>
      </Form>
    </main>
  )
}
