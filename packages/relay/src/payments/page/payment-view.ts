// What the payment page has to know of an order, and how amounts of money are written. The orders make it, the page shows it.
import type { Confirmations } from '../provider.ts'

/**
 * How far an order has come, as its payer should see it.
 * - `waiting`: nothing has arrived, and there is time
 * - `short`: something has arrived, less than the price, and there is time for the rest
 * - `seen`: enough was seen; it counts once it is confirmed. Also where it came late and may still be in time for what is bought
 * - `confirmed`: paid, for good
 * - `expired`: the time is over and nothing has arrived
 * - `refund`: the time is over, and what arrived could not pay for it (too little, too late): recorded to be given back
 */
export type PaymentState = 'waiting' | 'short' | 'seen' | 'confirmed' | 'expired' | 'refund'

/**
 * How one pays.
 * - `transfer`: by sending a token to an address of a network
 * - `manual`: as the operator wrote, who confirms by hand
 * - `dev`: not at all; the relay pretends
 */
export type PaymentMethod = 'transfer' | 'manual' | 'dev'

/** An order as its payment page shows it. Amounts are what `decimalText` makes of them. */
export interface PaymentView {
  readonly state: PaymentState
  readonly method: PaymentMethod
  /** What is bought, for people to read: `the id ada`, `the channel Cats`. Others may have chosen parts of it. */
  readonly title: string
  /** What a payer copies: an address, or what the operator wrote, of any length. */
  readonly payTo: string
  /** The price. */
  readonly amount: string
  /** `USDT` */
  readonly symbol: string
  /** `Ethereum`; empty where there is no telling. */
  readonly network: string
  /** What has arrived so far, seen or confirmed. */
  readonly received: string
  /** The price less what has arrived; `0` where that is enough. */
  readonly missing: string
  /** What has arrived beyond the price and is recorded to be given back; absent where there is none. */
  readonly excess?: string | undefined
  /** How deep the payment is that decides, in the state `seen` of a chain that counts. */
  readonly confirmations?: Confirmations | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** What a wallet takes to pay what is `missing`; absent where there is no such thing. */
  readonly payUri?: string | undefined
}

/**
 * An amount in its smallest unit as exact decimal text: `decimalText(25_500_000n, 6)` is `25.5`. No digit is rounded, none
 * is written that says nothing.
 * @param decimals how many digits the smallest unit has behind the point
 * @throws RangeError where the amount is negative or the decimals are no whole number from 0 on
 */
export function decimalText(amount: bigint, decimals: number): string {
  if (amount < 0n) throw new RangeError('an amount of money is not negative')
  if (!Number.isSafeInteger(decimals) || decimals < 0) throw new RangeError('decimals are a whole number')
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
