// Completes emoji while the user types: `:smi` offers a list, which is loaded then.
import type { ComponentChildren, RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { lazy } from '../../parts/lazy.tsx'

const EmojiOffer = lazy(
  async () => (await import('./emoji-offer.tsx')).EmojiOffer,
  () => null,
)

interface EmojiCompletionProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly onInput: (text: string) => void
  /** The field. */
  readonly children: ComponentChildren
}

export function EmojiCompletion({ field, onInput, children }: EmojiCompletionProps) {
  const [isWanted, want] = useState(false)
  return (
    <div class="composer-frame" onInput={() => field.current?.value.includes(':') && want(true)}>
      {isWanted && <EmojiOffer field={field} onInput={onInput} />}
      {children}
    </div>
  )
}
