// Completes emoji while one types: `:smi` offers a list, which is loaded then.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { notifyError } from '../../session/notices.ts'
import { texts } from '../../texts/texts.ts'
import { type Emoji, findEmoji, wordAt } from './emoji-words.ts'

const MAX_OFFERED = 6

interface EmojiCompletionProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly onInput: (text: string) => void
  /** The field. */
  readonly children: ComponentChildren
}

export function EmojiCompletion({ field, onInput, children }: EmojiCompletionProps) {
  const id = useId()
  const [offered, offer] = useState<readonly Emoji[]>([])
  const [chosen, choose] = useState(0)
  const isOpen = offered.length > 0

  useEffect(() => {
    const area = field.current
    area?.setAttribute('aria-autocomplete', 'list')
    if (isOpen) {
      area?.setAttribute('aria-controls', id)
      area?.setAttribute('aria-activedescendant', `${id}-${chosen}`)
    } else {
      area?.removeAttribute('aria-controls')
      area?.removeAttribute('aria-activedescendant')
    }
  }, [isOpen, chosen])

  const look = async (): Promise<void> => {
    const area = field.current
    const word = area && wordAt(area.value, area.selectionStart)
    if (!word) return offer([])
    const { emojiList } = await import('./emoji-list.ts')
    // The list was loaded for what was typed then.
    if (wordAt(area.value, area.selectionStart) !== word) return
    choose(0)
    offer(findEmoji(emojiList, word).slice(0, MAX_OFFERED))
  }
  const take = (emoji: Emoji | undefined): void => {
    const area = field.current
    const word = area && wordAt(area.value, area.selectionStart)
    offer([])
    if (!word || !emoji) return
    const end = area.selectionStart
    area.setRangeText(emoji.character, end - word.length - 1, end, 'end')
    onInput(area.value)
    area.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen || event.isComposing) return
    const { length } = offered
    if (event.key === 'ArrowDown') choose((chosen + 1) % length)
    else if (event.key === 'ArrowUp') choose((chosen + length - 1) % length)
    else if (event.key === 'Enter' || event.key === 'Tab') take(offered[chosen])
    else if (event.key === 'Escape') offer([])
    else return
    event.preventDefault()
  }
  return (
    <div
      class="composer-frame"
      onKeyDownCapture={onKeyDown}
      onInput={() => void look().catch(notifyError)}
      onBlurCapture={() => offer([])}
    >
      {isOpen && (
        <div
          id={id}
          class="emoji-list"
          role="listbox"
          tabIndex={-1}
          aria-label={texts.value.conversation.emoji}
        >
          {offered.map((emoji, at) => (
            <div
              key={emoji.name}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              class="emoji-option"
              aria-selected={at === chosen}
              // The field keeps the focus.
              onPointerDown={(event) => {
                event.preventDefault()
                take(emoji)
              }}
            >
              <span aria-hidden="true">{emoji.character}</span>
              <span class="code small">:{emoji.name}:</span>
            </div>
          ))}
        </div>
      )}
      {children}
    </div>
  )
}
