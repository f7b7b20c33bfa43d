// Confirms received messages to the relay: at most one `delivered` per conversation and timer tick, and only
// for messages that are durably stored.
import { type AliasId, type ConversationId, errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import type { Platform } from '../platform/platform.ts'
import type { SendFrame } from '../wire/wire.ts'

export interface ConfirmationsContext {
  readonly platform: Pick<Platform, 'clock'>
  readonly send: SendFrame
}

/** How long a refused confirmation waits if the relay does not say it. */
const RETRY_MS = 5000

type ErrorFrame = Extract<RelayFrame, { type: 'error' }>

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
  /** Conversations whose frame of this `seq` the relay has to send once more, before any later one counts. */
  readonly #awaited = new Map<string, number>()
  #cancel: (() => void) | undefined
  /** The latest confirmation sent of each conversation on this connection: the relay may refuse it. */
  readonly #sent = new Map<string, Mark & { readonly conversationId: ConversationId }>()
  readonly #refused = new Set<string>()
  #cancelRetry: (() => void) | undefined

  constructor(context: ConfirmationsContext) {
    this.#context = context
  }

  /** Call it when `seq`, and everything received before it in this conversation, is durably stored. */
  add(conversationId: ConversationId, seq: number, to: AliasId): void {
    if (this.isHeld(conversationId, seq)) return
    const mark = this.#marks.get(conversationId)
    if (!mark || mark.seq < seq) this.#marks.set(conversationId, { seq, to })
    this.#cancel ??= this.#context.platform.clock.after(0, () => this.#flush())
  }

  /**
   * Stops confirming a conversation until `release`. The relay sends its messages again on a new connection.
   */
  hold(conversationId: string): void {
    this.#held.add(conversationId)
  }

  /**
   * Waits for a frame that cannot be handled yet: no later one of its conversation is handled before it.
   */
  await(conversationId: string, seq: number): void {
    this.#awaited.set(conversationId, Math.min(seq, this.#awaited.get(conversationId) ?? seq))
  }

  /** The frame with this `seq` was handled. */
  arrived(conversationId: string, seq: number): void {
    if (this.#awaited.get(conversationId) === seq) this.#awaited.delete(conversationId)
  }

  /** Whether a frame with this `seq` must not be handled now, because an earlier one was not. */
  isHeld(conversationId: string, seq: number): boolean {
    return this.#held.has(conversationId) || seq > (this.#awaited.get(conversationId) ?? seq)
  }

  /**
   * Call it before the first frame of a new connection is handled, and not when it opens: the relay sends
   * everything unconfirmed again, but frames of the connection before may still wait here.
   */
  release(): void {
    this.#held.clear()
    this.#awaited.clear()
  }

  /** Call it for a new connection. */
  onOpen(): void {
    this.#sent.clear()
    this.#refused.clear()
  }

  /**
   * Handles a refusal by the relay.
   * @returns false if it is not about a confirmation that can be sent again
   */
  onError({ id, conv_id, error, retry_after_ms }: ErrorFrame): boolean {
    if (id !== undefined || conv_id === undefined || !this.#sent.has(conv_id)) return false
    if (!isErrorCode(error) || errors[error].retry === 'never') return false
    this.#refused.add(conv_id)
    this.#cancelRetry ??= this.#context.platform.clock.after(retry_after_ms ?? RETRY_MS, () => this.#retry())
    return true
  }

  stop(): void {
    this.#cancel?.()
    this.#cancelRetry?.()
    this.#marks.clear()
  }

  #flush(): void {
    this.#cancel = undefined
    for (const [conv_id, mark] of this.#marks) {
      this.#context.send({ type: 'delivered', conv_id, ...mark })
      this.#sent.set(conv_id, { conversationId: conv_id, ...mark })
    }
    this.#marks.clear()
  }

  #retry(): void {
    this.#cancelRetry = undefined
    for (const name of this.#refused) {
      const mark = this.#sent.get(name)
      if (mark) this.add(mark.conversationId, mark.seq, mark.to)
    }
    this.#refused.clear()
  }
}
