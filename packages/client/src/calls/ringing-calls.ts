// Keeps the signals of calls that ring, for tabs that are opened meanwhile.
import type { Clock } from '../platform/platform.ts'
import { MAX_CANDIDATES } from './call-peer.ts'
import { ANSWER_WITHIN_MS } from './call-states.ts'
import type { ReceivedSignal } from './carried-calls.ts'

/** How many calls are kept: the latest. All but one are about to be refused. */
const MAX_CALLS = 4

/** A call that rings. */
interface Ringing {
  readonly atMs: number
  /** The offer, and what came after it. */
  readonly signals: ReceivedSignal[]
}

/** The calls of contacts that no tab has accepted or rejected. */
export class RingingCalls {
  readonly #clock: Clock
  /** By id, the oldest first. */
  readonly #calls = new Map<string, Ringing>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds a signal that arrived. It is dropped if it does not belong to a call that rings. */
  add(signal: ReceivedSignal): void {
    const { type, callId, conversationId } = signal
    if (type === 'call_hangup') return this.end(callId)
    const call = this.#calls.get(callId)
    if (!call && type === 'call_offer') {
      // The contact calls again: the hangup of the previous call was lost.
      for (const [id, { signals }] of this.#calls)
        if (signals[0]?.conversationId === conversationId) this.end(id)
      this.#calls.set(callId, { atMs: this.#clock.now(), signals: [signal] })
      for (const id of this.#calls.keys()) if (this.#calls.size > MAX_CALLS) this.#calls.delete(id)
    } else if (call && type === 'call_ice' && call.signals.length <= MAX_CANDIDATES) call.signals.push(signal)
  }

  /** The call rings no more. */
  end(callId: string): void {
    this.#calls.delete(callId)
  }

  clear(): void {
    this.#calls.clear()
  }

  /** All signals, in the order in which they came. */
  signals(): readonly ReceivedSignal[] {
    const now = this.#clock.now()
    for (const [id, { atMs }] of this.#calls) if (now - atMs >= ANSWER_WITHIN_MS) this.end(id)
    return [...this.#calls.values()].flatMap(({ signals }) => signals)
  }
}
