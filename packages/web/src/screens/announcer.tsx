// Tells screen readers of new messages, and of what is changed of messages, once they have finished what they
// say.
import { useEffect, useState } from 'preact/hooks'
import { nowMs } from '../session/clock.ts'
import { route } from '../session/route.ts'
import { useSession } from '../session/use-session.ts'
import { type Heard, spoken } from './spoken.ts'

/** What comes within this time is announced together. */
const ANNOUNCED_AFTER_MS = 700

export interface AnnouncerProps {
  /** What came and has not been announced. */
  readonly heard: readonly Heard[]
  readonly onAnnounced: () => void
}

export function Announcer({ heard, onAnnounced }: AnnouncerProps) {
  const { conversations } = useSession()
  const [said, say] = useState({ id: 0, text: '' })
  useEffect(() => {
    if (heard.length === 0) return
    const announce = (): void => {
      const text = spoken(heard, {
        conversations: conversations.value ?? [],
        opened: route.value.path[1],
        nowMs: nowMs(),
      })
      if (text !== '') say(({ id }) => ({ id: id + 1, text }))
      onAnnounced()
    }
    const timer = setTimeout(announce, ANNOUNCED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [heard])
  // A new element each time: a screen reader says nothing where the same words are set again.
  return (
    <p class="spoken" role="status">
      <span key={said.id}>{said.text}</span>
    </p>
  )
}
