// Asks which relay to use, when the app is not served by one.
import { useSignal } from '@preact/signals'
import { SubmitButton } from '../../parts/form.tsx'
import { isRelay } from '../../session/relay-address.ts'
import { relayUrlOf } from '../../session/relay-url.ts'
import { texts } from '../../texts/texts.ts'
import { CodeForm } from './code-form.tsx'
import './welcome.css'

interface RelayChoiceProps {
  /** An address from a link, to be confirmed by the user. */
  readonly proposed: string
  readonly onChoose: (relayUrl: string) => void
}

export function RelayChoice({ proposed, onChoose }: RelayChoiceProps) {
  const typed = useSignal(proposed)
  const error = useSignal<string | undefined>(undefined)
  const t = texts.value.welcome
  const submit = async (): Promise<void> => {
    const url = relayUrlOf(typed.value)
    if (url !== undefined && (await isRelay(url))) onChoose(url)
    else error.value = t.relayNone
  }
  return (
    <main class="welcome">
      <h1>{t.relayTitle}</h1>
      <p class="soft">{t.relayText}</p>
      <CodeForm
        label={t.relayLabel}
        typed={typed}
        error={error}
        inputMode="url"
        placeholder="relay.example"
        onSubmit={submit}
      >
        <SubmitButton kind="primary">{t.goOn}</SubmitButton>
      </CodeForm>
    </main>
  )
}
