// What can be done with a message.
import { type Conversation, contentOf, isEditable, type StoredMessage } from '@sotto/client'
import type { Place } from '../../parts/menu-place.ts'
import { type MenuItem, type MenuRow, OpenMenu } from '../../parts/open-menu.tsx'
import { nowMs } from '../../session/clock.ts'
import { reporting } from '../../session/reporting.ts'
import { changesTexts } from '../../texts/changes.ts'
import { texts } from '../../texts/texts.ts'
import { writtenIn } from '../chats/preview.ts'

/** The actions of the menu. */
export interface MessageActions {
  readonly onReply: (message: StoredMessage) => void
  /** Reacts with an emoji, or takes the reaction back if it is the one of this account. */
  readonly onReact: (message: StoredMessage, emoji: string) => void
  /** Offers more emoji. */
  readonly onReactOtherwise: (message: StoredMessage) => void
  readonly onEdit: (message: StoredMessage) => void
  readonly onCopy: (text: string) => void
  readonly onCopyPicture: (message: StoredMessage) => void
  readonly onForward: (message: StoredMessage) => void
  readonly onDetails: (message: StoredMessage) => void
  readonly onSelect: (message: StoredMessage) => void
  readonly onResend: (message: StoredMessage) => void
  readonly onDrop: (message: StoredMessage) => void
  readonly onRetract: (message: StoredMessage) => void
  readonly onRemove: (message: StoredMessage) => void
}

interface MessageMenuProps {
  readonly message: StoredMessage
  readonly place: Place
  readonly actions: MessageActions
  readonly conversation: Conversation
  readonly onClose: () => void
}

export function MessageMenu({ message, place, actions, conversation, onClose }: MessageMenuProps) {
  return (
    <OpenMenu
      label={texts.value.conversation.actions}
      place={place}
      row={rowOf(message, actions, conversation)}
      items={itemsOf(message, actions, conversation)}
      onClose={onClose}
    />
  )
}

/** The reactions that are offered at once: the one that there is, and the common ones. */
function rowOf(
  message: StoredMessage,
  actions: MessageActions,
  { isFriend, hasForwardSecrecy }: Conversation,
): MenuRow | undefined {
  const { isMe, status } = message
  const hasFailed = isMe && status === 'failed'
  if (!isFriend || !hasForwardSecrecy || hasFailed || !contentOf(message)) return undefined
  const t = changesTexts.value
  const own = message.reactions?.find((each) => each.isMe)?.text
  const common = Object.keys(t.quick)
  const emoji = own === undefined || common.includes(own) ? common : [own, ...common]
  return {
    label: t.react,
    choices: emoji.map((each) => ({
      text: each,
      label: t.quick[each] ?? each,
      isChosen: each === own,
      onClick: () => actions.onReact(message, each),
    })),
    more: { label: t.otherEmoji, icon: 'plus', onClick: () => actions.onReactOtherwise(message) },
  }
}

function itemsOf(
  message: StoredMessage,
  actions: MessageActions,
  { isFriend: canSend, hasForwardSecrecy, contactId: aliasId, name, nickname }: Conversation,
): readonly (MenuItem | false | undefined)[] {
  const t = texts.value
  const { isMe, status, retracted } = message
  const hasFailed = isMe && status === 'failed'
  const content = contentOf(message)
  const text = writtenIn(message)
  const words = t.conversation
  return [
    hasFailed &&
      canSend && { label: words.resend, icon: 'retract', onClick: () => actions.onResend(message) },
    hasFailed && {
      label: words.drop,
      icon: 'trash',
      onClick: () => actions.onDrop(message),
      isDangerous: true,
    },
    !hasFailed &&
      canSend &&
      content !== undefined && {
        label: words.reply,
        icon: 'reply',
        onClick: () => actions.onReply(message),
      },
    canSend &&
      hasForwardSecrecy &&
      isEditable(message, nowMs()) && {
        label: changesTexts.value.edit,
        icon: 'edit',
        onClick: () => actions.onEdit(message),
      },
    text !== undefined && { label: t.common.copy, icon: 'copy', onClick: () => actions.onCopy(text) },
    content?.kind === 'image' && {
      label: words.copyPicture,
      icon: 'copy',
      onClick: () => actions.onCopyPicture(message),
    },
    content !== undefined && {
      label: words.forward,
      icon: 'forward',
      onClick: () => actions.onForward(message),
    },
    { label: words.select, icon: 'check', onClick: () => actions.onSelect(message) },
    { label: words.details, icon: 'info', onClick: () => actions.onDetails(message) },
    isMe &&
      !retracted &&
      !hasFailed && {
        label: words.retract,
        icon: 'retract',
        onClick: () => actions.onRetract(message),
        isDangerous: true,
      },
    !isMe &&
      !retracted && {
        label: t.common.report,
        icon: 'flag',
        onClick: () => {
          reporting.value = { kind: 'account', name: name ?? nickname, aliasId, content: text }
        },
        isDangerous: true,
      },
    !hasFailed && {
      label: words.removeHere,
      icon: 'trash',
      onClick: () => actions.onRemove(message),
      isDangerous: true,
    },
  ]
}
