// The locked app: asks for the passphrase.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { attempt } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'
import '../welcome/welcome.css'

export function Lock() {
  const session = useSession()
  const typed = useSignal('')
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const isForgotten = useSignal(false)
  const t = texts.value.lock
  const unlock = async (): Promise<void> => {
    isBusy.value = true
    try {
      await session.client.unlock(typed.value)
    } catch (thrown) {
      error.value = explain(thrown)
    }
    isBusy.value = false
  }
  return (
    <main class="welcome">
      <h1>
        <Icon name="lock" /> {t.title}
      </h1>
      <p class="soft">{t.text}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void unlock()
        }}
      >
        <TextField
          label={t.passphrase}
          isSecret
          autocomplete="current-password"
          value={typed.value}
          onInput={(value) => {
            typed.value = value
            error.value = undefined
          }}
          error={error.value}
          hint={isBusy.value ? t.unlocking : undefined}
          autoFocus
          required
        />
        <Button kind="primary" isSubmit isBusy={isBusy.value}>
          {t.unlock}
        </Button>
      </form>
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
