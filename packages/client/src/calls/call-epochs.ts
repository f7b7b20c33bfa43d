// The key epochs of a call, on both sides: which are in use and which come next. No epoch begins twice.
import type { CallPeer } from './call-peer.ts'

/**
 * Epochs only rise, and a peer gets each of them once. If a peer got the same key again, its frame counter
 * would start again, and one key would encrypt two frames with one IV. A receiver would also forget which
 * frames it has seen.
 */
export class CallEpochs {
  #own = 1
  #theirs = 0
  #sentUnder = 0
  #receivedUnder = 0
  /** The other side's latest epoch whose keys were lost here. Its keys must not be used again. */
  #lost = 0

  /** The epoch with which this side sends, or is about to send. */
  get own(): number {
    return this.#own
  }

  /** Whether this side can receive nothing until the other side begins its next epoch. */
  get needsRenewal(): boolean {
    return this.#lost > 0 && this.#theirs <= this.#lost
  }

  /**
   * Changes to this side's next epoch. @param lost whether the peer has lost its keys, including the
   * receiving ones
   */
  next(lost: boolean): number {
    this.#own += 1
    if (lost) this.#lost = this.#receivedUnder
    return this.#own
  }

  /** Records the epoch that the other side reports. */
  setTheirs(epoch: number): void {
    this.#theirs = Math.max(this.#theirs, epoch)
  }

  /** Makes the peer send with this side's epoch, unless it already does. */
  async send(peer: CallPeer): Promise<void> {
    if (this.#sentUnder >= this.#own) return
    this.#sentUnder = this.#own
    await peer.sendUnder(this.#own)
  }

  /** Makes the peer receive with the other side's epoch, unless it already does. */
  async receive(peer: CallPeer): Promise<void> {
    if (this.#receivedUnder >= this.#theirs) return
    this.#receivedUnder = this.#theirs
    await peer.receiveUnder(this.#theirs)
  }
}
