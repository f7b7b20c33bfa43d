// The keyboard shortcuts of the whole app.
import { useLayoutEffect, useState } from 'preact/hooks'
import { lazy } from '../../parts/lazy.tsx'
import { go, href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'

const ShortcutList = lazy(
  async () => (await import('./shortcut-list.tsx')).ShortcutList,
  () => null,
)

export function Shortcuts() {
  const session = useSession()
  const [isListed, setListed] = useState(false)

  useLayoutEffect(() => {
    const step = (by: 1 | -1): void => {
      const list = (session.conversations.value ?? []).filter(({ archived }) => !archived)
      const at = list.findIndex(({ conversationId }) => conversationId === route.value.path[1])
      const next = at < 0 ? list.at(by === 1 ? 0 : -1) : list[at + by]
      if (next) go(href('chats', next.conversationId))
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const { key, altKey, ctrlKey, metaKey } = event
      const hasCommand = ctrlKey !== metaKey && !altKey
      if (hasCommand && !event.shiftKey && key.toLowerCase() === 'k') go(href('search'))
      else if (altKey && !ctrlKey && !metaKey && (key === 'ArrowDown' || key === 'ArrowUp'))
        step(key === 'ArrowDown' ? 1 : -1)
      else if (key === '?' && !altKey && !ctrlKey && !metaKey && !isTyping(event.target)) setListed(true)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  return isListed ? <ShortcutList onClose={() => setListed(false)} /> : null
}

/** Whether keys are text where the focus is. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}
