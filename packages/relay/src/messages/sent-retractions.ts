// Up to which position all retractions were sent on one connection. A retraction counts as arrived together
// with all earlier ones, so none is recorded as sent before one that still waits.
import type { Unconfirmed } from './unconfirmed.ts'

export class SentRetractions {
  readonly #unconfirmed: Unconfirmed
  #last = 0
  #recorded = 0

  constructor(unconfirmed: Unconfirmed) {
    this.#unconfirmed = unconfirmed
  }

  /** A retraction was sent. */
  sent(position: number): void {
    this.#last = Math.max(this.#last, position)
  }

  /** Records what was sent, of the part of the mailbox that was sent completely. */
  record(held: { readonly sentUpTo: number }): void {
    if (this.#last <= this.#recorded) return
    const position = Math.min(this.#last, held.sentUpTo)
    if (position <= this.#recorded) return
    this.#recorded = position
    this.#unconfirmed.retractionSent(position)
  }

  /** The mailbox is read from the start again. */
  restart(): void {
    this.#last = 0
    this.#recorded = 0
  }
}
