// The name that only contacts see, inside the encryption.
import { useSignal } from '@preact/signals'
import { ClientError, type Profiles } from '@sotto/client'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { loadPart } from '../../parts/lazy.tsx'
import { notify, notifyError } from '../../session/notices.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { texts } from '../../texts/texts.ts'

export function ContactNameForm() {
  const session = useSession()
  /** What was typed since it was saved. */
  const typed = useSignal<string | undefined>(undefined)
  const profiles = async (): Promise<Profiles> => (await loadPart(() => session.later())).profiles
  const saved = useLoaded(async () => (await (await profiles()).ownName()) ?? '', [])
  const t = settingsTexts.value
  const text = typed.value ?? saved.value ?? ''
  const save = async (): Promise<void> => {
    const name = text.trim()
    try {
      await (await profiles()).setName(name === '' ? undefined : name)
    } catch (error) {
      // Perhaps all of its characters are invisible.
      if (error instanceof ClientError && error.code === 'INVALID_ARGUMENT')
        notify(t.contactNameRefused, { kind: 'error' })
      else notifyError(error)
      return
    }
    await saved.reload()
    typed.value = undefined
    notify(name === '' ? t.contactNameTakenBack : t.contactNameSaved)
  }
  return (
    <Form class="card" onSubmit={save}>
      <TextField
        label={t.contactName}
        value={text}
        onInput={(value) => (typed.value = value)}
        hint={t.contactNameHint}
        error={saved.error === undefined ? undefined : explain(saved.error)}
        maxLength={64}
        autocomplete="nickname"
      />
      <SubmitButton isDisabled={saved.value === undefined || text.trim() === saved.value}>
        {texts.value.common.save}
      </SubmitButton>
    </Form>
  )
}
