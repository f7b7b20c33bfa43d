// Typing notices: at most one each 300 ms out, only from the peer of the conversation in.
import type { RelayFrame } from '@sotto/protocol'
import type { Context } from './context.ts'
import type { SessionRecord } from './stores/records.ts'

type TypingFrame = Extract<RelayFrame, { type: 'typing' }>

const DEBOUNCE_MS = 300

/** Sends and receives typing notices. */
export class Typing {
  readonly #context: Context
  readonly #sentAt = new Map<string, number>()

  constructor(context: Context) {
    this.#context = context
  }

  /** Call it on every key: what follows within 300 ms of a notice sends none. */
  notify({ conversationId, theirAliasId }: SessionRecord): void {
    const now = this.#context.platform.clock.now()
    const sentAt = this.#sentAt.get(conversationId)
    // A clock set back must not silence notices.
    if (sentAt !== undefined && now >= sentAt && now - sentAt < DEBOUNCE_MS) return
    if (this.#context.send({ type: 'typing', to: theirAliasId, conv_id: conversationId }))
      this.#sentAt.set(conversationId, now)
  }

  onTyping(frame: TypingFrame): void {
    const { sessions, emitter } = this.#context
    const session = sessions.find(frame.conv_id)
    if (!session || sessions.isAnothersAlias(session, frame.from)) return
    emitter.emit('typing', { fromAliasId: session.theirAliasId, conversationId: session.conversationId })
  }
}
