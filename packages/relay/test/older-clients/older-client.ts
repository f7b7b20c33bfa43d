// A published client, which cannot be changed. It handles each frame in a handler of its own, and the
// handlers run concurrently. It ignores the `seq` of receipts, so a mark sets every own message of the
// conversation. It drops messages of conversations that it has no session for.
import { type Frame, ModelClient, type ModelParts, type OwnMessage } from './model-client.ts'

/**
 * The longest that a handler takes. It is well below the half second that marks wait after a repeat's
 * `ack`.
 */
const MOST_HANDLER_MS = 200
/** How long the relay holds messages back after it answered `/friends`. */
const SETTLING_MS = 1000
/**
 * On a busy machine a handler takes longer than it should, and then the half second that the relay gives an
 * `ack` may not be enough. A mark that overtakes such an `ack` is like one that overtakes a first one.
 */
const SLOW_HANDLER_MS = 400

export class OlderClient extends ModelClient {
  readonly kind = 'older'
  /** How many messages it dropped because it had no session. */
  dropped = 0
  /** Whether it sends every own message again at each connection, or only what was not yet sent again. */
  readonly #sendsAllAgain: boolean
  /** Whether it asks for its friends soon. */
  readonly #isPrompt: boolean
  /** Handlers of marks that have not ended. */
  readonly #marking = new Set<Promise<void>>()
  #asking: { readonly since: number; readonly done: Promise<void> } | undefined

  constructor(parts: ModelParts) {
    super(parts)
    this.#sendsAllAgain = this.random.chance(0.5)
    this.#isPrompt = this.random.chance(0.4)
  }

  override askForFriends(): Promise<void> {
    const asking = { since: performance.now(), done: super.askForFriends() }
    this.#asking = asking
    return asking.done.finally(() => {
      if (this.#asking === asking) this.#asking = undefined
    })
  }

  protected override greet(): void {
    this.send({ type: 'sync', crypto_v: 1 })
    this.#askLater()
  }

  protected override isSentAgain(message: OwnMessage): boolean {
    return this.#sendsAllAgain || !message.isRepeated
  }

  protected override async handle(frame: Frame): Promise<void> {
    if (frame.type === 'ack') await this.#acked(frame)
    else if (frame.type === 'delivered' || frame.type === 'read') await this.#marked(frame)
    else if (frame.type === 'msg') await this.#received(frame)
    else if (frame.type === 'retract') await this.#retracted(frame)
    else if (frame.type === 'friend_accepted') this.#askLater()
  }

  // The relay cannot take back a mark that is on the wire while the user writes: the mark also sets the new
  // message, and the `ack` of the new message sets it right. So here an `ack` takes effect after the marks
  // that arrived before it; a mark that arrives after an `ack` may overtake it.
  async #acked(frame: Frame): Promise<void> {
    const arrivedAt = performance.now()
    const earlier = [...this.#marking]
    if (this.slowAcksMs !== undefined) await Bun.sleep(this.slowAcksMs)
    else await this.pause(MOST_HANDLER_MS)
    await Promise.all(earlier)
    const isFirst = this.own.some(({ id, ackedOn }) => id === frame.id && ackedOn === undefined)
    const message = this.accepted(frame)
    if (!message) return
    const isSlow = performance.now() - arrivedAt > SLOW_HANDLER_MS
    message.isOvertaken = (isFirst || isSlow) && message.status !== 'sending'
    message.status = 'sent'
  }

  async #marked({ type, conv_id }: Frame): Promise<void> {
    const marking = this.slowAcksMs === undefined ? this.pause(MOST_HANDLER_MS) : Promise.resolve()
    this.#marking.add(marking)
    await marking
    this.#marking.delete(marking)
    for (const message of this.own) {
      if (message.conv !== conv_id || message.isRetracted) continue
      // A `delivered` does not repair a `read` that was overtaken.
      if (type === 'read') message.isOvertaken = false
      if (type === 'read' || message.status !== 'read') message.status = type
    }
  }

  async #received({ conv_id, id, seq }: Frame): Promise<void> {
    // On a busy machine a reply may still be unread a second after it left the relay.
    if (this.#asking && performance.now() - this.#asking.since > SETTLING_MS) await this.#asking.done
    if (!this.sessions.has(conv_id)) {
      this.dropped += 1
      return
    }
    await this.pause(MOST_HANDLER_MS)
    const inbox = this.inbox(conv_id)
    inbox.stored.set(id, seq)
    inbox.decrypted = Math.max(inbox.decrypted, seq)
    if (this.random.chance(0.7)) this.confirm('delivered', conv_id, inbox.decrypted)
    else if (this.random.chance(0.3)) this.read(conv_id)
  }

  async #retracted({ conv_id, id }: Frame): Promise<void> {
    await this.pause(MOST_HANDLER_MS)
    if (this.sessions.has(conv_id)) this.inbox(conv_id).retracted.add(id)
  }

  /** Asks for the friends some time later, if there is a connection then. Some ask only at the next one. */
  #askLater(): void {
    if (!this.#isPrompt && this.random.chance(0.3)) return
    const [least, most] = this.#isPrompt
      ? [0, 100]
      : this.random.pick([
          [0, 500],
          [500, 3000],
        ] as const)
    Bun.sleep(this.random.between(least, most))
      .then(() => (this.isConnected && !this.isFrozen ? this.askForFriends() : undefined))
      .catch((error) => this.faults.push(String(error)))
  }
}
