// Asks for the passphrase, if one is set, before what only the owner of an open device may do.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { PassphraseForm } from '../../parts/passphrase-form.tsx'
import { useSession } from '../../session/use-session.ts'
import { settingsTexts } from '../../texts/settings.ts'

interface PassphraseGateProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** The passphrase is asked for once, as long as the section stays open. */
export function PassphraseGate({ title, children }: PassphraseGateProps) {
  const { client, hasPassphrase } = useSession()
  const isPassed = useSignal(false)
  const t = settingsTexts.value
  if (!hasPassphrase.value || isPassed.value) return children
  const check = async (passphrase: string): Promise<void> => {
    await client.checkPassphrase(passphrase)
    isPassed.value = true
  }
  return (
    <PassphraseForm
      class="card"
      label={t.passphrase}
      hint={t.passphraseAsked}
      action={t.passphraseContinue}
      onPassphrase={check}
    >
      <h2>{title}</h2>
    </PassphraseForm>
  )
}
