// The reactions to a message, each emoji once. A press takes one's own back, or joins that of the contact.
import type { MessageReaction, StoredMessage } from '@sotto/client'
import { namesOf, numberOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import type { BubbleActions } from './bubble-actions.ts'
import './reaction-list.css'

interface ReactionListProps {
  readonly message: StoredMessage
  /** The contact's. */
  readonly name: string
  readonly isFocusable: boolean
  readonly isDisabled: boolean
  readonly actions: Pick<BubbleActions, 'onReact' | 'canReact'>
}

/** An emoji, and who reacted with it. */
interface Shown {
  readonly emoji: string
  readonly by: readonly MessageReaction[]
}

export function ReactionList({ message, name, isFocusable, isDisabled, actions }: ReactionListProps) {
  const shown = shownOf(message)
  const canReact = actions.canReact.value && !isDisabled
  if (shown.length === 0) return null
  return (
    <span class="reactions">
      {shown.map(({ emoji, by }) => {
        const label = labelOf({ emoji, by }, name)
        return (
          <button
            key={emoji}
            type="button"
            class="reaction"
            title={label}
            aria-label={label}
            aria-pressed={by.some(({ isMe }) => isMe)}
            disabled={!canReact}
            tabIndex={isFocusable ? 0 : -1}
            onClick={() => actions.onReact(message, emoji)}
          >
            <span class="reaction-emoji">{emoji}</span>
            {by.length > 1 && ` ${numberOf(by.length)}`}
          </button>
        )
      })}
    </span>
  )
}

/** The reactions in words, for somebody who hears the whole message. */
export function reactionWords(message: StoredMessage, name: string): string {
  return shownOf(message)
    .map((each) => `, ${labelOf(each, name)}`)
    .join('')
}

function shownOf({ reactions = [], retracted }: StoredMessage): readonly Shown[] {
  if (retracted) return []
  const ownFirst = reactions.toSorted((a, b) => Number(b.isMe) - Number(a.isMe))
  const byEmoji = Map.groupBy(ownFirst, ({ text = '' }) => text)
  return [...byEmoji].flatMap(([emoji, by]) => (emoji === '' ? [] : [{ emoji, by }]))
}

function labelOf({ emoji, by }: Shown, name: string): string {
  const t = texts.value.conversation
  const who = by.map(({ isMe }) => (isMe ? t.you : name))
  return t.reaction(by.length > 1 ? `${emoji} ${numberOf(by.length)}` : emoji, namesOf(who))
}
