// Chooses any emoji to react with: from a list, by its name, or as it comes from the keyboard.
import type { StoredMessage } from '@sotto/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { notifyError } from '../../session/notices.ts'
import { changesTexts } from '../../texts/changes.ts'
import type { Emoji } from '../../texts/emoji-names.ts'
import { language } from '../../texts/texts.ts'
import { allEmoji, emojiFor, findEmoji } from './emoji-words.ts'
import './reaction-dialog.css'

/** On a touch screen the focus would open the keyboard over the list. */
const hovers = matchMedia('(hover: hover)')

/** So many are drawn; more are found by their name. */
const MAX_OFFERED = 60

interface ReactionDialogProps {
  readonly message: StoredMessage
  /** Resolves with whether the text is a reaction. */
  readonly onReact: (emoji: string) => Promise<boolean>
  readonly onClose: () => void
}

export function ReactionDialog({ message, onReact, onClose }: ReactionDialogProps) {
  const [typed, setTyped] = useState('')
  const [isRefused, setRefused] = useState(false)
  const [offered, offer] = useState<readonly Emoji[]>([])
  const form = useRef<HTMLDivElement>(null)
  const own = message.reactions?.find(({ isMe }) => isMe)?.text
  const t = changesTexts.value
  const wanted = typed.trim()
  const isName = /^[\p{L}\p{Mn}\d_+ ]+$/u.test(wanted)

  // The dialog is open already: this runs after it.
  useLayoutEffect(() => {
    if (hovers.matches) form.current?.querySelector('input')?.focus()
  }, [])
  useEffect(() => {
    let isCurrent = true
    const found = isName
      ? emojiFor(wanted).then((list) => findEmoji(list, wanted.replaceAll(' ', '_')))
      : allEmoji(language.value)
    found.then((list) => isCurrent && offer(onceEach(list).slice(0, MAX_OFFERED)), notifyError)
    return () => {
      isCurrent = false
    }
  }, [wanted, isName, language.value])

  const react = async (emoji: string): Promise<void> => {
    if (await onReact(emoji)) onClose()
    else setRefused(true)
  }
  return (
    <Dialog title={t.reactTitle} onClose={onClose}>
      <div ref={form}>
        <Form class="reaction-form" onSubmit={() => wanted !== '' && react(wanted)}>
          <TextField
            label={t.emojiOrName}
            value={typed}
            onInput={(text) => {
              setTyped(text)
              setRefused(false)
            }}
            autocomplete="off"
            error={isRefused ? t.oneEmoji : undefined}
          />
          {wanted !== '' && <SubmitButton kind="primary">{t.react}</SubmitButton>}
        </Form>
      </div>
      {isName && offered.length === 0 ? (
        <p class="soft" role="status">
          {t.noEmojiFound}
        </p>
      ) : (
        <ul class="reaction-grid" aria-label={t.list}>
          {offered.map(({ character, name }) => (
            <li key={character}>
              <button
                type="button"
                class="reaction-choice"
                title={wordsOf(name)}
                aria-label={wordsOf(name)}
                aria-pressed={character === own}
                onClick={() => react(character)}
              >
                {character}
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}

/** A list without the other names of the same emoji. */
function onceEach(list: readonly Emoji[]): readonly Emoji[] {
  return [...new Map(list.toReversed().map((each) => [each.character, each])).values()].reverse()
}

function wordsOf(name: string): string {
  return name.replaceAll('_', ' ')
}
