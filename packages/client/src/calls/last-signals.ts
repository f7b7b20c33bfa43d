// Sends the last signal of each call: now or, without a connection, as soon as there is one again.
import type { Clock } from '../platform/platform.ts'
import { ANSWER_WITHIN_MS } from './call-states.ts'
import type { OutgoingSignal, SignalSender } from './carried-calls.ts'

/** Sends hangups and rejections. The call itself has ended, so it does not repeat them. */
export class LastSignals {
  readonly #signals: SignalSender
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #unsent: { readonly signal: OutgoingSignal; readonly at: number }[] = []

  constructor(signals: SignalSender, clock: Clock, onError: (error: unknown) => void) {
    this.#signals = signals
    this.#clock = clock
    this.#onError = onError
  }

  send(signal: OutgoingSignal): void {
    this.#send(signal, this.#clock.now())
  }

  /** Call it when there is a connection again. */
  sendUnsent(): void {
    for (const { signal, at } of this.#unsent.splice(0)) if (this.#matters(at)) this.#send(signal, at)
  }

  #send(signal: OutgoingSignal, at: number): void {
    this.#signals.send(signal).then((isSent) => {
      if (isSent) return
      this.#unsent = [...this.#unsent.filter((each) => this.#matters(each.at)), { signal, at }]
    }, this.#onError)
  }

  /** Whether a signal is still useful: after this time the other side has ended the call itself. */
  #matters(at: number): boolean {
    return this.#clock.now() - at < ANSWER_WITHIN_MS
  }
}
