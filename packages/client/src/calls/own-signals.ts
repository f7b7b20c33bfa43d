// The signals that this side sends for one call: in an order that the other side can process, and repeated if
// they may be lost.
import type { CallSignalFields, CallSignalType } from '@sotto/crypto'
import type { AliasId } from '@sotto/protocol'
import { hasStatus, writeCandidate } from './call-fields.ts'
import { type CallCandidate, MAX_CANDIDATES } from './call-peer.ts'
import type { OutgoingSignal, SignalSender } from './carried-calls.ts'

/** The two sides of a call. */
export interface CallParties {
  readonly id: string
  readonly conversationId: string
  readonly isCaller: boolean
  /**
   * This side's alias in this call. It stays the same if the account is renamed: the media keys depend on it.
   */
  readonly ownAlias: AliasId
  /**
   * In a call under version 3, the epoch of the conversation that the keys of its media are of. A call keeps
   * its version: it is absent in calls under version 2.
   */
  readonly callEpoch?: number | undefined
}

export class OwnSignals {
  readonly #signals: SignalSender
  readonly #parties: CallParties
  readonly #onError: (error: unknown) => void
  /** The signals to repeat after a lost connection. */
  #toRepeat: OutgoingSignal[] = []
  /** Candidates found before their description was sent. The other side could not use them yet. */
  #held: CallCandidate[] = []
  #isHolding = true

  constructor(signals: SignalSender, parties: CallParties, onError: (error: unknown) => void) {
    this.#signals = signals
    this.#parties = parties
    this.#onError = onError
  }

  /** A signal of this call. */
  make(type: CallSignalType, fields: CallSignalFields): OutgoingSignal {
    const { id: callId, isCaller: _, ownAlias: from, ...rest } = this.#parties
    return { type, callId, from, fields, ...rest }
  }

  /** Holds candidates back from now on, because a new description is being made. */
  holdCandidates(): void {
    this.#isHolding = true
  }

  /**
   * Sends a description, then its candidates. Returns false if there was no connection for the description.
   */
  async describe(
    type: 'call_offer' | 'call_answer' | 'call_ice',
    fields: CallSignalFields,
  ): Promise<boolean> {
    // A description in a `call_ice` replaces all earlier signals.
    if (type === 'call_ice') this.#toRepeat = []
    const signal = this.make(type, fields)
    this.#toRepeat.push(signal)
    const isSent = await this.#signals.send(signal)
    this.#isHolding = false
    for (const candidate of this.#held.splice(0)) this.sendCandidate(candidate)
    return isSent
  }

  sendCandidate(candidate: CallCandidate): void {
    if (this.#isHolding) {
      this.#held.push(candidate)
      return
    }
    const signal = this.make('call_ice', writeCandidate(candidate))
    if (this.#toRepeat.length < MAX_CANDIDATES) this.#toRepeat.push(signal)
    this.#send(signal)
  }

  /** Sends this side's status. Only the latest one is repeated. */
  sendStatus(fields: CallSignalFields): void {
    const signal = this.make('call_ice', fields)
    this.#toRepeat = [...this.#toRepeat.filter((each) => !isStatus(each)), signal]
    this.#send(signal)
  }

  /** Sends all signals again. */
  repeat(): void {
    for (const signal of this.#toRepeat) this.#send(signal)
  }

  /** The media are connected: from now on only this side's status is repeated. */
  settle(fields: CallSignalFields): void {
    this.#toRepeat = [this.make('call_ice', fields)]
  }

  /** The call has ended: nothing is repeated any more. */
  end(): void {
    this.#toRepeat = []
    this.#held = []
  }

  /** Sends a signal. Without a connection it is only sent by `repeat`. */
  #send(signal: OutgoingSignal): void {
    this.#signals.send(signal).catch(this.#onError)
  }
}

function isStatus({ fields }: OutgoingSignal): boolean {
  return fields.sdp === undefined && hasStatus(fields)
}
