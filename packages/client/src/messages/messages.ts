// The messages of one identity: creates the inbox, outbox, receipts, retractions and typing notices, and
// passes each frame to the right one.
import type { RelayFrame } from '@sotto/protocol'
import { unreachable } from '../client-error.ts'
import type { ClientStore } from '../stores/stores.ts'
import { Confirmations, type ConfirmationsContext } from './confirmations.ts'
import { Inbox, type InboxContext } from './inbox.ts'
import { Outbox, type OutboxContext } from './outbox.ts'
import { Posting, type PostingContext } from './posting.ts'
import { Receipts, type ReceiptsContext } from './receipts.ts'
import { Retractions, type RetractionsContext } from './retractions.ts'
import { Settings, type SettingsContext } from './settings.ts'
import { Summaries } from './summaries.ts'
import { Typing, type TypingContext } from './typing.ts'

export { bytesLeftIn, contentOf } from './content.ts'
export { type Conversation, describeConversation, listConversations, listMessages } from './conversations.ts'
export { isEditable, takesEdit } from './editable.ts'
export type { Forward, MessageOfContact, SecrecyStop, SecrecyWord, UserSecrecy } from './forward.ts'
export { countUnsent } from './outbox.ts'
export type { SendOptions } from './posting.ts'

export type MessagesContext = ConfirmationsContext &
  InboxContext &
  OutboxContext &
  PostingContext &
  ReceiptsContext &
  RetractionsContext &
  SettingsContext &
  TypingContext & {
    readonly store: Pick<ClientStore, 'listSummaries'>
    /** Called if a received message or retraction could not be stored. */
    readonly onStoreFailure: (error: unknown) => void
  }

type MessageFrame = Extract<
  RelayFrame,
  { readonly type: 'msg' | 'ack' | 'delivered' | 'read' | 'retract' | 'retract_ack' | 'typing' }
>

export class Messages {
  readonly outbox: Outbox
  readonly posting: Posting
  readonly receipts: Receipts
  readonly retractions: Retractions
  readonly settings: Settings
  readonly typing: Typing
  readonly summaries: Summaries
  readonly confirmations: Confirmations
  readonly #forward: MessagesContext['forward']
  readonly #inbox: Inbox
  readonly #onStoreFailure: (error: unknown) => void

  constructor(context: MessagesContext) {
    this.#onStoreFailure = context.onStoreFailure
    this.#forward = context.forward
    this.confirmations = new Confirmations(context)
    this.settings = new Settings(context)
    this.summaries = new Summaries(context.store)
    this.outbox = new Outbox(context)
    this.posting = new Posting(context, this.settings, this.outbox)
    this.receipts = new Receipts(context)
    this.retractions = new Retractions(context, this.outbox, this.confirmations)
    this.typing = new Typing(context)
    this.#inbox = new Inbox(context, this.confirmations, this.settings)
  }

  /** Reads the outbox, the read marks, the pending retractions and the settings from the store. */
  async load(): Promise<void> {
    await this.outbox.load()
    await this.receipts.load()
    await this.retractions.load()
    await this.settings.load()
  }

  /** Handles a frame. `following` are the next frames, as far as they are here. */
  async onFrame(frame: MessageFrame, following: readonly RelayFrame[]): Promise<void> {
    if (await this.#forward?.onFrame(frame)) return
    switch (frame.type) {
      case 'msg':
        return this.#holdOnFailure(frame.conv_id, this.#inbox.onMsg(frame, following))
      case 'ack':
        return this.outbox.onAck(frame)
      case 'delivered':
      case 'read':
        return this.receipts.onReceipt(frame)
      case 'retract':
        return this.#holdOnFailure(frame.conv_id, this.retractions.onRetract(frame))
      case 'retract_ack':
        return this.retractions.onRetractAck(frame)
      case 'typing':
        return this.typing.onTyping(frame)
      default:
        return unreachable(frame)
    }
  }

  /** Handles a refusal by the relay. @returns false if it is not about messages */
  async onError(frame: Extract<RelayFrame, { readonly type: 'error' }>): Promise<boolean> {
    if (await this.#forward?.onFrame(frame)) return true
    if ((await this.outbox.onError(frame)) || this.retractions.onError(frame)) return true
    // The frame does not say whether it is about a confirmation or about a `read`, so both are sent again.
    const isConfirmation = this.confirmations.onError(frame)
    return this.receipts.onError(frame) || isConfirmation
  }

  /**
   * Call it for a new connection: sends everything that waits.
   * @param hasAfter whether the relay checks the order of messages
   */
  onOpen(hasAfter: boolean): void {
    this.confirmations.onOpen()
    this.outbox.onOpen(hasAfter)
    this.retractions.onOpen()
    this.receipts.onOpen()
  }

  /** Tries to decrypt the messages that could not be decrypted before. */
  retryOffline(): Promise<void> {
    return this.#inbox.retryAllOffline()
  }

  stop(): void {
    this.confirmations.stop()
    this.outbox.stop()
    this.retractions.stop()
    this.receipts.stop()
  }

  // After a failure the conversation is not confirmed any more: a later confirmation would cover this frame,
  // too.
  async #holdOnFailure(conversationId: string, handled: Promise<void>): Promise<void> {
    try {
      await handled
    } catch (error) {
      this.confirmations.hold(conversationId)
      this.#onStoreFailure(error)
    }
  }
}
