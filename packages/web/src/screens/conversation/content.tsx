// What a message says, by its kind.
import { contentOf, type StoredMessage } from '@sotto/client'
import { texts } from '../../texts/texts.ts'
import type { BubbleActions } from './bubble-actions.ts'
import { MessageText } from './message-text.tsx'

interface ContentProps {
  readonly message: StoredMessage
  readonly isFocusable: boolean
  readonly actions: Pick<BubbleActions, 'onMisleadingLink'>
}

export function Content({ message, isFocusable, actions }: ContentProps) {
  const t = texts.value.conversation
  if (message.retracted) return <p class="bubble-gone">{t.retracted}</p>
  const content = contentOf(message)
  if (!content) return <p class="bubble-gone">{t.undecryptable}</p>
  switch (content.kind) {
    case 'text':
      return (
        <MessageText
          text={content.text}
          isFocusable={isFocusable}
          onMisleadingLink={actions.onMisleadingLink}
        />
      )
    default:
      return <p class="bubble-gone">{texts.value.chats[content.kind]}</p>
  }
}
