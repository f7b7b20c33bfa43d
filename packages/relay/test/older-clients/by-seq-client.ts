// A client that applies `delivered` and `read` only up to their `seq`, and says so in `sync`. It handles
// one frame after the other, sends again only what was not acknowledged, and keeps a message whose
// conversation it does not know until it has asked for its friends.
import { type Frame, ModelClient, type OwnMessage } from './model-client.ts'

export class BySeqClient extends ModelClient {
  readonly kind = 'by_seq'
  readonly #marks = new Map<string, { delivered: number; read: number }>()
  #last = Promise.resolve()

  protected override greet(): void {
    this.send({ type: 'sync', receipts: 'by_seq' })
  }

  protected override isSentAgain(message: OwnMessage): boolean {
    return message.ackedOn === undefined
  }

  protected override handle(frame: Frame): Promise<void> {
    this.#last = this.#last.then(() => this.#handleNext(frame))
    return this.#last
  }

  async #handleNext(frame: Frame): Promise<void> {
    await this.pause(10)
    if (frame.type === 'ack') this.#show(this.accepted(frame))
    else if (frame.type === 'delivered' || frame.type === 'read') this.#marked(frame)
    else if (frame.type === 'msg') await this.#received(frame)
    else if (frame.type === 'retract') this.inbox(frame.conv_id).retracted.add(frame.id)
    else if (frame.type === 'friend_accepted') await this.askForFriends()
  }

  #marked({ type, conv_id, seq }: Frame): void {
    const marks = this.#marks.get(conv_id) ?? { delivered: 0, read: 0 }
    this.#marks.set(conv_id, marks)
    marks.delivered = Math.max(marks.delivered, seq)
    if (type === 'read') marks.read = Math.max(marks.read, seq)
    for (const message of this.own) if (message.conv === conv_id) this.#show(message)
  }

  #show(message: OwnMessage | undefined): void {
    if (message?.seq === undefined) return
    const { delivered, read } = this.#marks.get(message.conv) ?? { delivered: 0, read: 0 }
    message.status = message.seq <= read ? 'read' : message.seq <= delivered ? 'delivered' : 'sent'
  }

  async #received({ conv_id, id, seq }: Frame): Promise<void> {
    if (!this.sessions.has(conv_id)) await this.askForFriends()
    if (!this.sessions.has(conv_id)) return // The friendship has just ended.
    const inbox = this.inbox(conv_id)
    inbox.stored.set(id, seq)
    inbox.decrypted = Math.max(inbox.decrypted, seq)
    if (this.random.chance(0.7)) this.confirm('delivered', conv_id, inbox.decrypted)
    else if (this.random.chance(0.3)) this.read(conv_id)
  }
}
