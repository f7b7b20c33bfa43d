// The user's own name for a contact.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { texts } from '../../texts/texts.ts'

const MAX_CHARACTERS = 100

interface NameFormProps {
  readonly name: string
  readonly nickname: string
  readonly onSave: (name: string) => void
}

export function NameForm({ name, nickname, onSave }: NameFormProps) {
  const typed = useSignal(name)
  const t = texts.value
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(typed.value)
      }}
    >
      <TextField
        label={t.contacts.nameLabel}
        value={typed.value}
        onInput={(value) => (typed.value = value)}
        hint={t.contacts.nameHint(nickname)}
        autocomplete="off"
        maxLength={MAX_CHARACTERS}
      />
      {typed.value.trim() !== name && <Button isSubmit>{t.common.save}</Button>}
    </form>
  )
}
