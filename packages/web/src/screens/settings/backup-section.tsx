// Saves everything on this device as one encrypted file.
import { useSignal } from '@preact/signals'
import { exportArchive } from '@sotto/client/archive'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { attempt } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { sizeOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'

export function BackupSection() {
  const { client, identity } = useSession()
  const first = useSignal('')
  const second = useSignal('')
  const written = useSignal(0)
  const state = useSignal<'idle' | 'busy' | 'done'>('idle')
  const t = texts.value.device
  const differs = second.value !== '' && first.value !== second.value

  const save = async (): Promise<void> => {
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
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        if (!differs) void save()
      }}
    >
      <p class="soft">{t.backupText}</p>
      <TextField
        label={t.backupPassphrase}
        value={first.value}
        onInput={(value) => (first.value = value)}
        hint={texts.value.settings.passphraseHint}
        isSecret
        autocomplete="new-password"
        required
      />
      <TextField
        label={texts.value.settings.passphraseAgain}
        value={second.value}
        onInput={(value) => (second.value = value)}
        error={differs ? texts.value.settings.passphraseDiffers : undefined}
        isSecret
        autocomplete="new-password"
        required
      />
      <Button kind="primary" icon="download" isSubmit isBusy={state.value === 'busy'}>
        {t.backupDo}
      </Button>
      <p role="status">
        {state.value === 'busy' && t.backupBusy(sizeOf(written.value))}
        {state.value === 'done' && t.backupDone(sizeOf(written.value))}
      </p>
    </form>
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
