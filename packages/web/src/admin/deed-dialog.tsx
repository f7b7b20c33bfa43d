// Asks before a deed of the operator: says what will happen, and takes the reason, which is recorded.
import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Form, SubmitButton } from '../parts/form.tsx'
import { useIsShown } from '../parts/use-is-shown.ts'
import { adminDeedTexts } from '../texts/admin-deeds.ts'
import { texts } from '../texts/texts.ts'
import { explain } from './explain.ts'

/** A deed, before it is done. */
export interface Deed {
  readonly title: string
  /** What will happen. */
  readonly text: string
  /** The word on the button that does it. */
  readonly action: string
  readonly isDangerous?: boolean
  /** What else is recorded, such as the number of a transfer. */
  readonly reference?: { readonly label: string; readonly isNeeded: boolean }
  /** Does it. `reference` is empty if nothing was entered. */
  readonly run: (why: string, reference: string) => Promise<unknown>
}

interface DeedDialogProps {
  readonly deed: Deed
  /** Called after it was done, also if the operator has left the dialog before. */
  readonly onDone: () => void
  readonly onClose: () => void
}

export function DeedDialog({ deed, onDone, onClose }: DeedDialogProps) {
  const { title, text, action, isDangerous, reference, run } = deed
  const t = adminDeedTexts.value
  const [why, setWhy] = useState('')
  const [given, giveReference] = useState('')
  const [failure, fail] = useState<unknown>()
  const isShown = useIsShown()
  const submit = async (): Promise<void> => {
    try {
      await run(why.trim(), given.trim())
      if (isShown()) onClose()
      onDone()
    } catch (error) {
      fail(error)
    }
  }
  return (
    <Dialog title={title} onClose={onClose} isModal>
      <Form class="deed-form" onSubmit={submit}>
        <p>{text}</p>
        {reference && (
          <TextField
            label={reference.label}
            value={given}
            onInput={giveReference}
            required={reference.isNeeded}
            maxLength={200}
            autocomplete="off"
            isCode
          />
        )}
        <TextField
          label={t.why}
          hint={t.whyHint}
          value={why}
          onInput={setWhy}
          required
          maxLength={500}
          autocomplete="off"
          error={failure === undefined ? undefined : explain(failure)}
        />
        <footer class="dialog-actions">
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <SubmitButton kind={isDangerous ? 'danger' : 'primary'}>{action}</SubmitButton>
        </footer>
      </Form>
    </Dialog>
  )
}
