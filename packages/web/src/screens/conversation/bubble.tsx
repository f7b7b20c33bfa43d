// One message.
import { contentOf, type StoredMessage } from '@sotto/client'
import { StatusMark } from '../../parts/status-mark.tsx'
import { timeOfDay } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'

interface BubbleProps {
  readonly message: StoredMessage
  readonly name: string
  /** The first of a group: it stands a little apart. */
  readonly isFirst: boolean
}

export function Bubble({ message, name, isFirst }: BubbleProps) {
  const { isMe, retracted, time, status } = message
  const t = texts.value.conversation
  const content = contentOf(message)
  return (
    <article class="bubble" data-own={isMe} data-first={isFirst}>
      <span class="spoken">{isMe ? t.fromMe : t.from(name)}</span>
      {retracted ? (
        <p class="bubble-gone">{t.retracted}</p>
      ) : content?.kind === 'text' ? (
        <p class="bubble-text" dir="auto">
          {content.text}
        </p>
      ) : (
        <p class="bubble-gone">{content ? texts.value.chats[content.kind] : t.undecryptable}</p>
      )}
      <footer class="bubble-end">
        <time class="number">{timeOfDay(time)}</time>
        {isMe && !retracted && <StatusMark status={status} />}
      </footer>
    </article>
  )
}
