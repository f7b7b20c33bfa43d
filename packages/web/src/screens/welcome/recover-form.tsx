// Asks for the recovery phrase of an account.
import type { Signal } from '@preact/signals'
import { normalizeMnemonic, validateMnemonic } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { texts } from '../../texts/texts.ts'

interface RecoverFormProps {
  readonly phrase: Signal<string>
  readonly error: string | undefined
  readonly onBack: () => void
  readonly onSubmit: () => void
}

export function RecoverForm({ phrase, error, onBack, onSubmit }: RecoverFormProps) {
  const t = texts.value.welcome
  const words = normalizeMnemonic(phrase.value).split(' ').filter(Boolean)
  const isWrong = words.length >= 12 && !validateMnemonic(phrase.value)
  return (
    <main class="welcome">
      <h1>{t.recoverTitle}</h1>
      <p class="soft">{t.recoverText}</p>
      <Form onSubmit={onSubmit}>
        <TextField
          label={t.phraseLabel}
          value={phrase.value}
          onInput={(value) => (phrase.value = value)}
          error={error ?? (isWrong ? texts.value.errors.codes.INVALID_PHRASE : undefined)}
          isCode
          rows={4}
          autoFocus
          autocapitalize="off"
          spellcheck={false}
          required
        />
        <div class="welcome-buttons">
          <Button onClick={onBack}>{texts.value.common.back}</Button>
          <SubmitButton kind="primary" isDisabled={!validateMnemonic(phrase.value)}>
            {t.recoverDo}
          </SubmitButton>
        </div>
      </Form>
    </main>
  )
}
