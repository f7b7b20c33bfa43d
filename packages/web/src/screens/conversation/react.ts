// Reacts to a message, and says it if that is refused. It is loaded with the first reaction.
import { ClientError, type Reactions, type StoredMessage } from '@sotto/client'
import { notify, notifyError } from '../../session/notices.ts'
import { changesTexts } from '../../texts/changes.ts'

/**
 * Reacts with an emoji, or takes the reaction back if it is this one.
 * @returns whether the text is an emoji. Everything else that fails is told.
 */
export async function react(reactions: Reactions, message: StoredMessage, emoji: string): Promise<boolean> {
  const own = message.reactions?.find(({ isMe }) => isMe)?.text
  try {
    await (own === emoji ? reactions.takeBack(message) : reactions.react(message, emoji))
    return true
  } catch (error) {
    const code = error instanceof ClientError ? error.code : undefined
    // The library's words: the code alone does not say which argument it is.
    if (error instanceof ClientError && error.message === 'a reaction is one emoji') return false
    // It was retracted or deleted after the menu was opened.
    if (code === 'INVALID_ARGUMENT' || code === 'UNKNOWN_MESSAGE')
      notify(changesTexts.value.notReactable, { kind: 'error' })
    else notifyError(error)
    return true
  }
}
