// What this side says of one call: in an order the other side can take, and again where it may not have arrived.
import type { CallSignalFields, CallSignalType } from '@sotto/crypto'
import type { AliasId } from '@sotto/protocol'
import { hasStatus } from './call-fields.ts'
import { type CallCandidate, MAX_CANDIDATES } from './call-peer.ts'
import type { CallSignals, OutgoingSignal } from './call-signals.ts'

/** Who calls whom. */
export interface CallParties {
  readonly id: string
  readonly conversationId: string
  readonly isCaller: boolean
  /** The alias this side goes by in this call, even if it gets another meanwhile: keys are made of it. */
  readonly ownAlias: AliasId
}

/** The signals of this side of a call. */
export class OwnSignals {
  readonly #signals: CallSignals
  readonly #parties: CallParties
  readonly #onError: (error: unknown) => void
  /** What the other side may not have got, should this side have been without a connection. */
  #said: OutgoingSignal[] = []
  /** Candidates that were found before their description was sent; nobody could use them yet. */
  #held: CallCandidate[] = []
  #isHolding = true

  constructor(signals: CallSignals, parties: CallParties, onError: (error: unknown) => void) {
    this.#signals = signals
    this.#parties = parties
    this.#onError = onError
  }

  /** A signal of this call. */
  make(type: CallSignalType, fields: CallSignalFields): OutgoingSignal {
    const { id, conversationId, ownAlias } = this.#parties
    return { type, conversationId, callId: id, from: ownAlias, fields }
  }

  /** From here on candidates are those of a description that is being made. */
  holdCandidates(): void {
    this.#isHolding = true
  }

  /** Sends a description, and then the candidates for it. Answers false where there is no connection to send it by. */
  async describe(
    type: 'call_offer' | 'call_answer' | 'call_ice',
    fields: CallSignalFields,
  ): Promise<boolean> {
    // One in a `call_ice` takes the place of all that was said before it.
    if (type === 'call_ice') this.#said = []
    const signal = this.make(type, fields)
    this.#said.push(signal)
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
    const signal = this.make('call_ice', { ...candidate })
    if (this.#said.length < MAX_CANDIDATES) this.#said.push(signal)
    this.#send(signal)
  }

  /** Says how this side sends. The latest is all that has to arrive. */
  sendStatus(fields: CallSignalFields): void {
    const signal = this.make('call_ice', fields)
    this.#said = [...this.#said.filter((each) => !isStatus(each)), signal]
    this.#send(signal)
  }

  /** Says everything again. */
  repeat(): void {
    for (const signal of this.#said) this.#send(signal)
  }

  /** The media is there: what led to it is not repeated, only how this side sends. */
  settle(fields: CallSignalFields): void {
    this.#said = [this.make('call_ice', fields)]
  }

  /** Nothing is repeated any more. */
  end(): void {
    this.#said = []
    this.#held = []
  }

  /** What is sent where there is no connection now is sent when it is repeated. */
  #send(signal: OutgoingSignal): void {
    this.#signals.send(signal).catch(this.#onError)
  }
}

function isStatus({ fields }: OutgoingSignal): boolean {
  return fields.sdp === undefined && hasStatus(fields)
}
