// Bounds the work of long replies, such as friend lists: by their bytes, which are known only afterwards, and
// by writing an account's replies one after the other.
import type { RequestRates } from './request-rates.ts'

export class LongReplies {
  readonly #rates: Pick<RequestRates, 'take' | 'charge'>
  /** Ends when the last reply of an account that is under way is written. */
  readonly #last = new Map<number, Promise<void>>()

  constructor(rates: Pick<RequestRates, 'take' | 'charge'>) {
    this.#rates = rates
  }

  /**
   * Makes a reply after all earlier ones of this account, and counts its bytes.
   * @returns the reply as JSON
   * @throws ProtocolError `RATE_LIMITED` if earlier replies have used up the rate; and what `make` throws
   */
  async write(account: number, make: () => Promise<unknown>): Promise<string> {
    const before = this.#last.get(account)
    const { promise: written, resolve: end } = Promise.withResolvers<void>()
    this.#last.set(account, written)
    try {
      if (before) {
        await before
        await new Promise((resolve) => setImmediate(resolve)) // Lets other work run first.
      }
      this.#rates.take('longReply', account, 0)
      const text = JSON.stringify(await make())
      this.#rates.charge('longReply', account, Buffer.byteLength(text))
      return text
    } finally {
      end()
      if (this.#last.get(account) === written) this.#last.delete(account)
    }
  }
}
