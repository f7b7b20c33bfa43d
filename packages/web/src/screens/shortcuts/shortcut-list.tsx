// The dialog that lists the keyboard shortcuts.
import { Dialog } from '../../parts/dialog.tsx'
import { shortcutsTexts } from '../../texts/shortcuts.ts'
import './shortcuts.css'

const isMac = /mac|iphone|ipad/iu.test(navigator.platform)

export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const t = shortcutsTexts.value
  const command = isMac ? '⌘' : 'Ctrl'
  const rows: readonly (readonly [readonly string[], string])[] = [
    [[command, 'K'], t.search],
    [['Alt', '↓'], t.next],
    [['Alt', '↑'], t.previous],
    [['Enter'], t.send],
    [['Shift', 'Enter'], t.line],
    [['↑'], t.edit],
    [[command, '↑'], t.answer],
    [[':'], t.emoji],
    [['↑', '↓'], t.messages],
    [['Home', 'End'], t.edges],
    [['Enter'], t.menu],
    [['Esc'], t.close],
    [['?'], t.list],
  ]
  return (
    <Dialog title={t.title} onClose={onClose}>
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
