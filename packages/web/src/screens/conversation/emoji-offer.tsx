// The list of emoji that complete the word before the caret. It is loaded when such a word is begun.
import type { RefObject } from 'preact'
import { useId, useLayoutEffect, useState } from 'preact/hooks'
import { notifyError } from '../../session/notices.ts'
import type { Emoji } from '../../texts/emoji-names.ts'
import { texts } from '../../texts/texts.ts'
import { emojiFor, findEmoji, wordAt } from './emoji-words.ts'
import './emoji-offer.css'

const MAX_OFFERED = 6

interface EmojiOfferProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly onInput: (text: string) => void
}

export function EmojiOffer({ field, onInput }: EmojiOfferProps) {
  const id = useId()
  const [offered, offer] = useState<readonly Emoji[]>([])
  const [chosen, choose] = useState(0)
  const isOpen = offered.length > 0

  const look = async (): Promise<void> => {
    const area = field.current
    const word = area && wordAt(area.value, area.selectionStart)
    if (!word) return offer([])
    const list = await emojiFor(word)
    // The list was loaded because of what is typed already.
    if (wordAt(area.value, area.selectionStart) !== word) return
    choose(0)
    offer(findEmoji(list, word).slice(0, MAX_OFFERED))
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

  useLayoutEffect(() => {
    const area = field.current
    if (isOpen) {
      area?.setAttribute('aria-controls', id)
      area?.setAttribute('aria-activedescendant', `${id}-${chosen}`)
    } else {
      area?.removeAttribute('aria-controls')
      area?.removeAttribute('aria-activedescendant')
    }
  }, [isOpen, chosen])
  useLayoutEffect(() => {
    const area = field.current
    const lookNow = (): void => void look().catch(notifyError)
    const close = (): void => offer([])
    // A word may be there already.
    lookNow()
    area?.addEventListener('input', lookNow)
    area?.addEventListener('blur', close)
    return () => {
      area?.removeEventListener('input', lookNow)
      area?.removeEventListener('blur', close)
    }
  }, [])
  useLayoutEffect(() => {
    // The list handles keys before the field does, from the moment it is seen.
    const frame = field.current?.parentElement
    frame?.addEventListener('keydown', onKeyDown, { capture: true })
    return () => frame?.removeEventListener('keydown', onKeyDown, { capture: true })
  })
  if (!isOpen) return null
  return (
    <div id={id} class="emoji-list" role="listbox" tabIndex={-1} aria-label={texts.value.conversation.emoji}>
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
          <bdi class="small">:{emoji.name}:</bdi>
        </div>
      ))}
    </div>
  )
}
