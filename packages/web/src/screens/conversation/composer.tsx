// The field to write in. What is typed, and what it answers, is a draft in the store.

import { type Signal, useSignal } from '@preact/signals'
import type { Conversation, StoredMessage } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { nowMs } from '../../session/clock.ts'
import { attempt } from '../../session/notices.ts'
import { unstoredDraft, useDraft } from '../../session/use-draft.ts'
import { useSession } from '../../session/use-session.ts'
import { numberOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { EmojiCompletion } from './emoji-completion.tsx'
import { useEscape } from './escape.ts'
import { roomOf } from './message-room.ts'
import { QuoteText } from './quote.tsx'
import './composer.css'

interface ComposerProps {
  readonly conversation: Conversation
  readonly name: string
  /** The message that is being answered. */
  readonly replyTo: Signal<StoredMessage | undefined>
  /** Answers an earlier message than now (or the latest one), or a later one (or none). */
  readonly onReplyStep: (step: 'earlier' | 'later') => void
  /** A message is being sent. */
  readonly onSend: (message: Omit<StoredMessage, 'conversationId'>) => void
  /** It could not even be stored. */
  readonly onRefused: (id: string) => void
  /** Edits the last own message that can be edited. */
  readonly onEditLast: () => void
  /** A message is being edited: only a recording stays in view. */
  readonly isAside: boolean
  /** Whether the field takes the focus. It does not if the address names a message. */
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
  onReplyStep,
  onEditLast,
  isAside,
  onSend,
  onRefused,
  isFocused,
  attachments,
  voice,
}: ComposerProps) {
  const { client, organizer } = useSession()
  const { conversationId } = conversation
  const typed = useSignal(unstoredDraft(conversationId) ?? conversation.draft ?? '')
  const sending = useRef(0)
  const field = useRef<HTMLTextAreaElement>(null)
  const t = texts.value.conversation
  const answered = replyTo.value
  const isEmpty = typed.value.trim() === ''

  const room = roomOf(typed.value, answered?.id)

  const draft = useDraft({
    name: conversationId,
    text: () => typed.value,
    // What is being sent stays a draft until the message is stored, which ends it.
    store: () =>
      sending.current > 0
        ? undefined
        : organizer.set(conversationId, {
            draft: typed.value || undefined,
            draftReplyToId: replyTo.value?.id,
          }),
  })
  const wasAside = useRef(false)
  useLayoutEffect(() => {
    // On a touch screen the focus would open the keyboard over the messages.
    const isAsked = isFocused || wasAside.current
    if (isAsked && !isAside && matchMedia('(hover: hover)').matches) field.current?.focus()
    wasAside.current = isAside
  }, [isAside])
  useLayoutEffect(() => {
    if (answered?.id === conversation.draftReplyToId) return
    // While a message is being sent, its draft stays until that is done.
    if (sending.current === 0) draft.changed()
    if (answered) field.current?.focus()
  }, [answered])
  const cancelReply = (): void => {
    replyTo.value = undefined
    field.current?.focus()
  }
  useEscape(answered !== undefined && !isAside, cancelReply)

  const type = (text: string): void => {
    typed.value = text
    draft.changed()
  }
  const send = async (): Promise<void> => {
    const text = typed.value.trim()
    if (text === '' || (room ?? 0) < 0) return
    sending.current += 1
    typed.value = ''
    replyTo.value = undefined
    // The button that was pressed is removed.
    field.current?.focus()
    const id = crypto.randomUUID()
    const reply = answered ? { replyToId: answered.id } : {}
    onSend({ id, text, isMe: true, time: nowMs(), status: 'sending', ...reply })
    const options = { id, endsDraft: true, ...reply }
    const isSent = await attempt(() => client.send(conversationId, text, options))
    sending.current -= 1
    draft.changed()
    if (isSent) draft.now()
    else {
      onRefused(id)
      // What was typed meanwhile is not lost either.
      typed.value = typed.value === '' ? text : `${text}\n${typed.value}`
      replyTo.value = answered
    }
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event
    if (event.isComposing || event.defaultPrevented || shiftKey) return
    const isCommand = ctrlKey || metaKey
    if (key === 'Enter') void send()
    else if (typed.value !== '' || altKey) return
    else if (key === 'ArrowUp' && (isCommand || answered)) onReplyStep('earlier')
    else if (key === 'ArrowDown' && answered) onReplyStep('later')
    else if (key === 'ArrowUp') onEditLast()
    else return
    event.preventDefault()
  }
  return (
    // It does not wait for one message before it takes the next.
    <Form class={isAside ? 'composer composer-aside' : 'composer'} onSubmit={() => void send()}>
      {answered && (
        <div class="composer-reply">
          <div class="quote">
            <QuoteText original={answered} name={name} />
          </div>
          <IconButton icon="close" label={t.cancelReply} onClick={cancelReply} />
        </div>
      )}
      {room !== undefined && (
        <p class="composer-left small" data-full={room < 0} role="status">
          {room < 0 ? t.tooLong(numberOf(-room)) : t.roomLeft(numberOf(room))}
        </p>
      )}
      {attachments}
      <EmojiCompletion field={field} onInput={type}>
        <textarea
          ref={field}
          class="composer-field"
          aria-label={t.write}
          aria-autocomplete="list"
          placeholder={t.message}
          rows={1}
          dir="auto"
          value={typed.value}
          onInput={({ currentTarget }) => {
            type(currentTarget.value)
            void client.notifyTyping(conversationId)
          }}
          onBlur={draft.now}
          onKeyDown={onKeyDown}
        />
      </EmojiCompletion>
      {!isEmpty && (
        <IconButton icon="send" label={t.send} kind="primary" isSubmit isDisabled={(room ?? 0) < 0} />
      )}
      {voice(isEmpty)}
    </Form>
  )
}
