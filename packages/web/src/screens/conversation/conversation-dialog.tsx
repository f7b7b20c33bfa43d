// The dialogs of a conversation, one at a time.
import type { StoredMessage } from '@sotto/client'
import { Confirm } from '../../parts/dialog.tsx'
import type { ShownConversation } from '../../session/contact-names.ts'
import { dialogsTexts } from '../../texts/dialogs.ts'
import { texts } from '../../texts/texts.ts'
import { ClearDialog } from '../chats/clear-dialog.tsx'
import { ForwardDialog } from './forward-dialog.tsx'
import { LinkDialog } from './link-dialog.tsx'
import type { TextPart } from './links.ts'
import { MessageDetails } from './message-details.tsx'
import { ReactionDialog } from './reaction-dialog.tsx'

/** Which dialog is open, and for what. */
export type OpenDialog =
  | { readonly kind: 'details' | 'react' | 'retract'; readonly message: StoredMessage }
  | { readonly kind: 'clear' }
  | { readonly kind: 'forward'; readonly messages: readonly StoredMessage[] }
  | { readonly kind: 'link'; readonly link: Required<TextPart> }

interface ConversationDialogProps {
  readonly dialog: OpenDialog
  readonly name: string
  readonly isVerified: boolean
  readonly conversations: readonly ShownConversation[]
  readonly onForward: (messages: readonly StoredMessage[], to: readonly ShownConversation[]) => void
  /** Resolves with whether the text is a reaction. */
  readonly onReact: (message: StoredMessage, emoji: string) => Promise<boolean>
  readonly onRetract: (message: StoredMessage) => unknown
  readonly onClear: () => unknown
  readonly onClose: () => void
}

export function ConversationDialog(props: ConversationDialogProps) {
  const { dialog, name, isVerified, conversations, onForward, onReact, onRetract } = props
  const { onClear, onClose } = props
  const t = texts.value.conversation
  switch (dialog.kind) {
    case 'details':
      return <MessageDetails message={dialog.message} name={name} isVerified={isVerified} onClose={onClose} />
    case 'react':
      return (
        <ReactionDialog
          message={dialog.message}
          onReact={(emoji) => onReact(dialog.message, emoji)}
          onClose={onClose}
        />
      )
    case 'retract':
      return (
        <Confirm
          title={dialogsTexts.value.retractTitle}
          text={dialogsTexts.value.retractText(name)}
          action={t.retract}
          isDangerous
          onConfirm={() => onRetract(dialog.message)}
          onClose={onClose}
        />
      )
    case 'clear':
      return <ClearDialog name={name} onClear={onClear} onClose={onClose} />
    case 'forward':
      return (
        <ForwardDialog
          conversations={conversations}
          onForward={(to) => onForward(dialog.messages, to)}
          onClose={onClose}
        />
      )
    case 'link':
      return <LinkDialog link={dialog.link} onClose={onClose} />
    default:
      return dialog satisfies never
  }
}
