// What a message says, by its kind.
import { contentOf, type StoredMessage } from '@sotto/client'
import { lazy } from '../../parts/lazy.tsx'
import { texts } from '../../texts/texts.ts'
import type { BubbleActions } from './bubble-actions.ts'
import { MediaFrame } from './media/media-frame.tsx'
import { MessageText } from './message-text.tsx'

const MediaContent = lazy(async () => (await import('./media/media-content.tsx')).MediaContent, MediaFrame)

interface ContentProps {
  readonly message: StoredMessage
  readonly isFocusable: boolean
  readonly actions: Pick<BubbleActions, 'onMisleadingLink'>
}

export function Content({ message, isFocusable, actions }: ContentProps) {
  const t = texts.value.conversation
  if (message.retracted) return <p class="bubble-gone">{t.retracted}</p>
  const content = contentOf(message)
  if (!content)
    return <p class="bubble-gone">{message.msgType === 'unknown' ? t.needsNewer : t.undecryptable}</p>
  const words = (text: string) => (
    <MessageText text={text} isFocusable={isFocusable} onMisleadingLink={actions.onMisleadingLink} />
  )
  switch (content.kind) {
    case 'text':
      return words(content.text)
    default:
      return (
        <>
          <MediaContent key={content.mediaKey} message={message} isFocusable={isFocusable} />
          {'words' in content && content.words !== undefined && words(content.words)}
        </>
      )
  }
}
