// The locked app: asks for the passphrase.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PassphraseForm } from '../../parts/passphrase-form.tsx'
import { attempt } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { lockTexts } from '../../texts/lock.ts'
import '../welcome/welcome.css'

export function Lock() {
  const session = useSession()
  const isForgotten = useSignal(false)
  const t = lockTexts.value
  return (
    <main class="welcome">
      <h1>
        <Icon name="lock" /> {t.title}
      </h1>
      <p class="soft">{t.text}</p>
      <PassphraseForm
        label={t.passphrase}
        busyHint={t.unlocking}
        action={t.unlock}
        kind="primary"
        autoFocus
        onPassphrase={(passphrase) => session.client.unlock(passphrase)}
      />
      <Button kind="quiet" onClick={() => (isForgotten.value = true)}>
        {t.forgotten}
      </Button>
      {isForgotten.value && (
        <Confirm
          title={t.forgottenTitle}
          text={t.forgottenText}
          action={t.forgottenDo}
          isDangerous
          onConfirm={() => attempt(() => session.eraseLocked())}
          onClose={() => (isForgotten.value = false)}
        />
      )}
    </main>
  )
}
