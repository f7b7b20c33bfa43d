// The handshakes of all conversations that the relay has not answered.
import { encodeBase64 } from '@sotto/crypto'
import { type ConversationId, errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import type { CourseEvent, Handshake } from '../secrecy/version-3/version-3.ts'
import type { ForwardContext } from './forward-context.ts'

/** How long a refused handshake waits if the relay does not say it, in milliseconds. */
const RETRY_MS = 5000

interface OpenHandshake {
  readonly conversationId: ConversationId
  readonly handshake: Handshake
}

export interface HandshakeParts extends Pick<ForwardContext, 'send' | 'sessions'> {
  /** Whether the user permits an older version. Nothing goes under version 3 then. */
  readonly isLowered: (conversationId: ConversationId) => boolean
  /** What the relay says of a handshake, as the event of its course. */
  readonly onAnswer: (conversationId: ConversationId, event: CourseEvent) => void
  readonly later: (ms: number, run: () => void) => void
}

/** The open handshakes of one identity on this connection. */
export class OpenHandshakes {
  readonly #parts: HandshakeParts
  readonly #open = new Map<string, OpenHandshake>()
  /** The conversations with handshakes that wait, because the user permits an older version. */
  readonly #held = new Set<ConversationId>()

  constructor(parts: HandshakeParts) {
    this.#parts = parts
  }

  onDown(): void {
    this.#open.clear()
    this.#held.clear()
  }

  send(conversationId: ConversationId, handshake: Handshake): void {
    const open = { conversationId, handshake }
    this.#open.set(handshake.id, open)
    this.#send(open)
  }

  /** Sends what waited for the contact to speak version 3 again, if it does. */
  sendHeld(conversationId: ConversationId): void {
    if (this.#parts.isLowered(conversationId) || !this.#held.delete(conversationId)) return
    for (const open of this.#open.values()) if (open.conversationId === conversationId) this.#send(open)
  }

  /** @returns whether the answer is about one of these */
  onAnswer(frame: Extract<RelayFrame, { readonly type: 'ack' | 'error' }>): boolean {
    const { id } = frame
    const open = id === undefined ? undefined : this.#open.get(id)
    if (!open || id === undefined) return false
    if (frame.type === 'ack') this.#end(open, { type: 'accepted', id, seq: frame.seq })
    else if (frame.error === 'EPOCH_STALE' && frame.epoch !== undefined)
      this.#end(open, { type: 'stale', id, epoch: frame.epoch })
    else if (isErrorCode(frame.error) && errors[frame.error].retry === 'never')
      this.#end(open, { type: 'failed', id })
    else
      this.#parts.later(frame.retry_after_ms ?? RETRY_MS, () => {
        if (this.#open.get(id) === open) this.#send(open)
      })
    return true
  }

  #end({ conversationId, handshake }: OpenHandshake, event: CourseEvent): void {
    this.#open.delete(handshake.id)
    this.#parts.onAnswer(conversationId, event)
  }

  #send({ conversationId, handshake }: OpenHandshake): void {
    const { sessions, send, isLowered } = this.#parts
    const to = sessions.find(conversationId)?.theirAliasId
    if (to === undefined) return
    if (isLowered(conversationId)) {
      this.#held.add(conversationId)
      return
    }
    const { id, epoch, payload, groupInfo } = handshake
    send({
      ...{ type: 'msg', id, to, conv_id: conversationId, crypto_v: 3, epoch },
      payload: encodeBase64(payload),
      group_info: encodeBase64(groupInfo),
    })
  }
}
