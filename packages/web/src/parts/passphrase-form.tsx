// Asks for the passphrase of this device.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { explain } from '../texts/explain.ts'
import { TextField } from './field.tsx'
import { Form, SubmitButton } from './form.tsx'

interface PassphraseFormProps {
  /** What stands above the field. */
  readonly children?: ComponentChildren
  readonly class?: string | undefined
  readonly label: string
  readonly hint?: string
  /** What is said instead of the hint while the passphrase is tried, which takes some seconds. */
  readonly busyHint?: string
  /** The word on the button. */
  readonly action: string
  readonly kind?: 'primary' | 'plain'
  readonly autoFocus?: boolean
  /** Tries the passphrase. What it throws is shown at the field. */
  readonly onPassphrase: (passphrase: string) => Promise<void>
}

export function PassphraseForm({
  children,
  class: className,
  label,
  hint,
  busyHint = hint,
  action,
  kind = 'plain',
  autoFocus = false,
  onPassphrase,
}: PassphraseFormProps) {
  const typed = useSignal('')
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const submit = async (): Promise<void> => {
    try {
      await onPassphrase(typed.value)
    } catch (thrown) {
      error.value = explain(thrown)
    }
  }
  return (
    <Form class={className} busy={isBusy} onSubmit={submit}>
      {children}
      <TextField
        label={label}
        isSecret
        autocomplete="current-password"
        value={typed.value}
        onInput={(value) => {
          typed.value = value
          error.value = undefined
        }}
        error={error.value}
        hint={isBusy.value ? busyHint : hint}
        autoFocus={autoFocus}
        required
      />
      <SubmitButton kind={kind}>{action}</SubmitButton>
    </Form>
  )
}
