// A field to search in. What is typed counts once the user pauses.
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import './search-field.css'

const PAUSE_MS = 250

interface SearchFieldProps {
  /** What is searched, for screen readers and in the empty field. */
  readonly label: string
  /** Called with what was typed, without spaces around it, after each pause. */
  readonly onSearch: (query: string) => void
  readonly maxLength?: number
  /** Names of the relay: written from left to right, without corrections. */
  readonly isCode?: boolean
}

export function SearchField({ label, onSearch, maxLength = 200, isCode = false }: SearchFieldProps) {
  const [typed, type] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => onSearch(typed.trim()), typed === '' ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class="search-field">
      <Icon name="search" />
      <input
        type="text"
        inputMode="search"
        class={`search-field-input${isCode && typed ? ' code' : ''}`}
        aria-label={label}
        placeholder={label}
        // The words in the empty field follow the language of the app.
        dir={typed ? 'auto' : undefined}
        value={typed}
        maxLength={maxLength}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || typed === '') return
          event.preventDefault()
          type('')
        }}
      />
      {typed !== '' && <IconButton icon="close" label={texts.value.common.clear} onClick={() => type('')} />}
    </search>
  )
}
