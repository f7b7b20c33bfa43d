// Gives screens the session of the page.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Session } from './session.ts'

export const SessionContext = createContext<Session | undefined>(undefined)

/** The session. Only for what is shown while there is one. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('a screen was shown without a session')
  return session
}
