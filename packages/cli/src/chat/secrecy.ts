// Forward secrecy as a chat shows it: lines between messages with and without it, and notices.
import { SecrecyChoices, type SecrecyEvent, type SottoClient, type StoredMessage } from '@sotto/client'
import { secrecyNotice, secrecyWord, stopWords } from './secrecy-words.ts'

/** Where the messages of the open conversation get forward secrecy, and where they lose it. */
export class SecrecyDivider {
  #has = false

  /** Begins with what the head of the conversation says. */
  begin(hasForwardSecrecy: boolean): void {
    this.#has = hasForwardSecrecy
  }

  /** The line that stands before this message, if it differs from what was shown before. */
  before({ version }: StoredMessage): string | undefined {
    return this.turn(version === 3)
  }

  /** The line that says what holds for the messages from here on; undefined if it was said. */
  turn(hasForwardSecrecy: boolean): string | undefined {
    if (this.#has === hasForwardSecrecy) return undefined
    this.#has = hasForwardSecrecy
    return `── from here on ${secrecyWord(hasForwardSecrecy)} ──`
  }
}

/** What the notices need of a chat. */
export interface SecrecyScreen {
  readonly client: SottoClient
  readonly openId: string | undefined
  readonly divider: SecrecyDivider
  name(contact: string): string
  print(text: string): void
}

/** Prints what happened to the forward secrecy of a conversation. */
export async function tellSecrecy(
  chat: SecrecyScreen,
  { conversationId, notice }: SecrecyEvent,
): Promise<void> {
  // In the open conversation, the line before the first such message says it.
  const isOpen = conversationId === chat.openId
  const { contactId } = await chat.client.conversation(conversationId)
  const text =
    notice.tell === 'began' && isOpen
      ? chat.divider.turn(true)
      : secrecyNotice(notice, chat.name(conversationId), contactId)
  if (text !== undefined) chat.print(text)
}

/** Prints what holds up a conversation until the user decides, if anything does. */
export async function tellStop(chat: SecrecyScreen, conversationId: string): Promise<void> {
  const { hasForwardSecrecy, contactId } = await chat.client.conversation(conversationId)
  const stop = hasForwardSecrecy ? await new SecrecyChoices(chat.client).stopOf(conversationId) : undefined
  if (stop) chat.print(stopWords(stop, chat.name(conversationId), contactId))
}
