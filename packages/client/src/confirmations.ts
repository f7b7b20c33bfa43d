// Telling the relay what has arrived: one `delivered` a conversation and tick, and only for what is durable.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { Context } from './context.ts'

interface Mark {
  readonly seq: number
  readonly to: AliasId
}

/** The marks that wait to be sent. */
export class Confirmations {
  readonly #context: Context
  readonly #marks = new Map<ConversationId, Mark>()
  /** Conversations something of which could not be kept: a mark would confirm that, too. */
  readonly #held = new Set<string>()
  #cancel: (() => void) | undefined

  constructor(context: Context) {
    this.#context = context
  }

  /** `seq`, and all before it that came in this conversation, is durable. */
  add(conversationId: ConversationId, seq: number, to: AliasId): void {
    if (this.#held.has(conversationId)) return
    const mark = this.#marks.get(conversationId)
    if (!mark || mark.seq < seq) this.#marks.set(conversationId, { seq, to })
    this.#cancel ??= this.#context.platform.clock.after(0, () => this.#flush())
  }

  /** Confirms nothing more of a conversation on this connection; the relay sends it again on the next. */
  hold(conversationId: string): void {
    this.#held.add(conversationId)
  }

  isHeld(conversationId: string): boolean {
    return this.#held.has(conversationId)
  }

  /** A new connection: what was not confirmed on the old one comes again. */
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
