// Tracks what one connection was sent that clients never confirm with `delivered`: retractions, notices and
// receipts. These count as arrived after a WebSocket ping, its pong, and two more frames from the client
// (protocol, Delivery 6).
import type { Arrived, ArrivedReceipts } from './mailbox-reader.ts'

/** A mark that was sent. */
export interface SentReceipt extends ArrivedReceipts {
  readonly conversation: number
}

class Sent implements Arrived {
  retractionPosition = 0
  readonly noticeIds = new Set<number>()
  readonly receipts = new Map<number, ArrivedReceipts>()
}

/** The ping that is not completed yet, with what was sent before it. One at a time. */
type Probe =
  | { readonly kind: 'none' }
  | { readonly kind: 'pinged'; readonly covers: Sent }
  | { readonly kind: 'ponged'; readonly covers: Sent; frames: number }

const NO_PROBE: Probe = { kind: 'none' }
/**
 * A browser answers WebSocket pings even if the page no longer works. Only frames show that the page does.
 */
const FRAMES_AFTER_PONG = 2

export class Unconfirmed {
  /** What was sent since the last ping. */
  #sent: Sent | undefined
  #probe: Probe = NO_PROBE

  retractionSent(position: number): void {
    this.#sinceLastPing().retractionPosition = position
  }

  noticeSent(id: number): void {
    this.#sinceLastPing().noticeIds.add(id)
  }

  receiptSent({ conversation, ...sent }: SentReceipt): void {
    const { receipts } = this.#sinceLastPing()
    const known = receipts.get(conversation)
    if (known && known.toldRound > sent.toldRound) return
    const earlier = known?.toldRound === sent.toldRound ? known : undefined
    receipts.set(conversation, {
      toldRound: sent.toldRound,
      deliveredSeq: Math.max(sent.deliveredSeq, earlier?.deliveredSeq ?? 0),
      readSeq: Math.max(sent.readSeq, earlier?.readSeq ?? 0),
    })
  }

  /** The marks of a conversation that were sent do not count any more: the client may have lost them. */
  forgetReceipts(conversation: number): void {
    this.#sent?.receipts.delete(conversation)
    if (this.#probe.kind !== 'none') this.#probe.covers.receipts.delete(conversation)
  }

  /** Whether a mark was sent on this connection that tells the same or more, and is not confirmed yet. */
  hasSent(receipt: SentReceipt): boolean {
    const covers = this.#probe.kind === 'none' ? undefined : this.#probe.covers
    return [this.#sent, covers].some((sent) => {
      const known = sent?.receipts.get(receipt.conversation)
      return (
        known?.toldRound === receipt.toldRound &&
        known.deliveredSeq >= receipt.deliveredSeq &&
        known.readSeq >= receipt.readSeq
      )
    })
  }

  /** Whether a ping has to be sent to confirm what was sent. */
  get needsPing(): boolean {
    return this.#sent !== undefined && this.#probe.kind === 'none'
  }

  /** Call this when {@link needsPing} is true, just before the ping is sent. */
  pingSent(): void {
    if (!this.#sent || this.#probe.kind !== 'none') return
    this.#probe = { kind: 'pinged', covers: this.#sent }
    this.#sent = undefined
  }

  pongReceived(): void {
    if (this.#probe.kind === 'pinged') this.#probe = { kind: 'ponged', covers: this.#probe.covers, frames: 0 }
  }

  /** Counts a frame from the client. @returns what has certainly arrived, at the second frame after a pong */
  frameReceived(): Arrived | undefined {
    const probe = this.#probe
    if (probe.kind !== 'ponged') return undefined
    probe.frames += 1
    if (probe.frames < FRAMES_AFTER_PONG) return undefined
    this.#probe = NO_PROBE
    return probe.covers
  }

  #sinceLastPing(): Sent {
    this.#sent ??= new Sent()
    return this.#sent
  }
}
