// The waits before the next message of a conversation, after the relay refused one.
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import { Backoff, type Platform, randomFraction } from '../platform/platform.ts'

type ErrorFrame = Extract<RelayFrame, { type: 'error' }>

const RETRY = { firstMs: 1000, maxMs: 60_000 }
/** The longest time that a relay can make a message wait before it is sent again. */
const MAX_ASKED_WAIT_MS = 300_000

interface Pause {
  readonly backoff: Backoff
  cancel: () => void
  isOver: boolean
  /** The relay's code, until it accepts a message. */
  refusal?: string | undefined
}

/** The pauses of all conversations. A pause that is over remembers how long the next one will be. */
export class Pauses {
  readonly #platform: Pick<Platform, 'clock' | 'random'>
  readonly #onOver: () => void
  readonly #onHold: (conversationId: ConversationId) => void
  readonly #pauses = new Map<ConversationId, Pause>()

  /**
   * @param onOver called when a pause is over
   * @param onHold called when `heldBy` of a conversation changes
   */
  constructor(
    platform: Pick<Platform, 'clock' | 'random'>,
    onOver: () => void,
    onHold: (conversationId: ConversationId) => void,
  ) {
    this.#platform = platform
    this.#onOver = onOver
    this.#onHold = onHold
  }

  /** The code with which the relay refuses the messages of a conversation for now, if it does. */
  heldBy(conversationId: ConversationId): string | undefined {
    return this.#pauses.get(conversationId)?.refusal
  }

  /** Whether a conversation has to wait. */
  holds(conversationId: ConversationId): boolean {
    return this.#pauses.get(conversationId)?.isOver === false
  }

  /** Pauses a conversation for the time that the relay asks for, or longer after each refusal. */
  begin(conversationId: ConversationId, refusal: ErrorFrame): void {
    const { clock, random } = this.#platform
    const pause = this.#pauses.get(conversationId) ?? {
      backoff: new Backoff(random, RETRY),
      cancel: () => {},
      isOver: true,
    }
    this.#pauses.set(conversationId, pause)
    this.#hold(conversationId, pause, refusal.error)
    // The relay has repeated its refusal of the same message.
    if (!pause.isOver) return
    pause.isOver = false
    pause.cancel = clock.after(this.#waitMs(pause, refusal), () => {
      pause.isOver = true
      this.#onOver()
    })
  }

  /** The relay has accepted a message of the conversation, or none is left: its next pause is a short one. */
  end(conversationId: ConversationId): void {
    const pause = this.#pauses.get(conversationId)
    if (!pause) return
    if (pause.isOver) this.#pauses.delete(conversationId)
    this.#hold(conversationId, pause)
  }

  #hold(conversationId: ConversationId, pause: Pause, refusal?: string): void {
    if (pause.refusal === refusal) return
    pause.refusal = refusal
    this.#onHold(conversationId)
  }

  stop(): void {
    for (const pause of this.#pauses.values()) pause.cancel()
    this.#pauses.clear()
  }

  #waitMs({ backoff }: Pause, { error, retry_after_ms: asked = 0 }: ErrorFrame): number {
    const askedMs = Math.min(asked, MAX_ASKED_WAIT_MS)
    // A full relay says how soon it will know of new space. Longer waits would only delay messages.
    if (error === 'RELAY_FULL' && askedMs >= RETRY.firstMs)
      return askedMs + randomFraction(this.#platform.random) * RETRY.firstMs
    return Math.max(backoff.nextMs(), askedMs)
  }
}
