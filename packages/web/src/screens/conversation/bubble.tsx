// One message: whom it answers, what it says, when, and how far it has come.
import type { StoredMessage } from '@sotto/client'
import { useState } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { useContextMenu } from '../../parts/context-menu.ts'
import { StatusMark } from '../../parts/status-mark.tsx'
import { fullTime, timeOfDay } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { previewOf } from '../chats/preview.ts'
import type { BubbleActions } from './bubble-actions.ts'
import { Content } from './content.tsx'
import { Quote } from './quote.tsx'
import { ReactionList, reactionWords } from './reaction-list.tsx'
import './bubble.css'

interface BubbleProps {
  readonly message: StoredMessage
  readonly name: string
  /** The first of a group: it stands a little apart. */
  readonly isFirst: boolean
  /** It can be reached by Tab, and so can what is in it. */
  readonly isFocusable: boolean
  readonly isHighlighted: boolean
  /** Whether it is selected; undefined while nothing is being selected. */
  readonly isSelected: boolean | undefined
  readonly actions: BubbleActions
}

export function Bubble(props: BubbleProps) {
  const { message, name, isFirst, isFocusable, isHighlighted, isSelected, actions } = props
  const { isMe, retracted, time, status, editedAt } = message
  const t = texts.value.conversation
  const isSelecting = isSelected !== undefined
  const select = (): void => actions.onSelect(message)
  const contextMenu = useContextMenu((place) => actions.onMenu(message, place))
  const buttons = useReach()
  return (
    <div
      class="bubble-row"
      data-own={isMe}
      data-first={isFirst}
      data-selected={isSelected}
      onPointerMove={buttons.reach}
      onFocusCapture={buttons.reach}
    >
      {isSelecting && (
        <input
          type="checkbox"
          class="bubble-check"
          checked={isSelected}
          aria-label={t.select}
          onChange={select}
        />
      )}
      <article
        class="bubble"
        data-own={isMe}
        data-first={isFirst}
        data-highlighted={isHighlighted}
        data-status={isMe ? status : undefined}
        tabIndex={isFocusable ? 0 : -1}
        aria-label={labelOf(message, name)}
        {...(isSelecting ? { onClick: select } : contextMenu)}
      >
        {message.replyToId !== undefined && !retracted && (
          <Quote message={message} name={name} isFocusable={isFocusable && !isSelecting} actions={actions} />
        )}
        <Content message={message} isFocusable={isFocusable && !isSelecting} actions={actions} />
        <footer class="bubble-end">
          {editedAt !== undefined && <span title={t.editedAt(fullTime(editedAt))}>{t.edited}</span>}
          <time class="number">{timeOfDay(time)}</time>
          {isMe && !retracted && <StatusMark status={status} />}
        </footer>
        <ReactionList
          message={message}
          name={name}
          isFocusable={isFocusable && !isSelecting}
          isDisabled={isSelecting}
          actions={actions}
        />
      </article>
      {!isSelecting && (
        <span class="bubble-buttons">
          {buttons.isReached && (
            <IconButton
              icon="more"
              label={t.actions}
              isSkipped
              onClick={({ currentTarget }) => {
                if (currentTarget instanceof HTMLElement) actions.onMenu(message, { element: currentTarget })
              }}
            />
          )}
          {buttons.isReached && hovers.matches && !retracted && status !== 'failed' && (
            <IconButton icon="reply" label={t.reply} isSkipped onClick={() => actions.onReply(message)} />
          )}
        </span>
      )}
      {isMe && status === 'failed' && (
        <p class="bubble-failed">
          {texts.value.errors.codes[message.failure ?? ''] ?? t.marks.failed}{' '}
          <button
            type="button"
            class="link"
            onClick={({ currentTarget }) => actions.onMenu(message, { element: currentTarget })}
          >
            {t.whatToDo}
          </button>
        </p>
      )}
    </div>
  )
}

/** Whether a pointer can hover. Without one, a button stays in view. */
const hovers = matchMedia('(hover: hover)')

/**
 * Whether somebody has come to a message with a pointer or the focus. Its buttons are made only then: they
 * are half of its elements. A message that is scrolled to beneath the pointer is not come to.
 */
function useReach(): { readonly isReached: boolean; readonly reach: () => void } {
  const [isReached, setReached] = useState(false)
  return { isReached: isReached || !hovers.matches, reach: () => setReached(true) }
}

/** The whole message in one sentence, for who comes to it by keyboard with a screen reader. */
function labelOf(message: StoredMessage, name: string): string {
  const t = texts.value
  const said = previewOf(message, t.chats)
  const mark = message.isMe && !message.retracted ? `, ${t.conversation.marks[message.status]}` : ''
  const edited = message.editedAt === undefined ? '' : `, ${t.conversation.edited}`
  const words = `${message.isMe ? '' : `${t.conversation.from(name)} `}${said}, ${timeOfDay(message.time)}`
  return `${words}${edited}${mark}${reactionWords(message, name)}`
}
