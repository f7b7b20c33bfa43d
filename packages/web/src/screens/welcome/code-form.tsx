// A form that asks for one code or address. What is wrong with it is said until something else is typed.
import type { Signal } from '@preact/signals'
import type { ComponentChildren, ComponentProps } from 'preact'
import { TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'

type Field = Pick<
  ComponentProps<typeof TextField>,
  'label' | 'autoFocus' | 'autocomplete' | 'inputMode' | 'placeholder'
>

interface CodeFormProps extends Field {
  readonly typed: Signal<string>
  /** What is wrong with it. */
  readonly error: Signal<string | undefined>
  readonly onSubmit: () => unknown
  /** The buttons. */
  readonly children: ComponentChildren
}

export function CodeForm({ typed, error, onSubmit, children, ...field }: CodeFormProps) {
  return (
    <Form onSubmit={onSubmit}>
      <TextField
        {...field}
        value={typed.value}
        onInput={(value) => {
          typed.value = value
          error.value = undefined
        }}
        error={error.value}
        isCode
        autocapitalize="off"
        spellcheck={false}
        required
      />
      {children}
    </Form>
  )
}
