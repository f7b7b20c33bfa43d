// Typing notices: sends at most one every 300 ms, and accepts them only from the contact of the conversation.
import type { RelayFrame } from '@sotto/protocol'
import type { Sessions } from '../contacts/contacts.ts'
import type { Emitter } from '../events/events.ts'
import type { Platform } from '../platform/platform.ts'
import type { SessionRecord } from '../stores/stores.ts'
import type { SendFrame } from '../wire/wire.ts'

type TypingFrame = Extract<RelayFrame, { type: 'typing' }>

const DEBOUNCE_MS = 300

export interface TypingContext {
  readonly platform: Pick<Platform, 'clock'>
  readonly emitter: Pick<Emitter, 'emit'>
  readonly sessions: Pick<Sessions, 'find' | 'isAnothersAlias'>
  readonly send: SendFrame
}

export class Typing {
  readonly #context: TypingContext
  readonly #sentAt = new Map<string, number>()

  constructor(context: TypingContext) {
    this.#context = context
  }

  /** Call it on every key press. Calls within 300 ms of a notice send nothing. */
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
