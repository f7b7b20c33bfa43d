// Tells screen readers of new messages, once they have finished what they say.
import type { StoredMessage } from '@sotto/client'
import { useEffect, useState } from 'preact/hooks'
import { nowMs } from '../session/clock.ts'
import { route } from '../session/route.ts'
import { useSession } from '../session/use-session.ts'
import { texts } from '../texts/texts.ts'
import { previewOf } from './chats/preview.ts'

/** Messages that come within this time are announced together. */
const ANNOUNCED_AFTER_MS = 700

export interface AnnouncerProps {
  /** The messages that came and have not been announced. */
  readonly messages: readonly StoredMessage[]
  readonly onAnnounced: () => void
}

export function Announcer({ messages, onAnnounced }: AnnouncerProps) {
  const { conversations } = useSession()
  const [said, say] = useState({ id: 0, text: '' })
  useEffect(() => {
    if (messages.length === 0) return
    const contactOf = ({ conversationId }: StoredMessage) =>
      conversations.value?.find((each) => each.conversationId === conversationId)
    const isQuiet = (message: StoredMessage): boolean =>
      message.conversationId !== route.value.path[1] && (contactOf(message)?.mutedUntil ?? 0) > nowMs()
    const announce = (): void => {
      const { chats, conversation: t } = texts.value
      const told = messages.filter((message) => !isQuiet(message))
      const [first] = told
      if (first) {
        const senders = new Set(told.map(({ conversationId }) => conversationId))
        const contact = contactOf(first)
        const words = told.length === 1 ? previewOf(first, chats) : t.newMessages(told.length)
        const isOfOne = contact && senders.size === 1
        const text = isOfOne ? `${t.from(contact.name ?? contact.nickname)} ${words}` : words
        say(({ id }) => ({ id: id + 1, text }))
      }
      onAnnounced()
    }
    const timer = setTimeout(announce, ANNOUNCED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [messages])
  // A new element each time: a screen reader says nothing where the same words are set again.
  return (
    <p class="spoken" role="status">
      <span key={said.id}>{said.text}</span>
    </p>
  )
}
