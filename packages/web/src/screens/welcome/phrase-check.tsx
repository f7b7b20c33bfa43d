// Asks for three of the twelve words.
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { texts } from '../../texts/texts.ts'

interface PhraseCheckProps {
  readonly words: readonly string[]
  readonly onBack: () => void
  readonly onDone: () => void
}

export function PhraseCheck({ words, onBack, onDone }: PhraseCheckProps) {
  const asked = useMemo(() => threeOf(words.length), [words])
  const typed = useSignal<readonly string[]>(asked.map(() => ''))
  const isChecked = useSignal(false)
  const t = texts.value.welcome
  const isRight = (at: number): boolean => typed.value[at]?.trim().toLowerCase() === words[asked[at] ?? 0]
  const check = (): void => {
    isChecked.value = true
    if (asked.every((_, at) => isRight(at))) onDone()
  }
  return (
    <main class="welcome">
      <h1>{t.confirmTitle}</h1>
      <p class="soft">{t.confirmText}</p>
      <Form onSubmit={check}>
        {asked.map((number, at) => (
          <TextField
            key={number}
            label={t.confirmWord(number + 1)}
            value={typed.value[at] ?? ''}
            onInput={(value) => {
              isChecked.value = false
              typed.value = typed.value.with(at, value)
            }}
            error={isChecked.value && !isRight(at) ? t.confirmWrong : undefined}
            isCode
            autoFocus={at === 0}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            required
          />
        ))}
        <div class="welcome-buttons">
          <Button onClick={onBack}>{t.showAgain}</Button>
          <SubmitButton kind="primary">{t.confirmDo}</SubmitButton>
        </div>
      </Form>
    </main>
  )
}

/** Three different places, in order, by chance. */
function threeOf(count: number): readonly number[] {
  const random = crypto.getRandomValues(new Uint32Array(count))
  return Array.from({ length: count }, (_, at) => at)
    .sort((a, b) => (random[a] ?? 0) - (random[b] ?? 0))
    .slice(0, 3)
    .sort((a, b) => a - b)
}
