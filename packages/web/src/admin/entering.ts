// Begins a session with the link in the address, at the start and whenever somebody opens another link in the
// same tab.
import { effect, signal, untracked } from '@preact/signals'
import { go, href, route } from '../session/route.ts'
import { ask, beginSession, session } from './relay-commands.ts'

/** Whether the latest link was not good any more. */
export const isLinkBad = signal(false)

/** Follows the address from now on. */
export function followLinks(): void {
  const isLink = route.peek().path[0] === 'open'
  if (!isLink) void enter(undefined)
  effect(() => {
    const [first, secret = ''] = route.value.path
    if (first === 'open') untracked(() => void enter(secret))
  })
}

async function enter(secret: string | undefined): Promise<void> {
  // The secret stays neither in the address nor in the history.
  if (secret !== undefined) go(href('status'), { replace: true })
  try {
    isLinkBad.value = secret !== undefined && !(await beginSession(secret))
    // An earlier session may still be good.
    if (session.peek() !== 'open') await ask('status')
  } catch {
    session.value = 'none'
  }
}
