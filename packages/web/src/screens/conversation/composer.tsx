// The field to write in. What is typed is a draft in the store, so a reload or a crash loses nothing.

import { type Signal, useSignal } from '@preact/signals'
import type { Conversation, StoredMessage } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { attempt, notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { EmojiCompletion } from './emoji-completion.tsx'
import { useEscape } from './escape.ts'
import { QuoteText } from './quote.tsx'

/** A draft is stored when nothing was typed for this long, and when the field loses the focus. */
const STORED_AFTER_MS = 300

interface ComposerProps {
  readonly conversation: Conversation
  readonly name: string
  /** The message that is being answered. */
  readonly replyTo: Signal<StoredMessage | undefined>
  readonly onSent: () => void
  /** Whether one came to write, and not to a message. */
  readonly isFocused: boolean
  /** What can be sent besides text, before the field. */
  readonly attachments?: ComponentChildren
  /** What stands in the place of the button that sends while nothing is typed. */
  readonly voice: (isEmpty: boolean) => ComponentChildren
}

export function Composer({
  conversation,
  name,
  replyTo,
  onSent,
  isFocused,
  attachments,
  voice,
}: ComposerProps) {
  const { client, organizer } = useSession()
  const { conversationId } = conversation
  const typed = useSignal(conversation.draft ?? '')
  const stored = useRef(typed.value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const field = useRef<HTMLTextAreaElement>(null)
  const t = texts.value.conversation
  const answered = replyTo.value
  const isEmpty = typed.value.trim() === ''

  const store = (): void => {
    clearTimeout(timer.current)
    if (typed.value === stored.current) return
    stored.current = typed.value
    organizer.set(conversationId, { draft: typed.value || undefined }).catch(notifyError)
  }
  useEffect(() => {
    // Before the page is unloaded there is time for the store; when it is hidden for good there may be none.
    addEventListener('beforeunload', store)
    addEventListener('pagehide', store)
    return () => {
      removeEventListener('beforeunload', store)
      removeEventListener('pagehide', store)
      store()
    }
  }, [])
  useEffect(() => {
    // On a touch screen the focus would open the keyboard over what one came to read.
    if (isFocused && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [])
  useEffect(() => {
    if (answered) field.current?.focus()
  }, [answered])
  const cancelReply = (): void => {
    replyTo.value = undefined
    field.current?.focus()
  }
  useEscape(answered !== undefined, cancelReply)

  const type = (text: string): void => {
    typed.value = text
    clearTimeout(timer.current)
    timer.current = setTimeout(store, STORED_AFTER_MS)
  }
  const send = async (): Promise<void> => {
    const text = typed.value.trim()
    if (text === '') return
    typed.value = ''
    replyTo.value = undefined
    // The button that was pressed is not there any more.
    field.current?.focus()
    const options = answered ? { replyToId: answered.id } : {}
    if (await attempt(() => client.send(conversationId, text, options))) {
      store()
      onSent()
    } else {
      // What was typed meanwhile is not lost either.
      typed.value = typed.value === '' ? text : `${text}\n${typed.value}`
      replyTo.value = answered
    }
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {answered && (
        <div class="composer-reply">
          <div class="quote">
            <QuoteText original={answered} name={name} />
          </div>
          <IconButton icon="close" label={t.cancelReply} onClick={cancelReply} />
        </div>
      )}
      {attachments}
      <EmojiCompletion field={field} onInput={type}>
        <textarea
          ref={field}
          class="composer-field"
          aria-label={t.write}
          placeholder={t.message}
          rows={1}
          dir="auto"
          value={typed.value}
          onInput={({ currentTarget }) => {
            type(currentTarget.value)
            void client.notifyTyping(conversationId)
          }}
          onBlur={store}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.defaultPrevented) return
            event.preventDefault()
            void send()
          }}
        />
      </EmojiCompletion>
      {!isEmpty && <IconButton icon="send" label={t.send} kind="primary" isSubmit />}
      {voice(isEmpty)}
    </form>
  )
}
