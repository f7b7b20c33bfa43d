// The numbers by which the user names the messages that a chat has shown.
import type { StoredMessage } from '@sotto/client'
import { keyOf } from './transcript.ts'

/** A message that was shown with a number. */
export type Numbered = Pick<StoredMessage, 'conversationId' | 'id' | 'isMe'>

/** The shown messages, numbered from 1 in the order in which they were first shown. */
export class ShownMessages {
  readonly #messages: Numbered[] = []
  readonly #numbers = new Map<string, number>()

  /** The number of a message, which it gets when it is first shown. */
  add(message: StoredMessage): number {
    const { conversationId, id, isMe } = message
    const number = this.numberOf(message) ?? this.#messages.push({ conversationId, id, isMe })
    this.#numbers.set(keyOf(message), number)
    return number
  }

  /** The number of a message; undefined if it was not shown. */
  numberOf(message: StoredMessage): number | undefined {
    return this.#numbers.get(keyOf(message))
  }

  /** The message with a number such as "12" or "#12". */
  find(text: string): Numbered | undefined {
    return this.#messages[Number(text.replace('#', '')) - 1]
  }
}
