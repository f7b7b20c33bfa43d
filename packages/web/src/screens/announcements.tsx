// Collects the messages that screen readers are told of.
import type { StoredMessage } from '@sotto/client'
import { useLayoutEffect, useState } from 'preact/hooks'
import { lazy } from '../parts/lazy.tsx'
import { useSession } from '../session/use-session.ts'
import type { AnnouncerProps } from './announcer.tsx'

const Announcer = lazy<AnnouncerProps>(
  async () => (await import('./announcer.tsx')).Announcer,
  () => null,
)

/** Tells screen readers of messages. What tells them is loaded with the first one. */
export function Announcements() {
  const { client } = useSession()
  const [messages, setMessages] = useState<readonly StoredMessage[]>([])
  const [isWanted, setWanted] = useState(false)
  // Before the first frame, so that nothing is missed.
  useLayoutEffect(
    () =>
      client.on('message', (message) => {
        setWanted(true)
        setMessages((others) => [...others, message])
      }),
    [client],
  )
  return isWanted ? <Announcer messages={messages} onAnnounced={() => setMessages([])} /> : null
}
