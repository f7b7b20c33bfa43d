// The keyboard shortcuts of the whole app, and the dialog that lists them.
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { go, href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import './shortcuts.css'

const isMac = /mac|iphone|ipad/iu.test(navigator.platform)

export function Shortcuts() {
  const session = useSession()
  const [isListed, setListed] = useState(false)

  useEffect(() => {
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

  if (!isListed) return null
  const t = texts.value.shortcuts
  const command = isMac ? '⌘' : 'Ctrl'
  const rows: readonly (readonly [readonly string[], string])[] = [
    [[command, 'K'], t.search],
    [['Alt', '↓'], t.next],
    [['Alt', '↑'], t.previous],
    [['Enter'], t.send],
    [['Shift', 'Enter'], t.line],
    [[':'], t.emoji],
    [['↑', '↓'], t.messages],
    [['Home', 'End'], t.edges],
    [['Enter'], t.menu],
    [['Esc'], t.close],
    [['?'], t.list],
  ]
  return (
    <Dialog title={t.title} onClose={() => setListed(false)}>
      <dl class="shortcuts">
        {rows.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** Whether keys are text where the focus is. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}
