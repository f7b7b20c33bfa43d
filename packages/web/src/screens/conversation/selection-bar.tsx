// The header while messages are being selected: how many, and what to do with them.
import { IconButton } from '../../parts/button.tsx'
import { texts } from '../../texts/texts.ts'

interface SelectionBarProps {
  readonly count: number
  readonly onCopy: () => void
  readonly onForward: () => void
  readonly onRemove: () => void
}

/** Its title: how many are selected. */
export function SelectionTitle({ count, onEnd }: { readonly count: number; readonly onEnd: () => void }) {
  const t = texts.value
  return (
    <div class="selection-title">
      <IconButton icon="close" label={t.common.cancel} onClick={onEnd} />
      <h1 aria-live="polite">{t.conversation.selected(count)}</h1>
    </div>
  )
}

export function SelectionBar({ count, onCopy, onForward, onRemove }: SelectionBarProps) {
  const t = texts.value
  const isDisabled = count === 0
  return (
    <>
      <IconButton icon="copy" label={t.common.copy} isDisabled={isDisabled} onClick={onCopy} />
      <IconButton icon="forward" label={t.conversation.forward} isDisabled={isDisabled} onClick={onForward} />
      <IconButton icon="trash" label={t.conversation.removeHere} isDisabled={isDisabled} onClick={onRemove} />
    </>
  )
}
