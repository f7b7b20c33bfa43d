// Saves everything on this device as one encrypted file.
import { useSignal } from '@preact/signals'
import { exportArchive } from '@sotto/client/archive'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { attempt } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { sizeOf } from '../../texts/dates.ts'
import { deviceTexts } from '../../texts/device.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { PassphraseGate } from './passphrase-gate.tsx'

export function BackupSection() {
  return (
    <PassphraseGate title={deviceTexts.value.backup}>
      <BackupForm />
    </PassphraseGate>
  )
}

function BackupForm() {
  const { client, identity } = useSession()
  const first = useSignal('')
  const second = useSignal('')
  const written = useSignal(0)
  const state = useSignal<'idle' | 'busy' | 'done'>('idle')
  const t = deviceTexts.value
  const differs = second.value !== '' && first.value !== second.value

  const save = async (): Promise<void> => {
    if (differs) return
    state.value = 'busy'
    written.value = 0
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        written.value += chunk.length
        controller.enqueue(chunk)
      },
    })
    const isDone = await attempt(async () => {
      const file = await new Response(exportArchive(client, first.value).pipeThrough(count)).blob()
      download(file, `sotto-${identity.value?.aliasId ?? 'archive'}.sotto`)
    })
    state.value = isDone ? 'done' : 'idle'
    first.value = ''
    second.value = ''
  }
  return (
    <Form class="card" onSubmit={save}>
      <p class="soft">{t.backupText}</p>
      <TextField
        label={t.backupPassphrase}
        value={first.value}
        onInput={(value) => (first.value = value)}
        hint={settingsTexts.value.passphraseHint}
        isSecret
        autocomplete="new-password"
        required
      />
      <TextField
        label={settingsTexts.value.passphraseAgain}
        value={second.value}
        onInput={(value) => (second.value = value)}
        error={differs ? settingsTexts.value.passphraseDiffers : undefined}
        isSecret
        autocomplete="new-password"
        required
      />
      <SubmitButton kind="primary" icon="download">
        {t.backupDo}
      </SubmitButton>
      <p role="status">
        {state.value === 'busy' && t.backupBusy(sizeOf(written.value))}
        {state.value === 'done' && t.backupDone(sizeOf(written.value))}
      </p>
    </Form>
  )
}

/** Lets the browser save a file. It is kept in the browser until its address is revoked. */
function download(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([file], { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
