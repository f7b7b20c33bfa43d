// The passphrase of this device.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { attempt, notify } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'

export function LockSection() {
  const session = useSession()
  const first = useSignal('')
  const second = useSignal('')
  const isBusy = useSignal(false)
  const t = texts.value.settings
  const differs = second.value !== '' && first.value !== second.value

  const set = async (passphrase: string | undefined): Promise<void> => {
    isBusy.value = true
    if (await attempt(() => session.setPassphrase(passphrase))) {
      notify(passphrase === undefined ? t.passphraseRemoved : t.passphraseIsSet)
      first.value = ''
      second.value = ''
    }
    isBusy.value = false
  }
  return (
    <>
      <p class="soft">{t.lockText}</p>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          if (!differs) void set(first.value)
        }}
      >
        <TextField
          label={t.passphraseNew}
          value={first.value}
          onInput={(value) => (first.value = value)}
          hint={t.passphraseHint}
          isSecret
          autocomplete="new-password"
          required
        />
        <TextField
          label={t.passphraseAgain}
          value={second.value}
          onInput={(value) => (second.value = value)}
          error={differs ? t.passphraseDiffers : undefined}
          isSecret
          autocomplete="new-password"
          required
        />
        <Button kind="primary" isSubmit isBusy={isBusy.value}>
          {t.passphraseSet}
        </Button>
      </form>
      {session.hasPassphrase.value && (
        <>
          <Button icon="lock" onClick={() => attempt(() => session.client.lock())}>
            {t.lockNow}
          </Button>
          <Button kind="quiet" isDisabled={isBusy.value} onClick={() => set(undefined)}>
            {t.passphraseRemove}
          </Button>
        </>
      )}
    </>
  )
}
