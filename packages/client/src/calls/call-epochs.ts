// The epochs of a call's keys, on both sides: which are in use, which are next, and that none is begun twice.
import type { CallPeer } from './call-peer.ts'

/**
 * Epochs only rise, and a peer is given each once: with the same key given again, its counter would begin anew (and a
 * receiver's would forget what it has seen), and one key would encrypt two frames under one IV.
 */
export class CallEpochs {
  #own = 1
  #theirs = 0
  #sentUnder = 0
  #receivedUnder = 0
  /** The other side's latest epoch whose keys were lost here, as they may not be used again. */
  #lost = 0

  /** The epoch this side sends under, or will in a moment. */
  get own(): number {
    return this.#own
  }

  /** Whether nothing can be received here until the other side has begun its next epoch. */
  get needsRenewal(): boolean {
    return this.#lost > 0 && this.#theirs <= this.#lost
  }

  /** Goes on to this side's next epoch. @param lost the peer has lost its keys, those it received under as well */
  next(lost: boolean): number {
    this.#own += 1
    if (lost) this.#lost = this.#receivedUnder
    return this.#own
  }

  /** Takes the other side's word on its epoch. */
  hear(epoch: number): void {
    this.#theirs = Math.max(this.#theirs, epoch)
  }

  /** Has the peer send under this side's epoch, unless it does. */
  async send(peer: CallPeer): Promise<void> {
    if (this.#sentUnder >= this.#own) return
    this.#sentUnder = this.#own
    await peer.sendUnder(this.#own)
  }

  /** Has the peer receive under the other side's epoch, unless it does. */
  async receive(peer: CallPeer): Promise<void> {
    if (this.#receivedUnder >= this.#theirs) return
    this.#receivedUnder = this.#theirs
    await peer.receiveUnder(this.#theirs)
  }
}
