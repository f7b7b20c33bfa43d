// Form fields with their labels, hints and errors.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useFirstFocus } from './focus.ts'
import './field.css'

interface InputProps {
  readonly autocomplete?: 'off' | 'nickname' | 'current-password' | 'new-password'
  readonly maxLength?: number
  readonly required?: boolean
  readonly inputMode?: 'url' | 'numeric' | 'search'
  readonly placeholder?: string
  readonly autoFocus?: boolean
  readonly spellcheck?: boolean
  readonly autocapitalize?: 'off'
}

interface TextFieldProps extends InputProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: ComponentChildren
  /** What is wrong with the value. */
  readonly error?: string | undefined
  readonly isCode?: boolean
  /** A passphrase: shown as dots. */
  readonly isSecret?: boolean
  /** More than one line. */
  readonly rows?: number
}

export function TextField({
  label,
  value,
  onInput,
  hint,
  error,
  isCode,
  isSecret,
  rows,
  autoFocus,
  ...rest
}: TextFieldProps) {
  const id = useId()
  const input = useFirstFocus<HTMLInputElement>(autoFocus === true && rows === undefined)
  const area = useFirstFocus<HTMLTextAreaElement>(autoFocus === true && rows !== undefined)
  const noteId = `${id}-note`
  const shared = {
    id,
    class: `field-input${isCode ? ' code' : ''}`,
    value,
    dir: isCode ? 'ltr' : 'auto',
    'aria-describedby': hint || error ? noteId : undefined,
    'aria-invalid': error ? true : undefined,
  } as const
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {rows === undefined && isSecret ? (
        <input
          ref={input}
          {...shared}
          {...rest}
          type="password"
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      ) : rows === undefined ? (
        <input
          ref={input}
          {...shared}
          {...rest}
          type="text"
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      ) : (
        <textarea
          ref={area}
          {...shared}
          rows={rows}
          maxLength={rest.maxLength}
          required={rest.required}
          spellcheck={rest.spellcheck}
          autocapitalize={rest.autocapitalize}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      {(hint || error) && (
        <p id={noteId} class={error ? 'field-error' : 'field-hint'} role={error ? 'alert' : undefined}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}
