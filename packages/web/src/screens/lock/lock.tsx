// The locked app: asks for the passphrase.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'
import '../welcome/welcome.css'

export function Lock() {
  const { client } = useSession()
  const typed = useSignal('')
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const t = texts.value.lock
  const unlock = async (): Promise<void> => {
    isBusy.value = true
    try {
      await client.unlock(typed.value)
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
    </main>
  )
}
