// Confirms received messages to the relay: at most one `delivered` per conversation and timer tick, and only
// for messages that are durably stored.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { Platform } from '../platform/platform.ts'
import type { SendFrame } from '../wire/wire.ts'

export interface ConfirmationsContext {
  readonly platform: Pick<Platform, 'clock'>
  readonly send: SendFrame
}

interface Mark {
  readonly seq: number
  readonly to: AliasId
}

/** Collects the confirmations of a timer tick and sends them. */
export class Confirmations {
  readonly #context: ConfirmationsContext
  readonly #marks = new Map<ConversationId, Mark>()
  /**
   * Conversations with a frame that could not be stored. A later confirmation would confirm that frame, too.
   */
  readonly #held = new Set<string>()
  #cancel: (() => void) | undefined

  constructor(context: ConfirmationsContext) {
    this.#context = context
  }

  /** Call it when `seq`, and everything received before it in this conversation, is durably stored. */
  add(conversationId: ConversationId, seq: number, to: AliasId): void {
    if (this.#held.has(conversationId)) return
    const mark = this.#marks.get(conversationId)
    if (!mark || mark.seq < seq) this.#marks.set(conversationId, { seq, to })
    this.#cancel ??= this.#context.platform.clock.after(0, () => this.#flush())
  }

  /**
   * Stops confirming a conversation on this connection. The relay sends its messages again on the next one.
   */
  hold(conversationId: string): void {
    this.#held.add(conversationId)
  }

  isHeld(conversationId: string): boolean {
    return this.#held.has(conversationId)
  }

  /** Call it for a new connection: the relay sends everything unconfirmed again. */
  onOpen(): void {
    this.#held.clear()
  }

  stop(): void {
    this.#cancel?.()
    this.#marks.clear()
  }

  #flush(): void {
    this.#cancel = undefined
    for (const [conv_id, { seq, to }] of this.#marks)
      this.#context.send({ type: 'delivered', conv_id, seq, to })
    this.#marks.clear()
  }
}
