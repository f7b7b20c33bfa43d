// Posts messages: each is stored before the outbox sends it.
import type { OutgoingContent } from '@sotto/crypto'
import { type AliasId, MessageId, PAYLOAD_CHARACTERS } from '@sotto/protocol'
import { ClientError, checkArgument } from '../client-error.ts'
import { randomUuid, SerialQueue } from '../platform/platform.ts'
import { encryptMessage, nonceOf } from '../secrecy/secrecy.ts'
import type { OutboxIntent, StoredMessage } from '../stores/stores.ts'
import { outgoing, utf8Length } from './content.ts'
import type { Outbox, OutboxContext } from './outbox.ts'
import type { Settings } from './settings.ts'

/** The most bytes of a message under version 3, which adds up to an eighth of padding, and its own. */
const MAX_FORWARD_BYTES = 43_000

/** Options of `send`. */
export interface SendOptions {
  /** The id of the message that this one replies to. */
  readonly replyToId?: string
  /** It was the draft of its conversation (`Organizer`), which is gone once the message is stored. */
  readonly endsDraft?: boolean
  /**
   * The message's id, unique among this account's messages: 1 to 128 printable ASCII characters without
   * spaces. The default is a new UUID. If this conversation already has a message with this id, nothing is
   * sent, and that message is returned in its current state. So a send whose outcome is unknown can be
   * repeated.
   */
  readonly id?: string
}

interface BegunPost {
  readonly message: StoredMessage
  readonly written: Promise<void>
}

export type PostingContext = Pick<OutboxContext, 'forward' | 'journal' | 'platform' | 'sessions' | 'store'>

/** What becomes of a message until it is stored. The order in which messages are posted is their order. */
export class Posting {
  /** Posts one message after the other. Other work in this queue begins once all before it are stored. */
  readonly turns = new SerialQueue()
  readonly #context: PostingContext
  readonly #settings: Pick<Settings, 'withoutDraft'>
  readonly #outbox: Pick<Outbox, 'accept' | 'find' | 'isOpen'>
  /** The ids of the messages that are being stored. */
  readonly #begun = new Set<string>()

  constructor(
    context: PostingContext,
    settings: Pick<Settings, 'withoutDraft'>,
    outbox: Pick<Outbox, 'accept' | 'find' | 'isOpen'>,
  ) {
    this.#context = context
    this.#settings = settings
    this.#outbox = outbox
  }

  /**
   * Stores a message and queues it for sending. Resolves once it is stored; needs no connection.
   * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`, `INVALID_ARGUMENT`,
   *   `STORE_FAILED`.
   */
  async post(
    contact: string,
    content: string | OutgoingContent,
    options: SendOptions,
  ): Promise<StoredMessage> {
    // Looking for an earlier message with the same id takes time. A message posted later must not overtake
    // this one.
    const { message, written } = await this.turns.run(() => this.#begin(contact, content, options))
    await written
    return message
  }

  async #begin(contact: string, content: string | OutgoingContent, options: SendOptions): Promise<BegunPost> {
    const { sessions, platform, journal, store, forward } = this.#context
    const session = sessions.get(contact)
    const id = options.id ?? randomUuid(platform.random)
    if (options.id !== undefined) {
      checkArgument(MessageId, id, 'invalid message id')
      const posted = await store.findMessage(session.conversationId, true, id)
      if (posted) return { message: posted, written: this.#adopt(posted) }
      if (this.#outbox.find(id) || this.#begun.has(id))
        throw new ClientError('INVALID_ARGUMENT', 'a message to another contact has this id')
    }
    if (!sessions.guard(session)) throw keyChanged(session.theirAliasId)
    const isForward = forward && session.speaks === 3
    const { replyToId } = options
    // Nobody can have such a message, and version 3 has no form for it.
    if (isForward && replyToId) checkArgument(MessageId, replyToId, 'invalid replyToId')
    const { plaintext, fields } = outgoing(content, replyToId, forward?.announcer, isForward)
    const payload = isForward
      ? undefined
      : await encryptMessage({
          sessionKey: sessions.keyOf(session),
          plaintext,
          randomBytes: platform.random,
        })
    // While the message was encrypted, a friend list may have brought other keys, or the keys were forgotten.
    if (!sessions.isCurrent(session)) throw keyChanged(session.theirAliasId)
    if (payload ? payload.length > PAYLOAD_CHARACTERS : utf8Length(plaintext) > MAX_FORWARD_BYTES) {
      throw new ClientError('MESSAGE_TOO_LARGE', 'this message is too long to be sent')
    }
    const intent: OutboxIntent = {
      internalId: id,
      conversationId: session.conversationId,
      toAliasId: session.theirAliasId,
      text: fields.text,
      addedAt: platform.clock.now(),
      ...(payload === undefined ? { version: 3 } : { payload }),
      ...(payload && forward && !this.#outbox.isOpen ? { unsent: true } : {}),
      ...(replyToId && { replyToId }),
    }
    const message: StoredMessage = {
      id: intent.internalId,
      conversationId: intent.conversationId,
      ...fields,
      isMe: true,
      time: intent.addedAt,
      status: 'sending',
      ...(payload === undefined ? { version: 3 } : { nonce: nonceOf(payload) }),
      ...(replyToId && { replyToId }),
    }
    this.#begun.add(id)
    const write = journal.write([
      { change: 'message', message },
      { change: 'outbox_added', intent },
      ...(options.endsDraft ? this.#settings.withoutDraft(session.conversationId) : []),
    ])
    const written = write.then(() => this.#outbox.accept(intent)).finally(() => this.#begun.delete(id))
    return { message, written }
  }

  // A previous leader tab may have stored the message after this client had read the outbox.
  async #adopt({ id, status }: StoredMessage): Promise<void> {
    await this.#context.journal.write([])
    if (status !== 'sending' || this.#outbox.find(id)) return
    const outbox = await this.#context.store.listOutbox()
    const intent = outbox.find(({ internalId }) => internalId === id)
    if (intent) this.#outbox.accept(intent, false)
  }
}

function keyChanged(aliasId: AliasId): ClientError {
  return new ClientError('KEY_CHANGED', `the keys of ${aliasId} have changed`)
}
