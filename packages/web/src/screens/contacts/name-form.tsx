// The user's own name for a contact.
import { useSignal } from '@preact/signals'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { contactsTexts } from '../../texts/contacts.ts'
import { texts } from '../../texts/texts.ts'

const MAX_CHARACTERS = 100

interface NameFormProps {
  readonly name: string
  /** What is shown without it. */
  readonly otherwise: string
  readonly onSave: (name: string) => Promise<void>
}

export function NameForm({ name, otherwise, onSave }: NameFormProps) {
  const typed = useSignal(name)
  const t = texts.value
  return (
    <Form class="card" onSubmit={() => onSave(typed.value)}>
      <TextField
        label={contactsTexts.value.nameLabel}
        value={typed.value}
        onInput={(value) => (typed.value = value)}
        hint={contactsTexts.value.nameHint(otherwise)}
        autocomplete="off"
        maxLength={MAX_CHARACTERS}
      />
      {typed.value.trim() !== name && <SubmitButton>{t.common.save}</SubmitButton>}
    </Form>
  )
}
