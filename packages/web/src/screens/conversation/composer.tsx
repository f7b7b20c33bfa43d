// The field to write in. What is typed is a draft in the store, so a reload or a crash loses nothing.

import { useSignal } from '@preact/signals'
import type { Conversation } from '@sotto/client'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { attempt, notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'

/** A draft is stored when nothing was typed for this long, and when the field loses the focus. */
const STORED_AFTER_MS = 300

export function Composer({ conversation }: { readonly conversation: Conversation }) {
  const { client, organizer } = useSession()
  const { conversationId } = conversation
  const typed = useSignal(conversation.draft ?? '')
  const stored = useRef(typed.value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const t = texts.value.conversation

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

  const send = async (): Promise<void> => {
    const text = typed.value.trim()
    if (text === '') return
    typed.value = ''
    if (await attempt(() => client.send(conversationId, text))) store()
    else if (typed.value === '') typed.value = text
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        class="composer-field"
        aria-label={t.write}
        placeholder={t.message}
        rows={1}
        dir="auto"
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          clearTimeout(timer.current)
          timer.current = setTimeout(store, STORED_AFTER_MS)
          void client.notifyTyping(conversationId)
        }}
        onBlur={store}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <IconButton icon="send" label={t.send} kind="primary" isSubmit isDisabled={typed.value.trim() === ''} />
    </form>
  )
}
