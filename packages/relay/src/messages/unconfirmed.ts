// Tracks what one connection was sent that clients never confirm with `delivered`: retractions, notices and
// receipts. These count as arrived after a WebSocket ping, its pong, and two more frames from the client
// (protocol, Delivery 6).
import type { Arrived } from './mailbox-reader.ts'

/** A mark that was sent. */
export interface SentReceipt {
  readonly conversation: number
  readonly deliveredSeq: number
  readonly readSeq: number
}

class Sent implements Arrived {
  retractionPosition = 0
  noticeId = 0
  readonly receipts = new Map<number, { deliveredSeq: number; readSeq: number }>()
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
    const sent = this.#sinceLastPing()
    sent.noticeId = Math.max(sent.noticeId, id)
  }

  receiptSent({ conversation, deliveredSeq, readSeq }: SentReceipt): void {
    const { receipts } = this.#sinceLastPing()
    const known = receipts.get(conversation)
    receipts.set(conversation, {
      deliveredSeq: Math.max(deliveredSeq, known?.deliveredSeq ?? 0),
      readSeq: Math.max(readSeq, known?.readSeq ?? 0),
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
