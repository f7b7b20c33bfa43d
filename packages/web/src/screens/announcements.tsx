// Collects what screen readers are told of: messages, and what is changed of them.
import { useLayoutEffect, useState } from 'preact/hooks'
import { lazy } from '../parts/lazy.tsx'
import { useSession } from '../session/use-session.ts'
import type { AnnouncerProps } from './announcer.tsx'
import type { Heard } from './spoken.ts'

const Announcer = lazy<AnnouncerProps>(
  async () => (await import('./announcer.tsx')).Announcer,
  () => null,
)

/** Tells screen readers of messages and their changes. What tells them is loaded with the first one. */
export function Announcements() {
  const { client } = useSession()
  const [heard, setHeard] = useState<readonly Heard[]>([])
  const [isWanted, setWanted] = useState(false)
  // Before the first frame, so that nothing is missed.
  useLayoutEffect(() => {
    const stops = (['message', 'edited', 'reacted'] as const).map((event) =>
      client.on(event, (message) => {
        setWanted(true)
        setHeard((others) => [...others, { event, message }])
      }),
    )
    return () => {
      for (const stop of stops) stop()
    }
  }, [client])
  return isWanted ? <Announcer heard={heard} onAnnounced={() => setHeard([])} /> : null
}
