// What this account changes of messages that were sent: edits of its own, and reactions to those of both.
import { decodeSecretContent, encodeSecretContent, MAX_SECRET_TEXT_BYTES } from '@sotto/crypto/version-3'
import { type ConversationId, isErrorCode } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import { isEditable } from '../messages/messages.ts'
import { randomUuid } from '../platform/platform.ts'
import type {
  AboutMessage,
  MessagePatch,
  OutboxIntent,
  SessionRecord,
  StoreChange,
  StoredMessage,
} from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import { isReaction, reactionBy, withReaction } from './reactions.ts'

/** What it needs of the conversations. */
interface Conversations {
  /** Runs work while nothing else changes messages of the conversation. */
  readonly alone: <T>(conversationId: ConversationId, work: () => Promise<T>) => Promise<T>
  /** Whether messages of the conversation are being encrypted. */
  readonly isSealing: (conversationId: ConversationId) => boolean
}

/** Which message. */
type Name = Pick<AboutMessage, 'isMe' | 'id'>

export class OwnChanges {
  readonly #context: ForwardContext
  readonly #conversations: Conversations

  constructor(context: ForwardContext, conversations: Conversations) {
    this.#context = context
    this.#conversations = conversations
  }

  /** See `Edits.edit`. */
  edit(contact: string, id: AboutMessage['id'], text: string): Promise<StoredMessage> {
    return this.#change(contact, { isMe: true, id }, 'edit', (message, now) => {
      if (!isEditable(message, now)) throw invalid('this message cannot be edited')
      if (new TextEncoder().encode(text).length > MAX_SECRET_TEXT_BYTES)
        throw new ClientError('MESSAGE_TOO_LARGE', 'this text is too long to be sent')
      const editedAt = after(message.editedAt, now)
      const sent = decodeSecretContent(
        encodeSecretContent({ kind: 'edit', messageId: id, text, at: editedAt }),
      )
      const isSame = message.editedAt === undefined && text === message.text
      return sent.kind !== 'edit' || isSame ? undefined : { text: sent.text, editedAt }
    })
  }

  /** See `Reactions.react` and `Reactions.takeBack`. */
  react(contact: string, name: Name, text: string | undefined): Promise<StoredMessage> {
    return this.#change(contact, name, 'reaction', (message, now) => {
      if (text !== undefined && !isReaction(text)) throw invalid('a reaction is one emoji')
      if (message.retracted) throw invalid('this message was retracted')
      const before = reactionBy(true, message)
      if (before?.text === text) return undefined
      const at = after(before?.at, now)
      return { reactions: withReaction(message, { isMe: true, at, ...(text === undefined ? {} : { text }) }) }
    })
  }

  /** Stores what `patchOf` makes of a message, and tells the contact of it; nothing if it makes nothing. */
  async #change(
    contact: string,
    { isMe, id }: Name,
    kind: 'edit' | 'reaction',
    patchOf: (message: StoredMessage, now: number) => MessagePatch | undefined,
  ): Promise<StoredMessage> {
    const { sessions, store, platform, journal, outbox, emitter } = this.#context
    const session = sessions.get(contact)
    const { conversationId } = session
    return this.#conversations.alone(conversationId, async () => {
      if (session.speaks !== 3) throw invalid('the conversation has no forward secrecy')
      const find = (): Promise<StoredMessage | undefined> => store.findMessage(conversationId, isMe, id)
      const message = await find()
      if (!message || message.removed) throw new ClientError('UNKNOWN_MESSAGE', 'there is no such message')
      const patch = patchOf(message, platform.clock.now())
      if (!patch) return message
      if (!sessions.guard(session))
        throw new ClientError('KEY_CHANGED', `the keys of ${session.theirAliasId} have changed`)
      const intent = this.#intentOf(session, { kind, isMe, id })
      const changes: StoreChange[] = [{ change: 'message_patch', conversationId, isMe, id, patch }]
      if (intent) changes.push({ change: 'outbox_added', intent })
      await journal.write(changes)
      if (intent) outbox.accept(intent)
      const changed = (await find()) ?? message
      emitter.emit(kind === 'edit' ? 'edited' : 'reacted', changed)
      return changed
    })
  }

  /**
   * What tells the contact of the change, unless something in the outbox will: its content is read when it
   * is encrypted.
   */
  #intentOf({ conversationId, theirAliasId }: SessionRecord, about: AboutMessage): OutboxIntent | undefined {
    const { outbox, platform } = this.#context
    const isAbout = ({ payload, about: of }: OutboxIntent): boolean =>
      payload === undefined && of?.kind === about.kind && of.isMe === about.isMe && of.id === about.id
    // What is being encrypted may have been read before the change.
    if (!this.#conversations.isSealing(conversationId) && outbox.list(conversationId).some(isAbout))
      return undefined
    return {
      ...{ internalId: randomUuid(platform.random), conversationId, toAliasId: theirAliasId, text: '' },
      ...{ addedAt: platform.clock.now(), version: 3, about },
    }
  }
}

/** The error for an edit or a reaction that the relay refused for good, from the changes that store this. */
export function refusedChange(changes: readonly StoreChange[]): ClientError {
  const [failure] = changes.flatMap((each) => (each.change === 'message_patch' ? [each.patch.failure] : []))
  const refusal = failure !== undefined && isErrorCode(failure) ? failure : undefined
  return new ClientError('REFUSED', 'the contact does not get an edit or a reaction', { refusal })
}

/** Now, and after what came before even if a clock was set back. */
function after(before: number | undefined, now: number): number {
  return before === undefined ? now : Math.max(now, before + 1)
}

function invalid(message: string): ClientError {
  return new ClientError('INVALID_ARGUMENT', message)
}
