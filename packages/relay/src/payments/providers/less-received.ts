// Says in the log that an address received less than a token's event names, once for each payment.
import type { Log } from '../../operations/log.ts'

/**
 * Hands out what an address received to its payments, and logs those that get less than their event names.
 */
export class LessReceived {
  readonly #log: Log
  readonly #logged = new Set<string>()

  constructor(log: Log) {
    this.#log = log
  }

  /** How much of a payment counts, if no more than `left` arrived for it, in the asset's smallest unit. */
  amountOf({ reference, amount }: { reference: string; amount: bigint }, left: bigint): bigint {
    if (left >= amount) return amount
    const net = left > 0n ? left : 0n
    if (!this.#logged.has(reference)) {
      this.#logged.add(reference)
      this.#log.warn('payment_less_received', { reason: reference, amount: net.toString() })
    }
    return net
  }
}
