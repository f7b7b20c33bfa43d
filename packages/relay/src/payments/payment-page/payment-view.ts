// What the payment page shows of an order, and how amounts of money are written. payment-views.ts makes it
// from an order.
import type { Confirmations } from '../provider.ts'

/**
 * The state of an order, as its payer sees it.
 * - `waiting`: nothing has arrived, and there is time left
 * - `short`: less than the price has arrived, and there is time left for the rest
 * - `seen`: enough was seen; it counts once it is confirmed. Also if it came late but the goods may still be
 *   free
 * - `confirmed`: paid
 * - `expired`: the time is over and nothing has arrived
 * - `refund`: the time is over, and the money that arrived is recorded for refund (too little or too late)
 */
export type PaymentState = 'waiting' | 'short' | 'seen' | 'confirmed' | 'expired' | 'refund'

/**
 * How a buyer pays.
 * - `transfer`: by sending a token to an address of a network
 * - `hosted`: on the page of a payment processor
 * - `manual`: as the operator's text says; the operator confirms by hand
 * - `dev`: not at all; the relay pretends
 */
export type PaymentKind = 'transfer' | 'hosted' | 'manual' | 'dev'

/** A way to pay that the buyer can choose. */
export interface Choice {
  /** Its id. */
  readonly method: string
  readonly kind: PaymentKind
  readonly symbol: string
  readonly network: string
}

/**
 * What arrived.
 * - `payment`: a token in which the order can be paid
 * - `other_token`, `own_coin`: another token, or the coin of the chain itself
 * - `other_chain`: anything on a chain where nothing was to be paid
 */
export type ArrivalKind = 'payment' | 'other_token' | 'own_coin' | 'other_chain'

/** Something that arrived for an order. */
export interface Arrival {
  readonly kind: ArrivalKind
  /** Exact decimal text; absent if the decimal places of a token are not known. */
  readonly amount?: string | undefined
  /** `USDT`; empty if not known. */
  readonly symbol: string
  /** `Ethereum`; empty if not known. */
  readonly network: string
  /** Of another token: the address of its contract. */
  readonly contract?: string | undefined
  /** The transaction, or the processor's name for the payment. */
  readonly reference: string
  /** Its page in a block explorer. */
  readonly page?: string | undefined
  /** When it was paid, in milliseconds since 1970. */
  readonly at: number
  /** `gone`: a reorganisation of the chain removed it. */
  readonly state: 'seen' | 'final' | 'gone'
  /** Whether it counts for the order; null while that is not decided. */
  readonly outcome: 'counted' | 'refund' | null
  readonly confirmations?: Confirmations | undefined
  /** What of it was recorded for refund; without an amount if the decimal places are not known. */
  readonly refund?: { readonly amount?: string | undefined; readonly reference: string | null } | undefined
}

/** An order as its payment page shows it. Amounts are texts made by `decimalText`. */
export interface PaymentView {
  readonly state: PaymentState
  /** The id of the way to pay that was chosen. */
  readonly method: string
  readonly kind: PaymentKind
  /** The ways that can be chosen, with the chosen one. */
  readonly choices: readonly Choice[]
  /** A description for people: `the id ada`, `the channel Cats`. Other users may have chosen parts of it. */
  readonly title: string
  /** What a payer copies: an address, the processor's page, or the operator's text, of any length. */
  readonly payTo: string
  /** The price. */
  readonly amount: string
  /** `USDT` */
  readonly symbol: string
  /** `Ethereum`; empty if not known. */
  readonly network: string
  /** The address of the token's contract, for people to compare; absent if there is none. */
  readonly contract?: string | undefined
  /** Everything that arrived, by time. */
  readonly arrivals: readonly Arrival[]
  /** When the order was confirmed, in milliseconds since 1970. */
  readonly confirmedAt?: number | undefined
  /** The sum of the payments so far, seen or confirmed. */
  readonly received: string
  /** The price less what has arrived; `0` if enough has arrived. */
  readonly missing: string
  /** The excess that is recorded for refund; absent if there is none. */
  readonly excess?: string | undefined
  /**
   * The confirmations of the newest payment; only in the state `seen`, and only on a chain that counts them.
   */
  readonly confirmations?: Confirmations | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** A URI with which a wallet pays what is `missing`; absent if there is none. */
  readonly payUri?: string | undefined
}

/**
 * An amount in its smallest unit as exact decimal text: `decimalText(25_500_000n, 6)` is `25.5`. Nothing is
 * rounded, and zeros at the end are left out.
 * @param decimals the number of decimal places of the smallest unit
 * @throws RangeError if the amount is negative or `decimals` is not a whole number from 0 on
 */
export function decimalText(amount: bigint, decimals: number): string {
  if (amount < 0n) throw new RangeError('an amount of money is not negative')
  if (!Number.isSafeInteger(decimals) || decimals < 0) throw new RangeError('decimals are a whole number')
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
