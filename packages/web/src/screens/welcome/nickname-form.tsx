// Asks for the nickname of a new account.
import type { Signal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { texts } from '../../texts/texts.ts'

interface NicknameFormProps {
  readonly nickname: Signal<string>
  readonly error: string | undefined
  readonly onBack: () => void
  readonly onSubmit: () => void
}

export function NicknameForm({ nickname, error, onBack, onSubmit }: NicknameFormProps) {
  const t = texts.value.welcome
  return (
    <main class="welcome">
      <h1>{t.nicknameTitle}</h1>
      <Form onSubmit={onSubmit}>
        <TextField
          label={t.nicknameLabel}
          value={nickname.value}
          onInput={(value) => (nickname.value = value)}
          hint={t.nicknameHint}
          error={error}
          maxLength={64}
          autocomplete="nickname"
          autoFocus
          required
        />
        <div class="welcome-buttons">
          <Button onClick={onBack}>{texts.value.common.back}</Button>
          <SubmitButton kind="primary" isDisabled={nickname.value.trim() === ''}>
            {t.create}
          </SubmitButton>
        </div>
      </Form>
    </main>
  )
}
