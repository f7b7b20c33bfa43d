// In the place of the field to write in: the text of a message that is being edited. It is loaded with the
// first edit.
import { useSignal } from '@preact/signals'
import { ClientError, contentOf, type StoredMessage } from '@sotto/client'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { notify, notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { changesTexts } from '../../texts/changes.ts'
import { numberOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { wordsOf } from '../chats/preview.ts'
import { editDrafts, nameOf } from './edit-drafts.ts'
import { EmojiCompletion } from './emoji-completion.tsx'
import { useEscape } from './escape.ts'
import { roomOf } from './message-room.ts'
import './quote.css'

interface EditFormProps {
  /** A text. */
  readonly message: StoredMessage
  /** It is saved, or stays as it was. */
  readonly onEnd: () => void
}

export function EditForm({ message, onEnd: onEnded }: EditFormProps) {
  const session = useSession()
  const drafts = editDrafts(session.client)
  const name = nameOf(message)
  const content = contentOf(message)
  const before = content?.kind === 'text' ? content.text : ''
  const draft = drafts.get(name)
  const typed = useSignal(draft?.before === before ? draft.typed : before)
  const isSaving = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const t = { ...texts.value.conversation, ...changesTexts.value }
  const room = roomOf(typed.value, message.replyToId)
  const isEmpty = typed.value.trim() === ''

  useLayoutEffect(() => {
    const { current } = field
    current?.focus()
    current?.setSelectionRange(current.value.length, current.value.length)
  }, [])
  const onEnd = (): void => {
    drafts.delete(name)
    onEnded()
  }
  // The list of emoji is closed first.
  useEscape(true, () => {
    if (!field.current?.hasAttribute('aria-activedescendant')) onEnd()
  })

  const type = (text: string): void => {
    typed.value = text
    drafts.set(name, { message, before, typed: text })
  }
  const save = async (): Promise<void> => {
    const text = typed.value.trim()
    if (text === '' || (room ?? 0) < 0) return
    isSaving.value = true
    try {
      if (text !== before.trim())
        await (await session.later()).edits.edit(message.conversationId, message.id, text)
      onEnd()
    } catch (error) {
      // It has become too old meanwhile, or was retracted in another tab.
      if (error instanceof ClientError && ['INVALID_ARGUMENT', 'UNKNOWN_MESSAGE'].includes(error.code))
        notify(t.notEditable, { kind: 'error' })
      else notifyError(error)
    }
    isSaving.value = false
  }
  return (
    <Form class="composer" onSubmit={save}>
      <div class="composer-reply">
        <div class="quote">
          <span class="quote-name">{t.editing}</span>
          <span class="quote-text one-line">
            <bdi>{wordsOf(message, texts.value.chats)}</bdi>
          </span>
        </div>
        <IconButton icon="close" label={texts.value.common.cancel} onClick={onEnd} />
      </div>
      {room !== undefined && (
        <p class="composer-left small" data-full={room < 0} role="status">
          {room < 0 ? t.tooLong(numberOf(-room)) : t.roomLeft(numberOf(room))}
        </p>
      )}
      <EmojiCompletion field={field} onInput={type}>
        <textarea
          ref={field}
          class="composer-field"
          aria-label={t.newText}
          aria-autocomplete="list"
          rows={1}
          dir="auto"
          value={typed.value}
          readOnly={isSaving.value}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.defaultPrevented) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
        />
      </EmojiCompletion>
      <IconButton
        icon="check"
        label={texts.value.common.save}
        kind="primary"
        isSubmit
        isDisabled={isEmpty || (room ?? 0) < 0}
      />
    </Form>
  )
}
