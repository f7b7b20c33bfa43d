// Leads to the end of the messages, and says how many have come there.
import { Badge } from '../../parts/badge.tsx'
import { IconButton } from '../../parts/button.tsx'
import { texts } from '../../texts/texts.ts'

export function ToEnd({ count, onClick }: { readonly count: number; readonly onClick: () => void }) {
  const t = texts.value
  return (
    <div class="messages-to-end">
      <IconButton icon="arrowDown" label={t.conversation.toEnd} onClick={onClick} />
      {count > 0 && <Badge count={count} label={t.conversation.newMessages(count)} />}
    </div>
  )
}
