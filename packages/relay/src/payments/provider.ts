// What a way of being paid is: it gives an order somewhere to pay, and tells the ledger of the money it sees. It never
// touches an order; the ledger judges (docs/decisions/0009-orders-and-payments.md).
import type { OrderId } from '@sotto/protocol'
import type { Sql } from '../storage/storage.ts'

/** An order that needs somewhere to be paid. */
export interface OrderToOpen {
  readonly orderId: OrderId
  /** A number no other order of this store has, from 0 to 2^31 - 1: what a deposit address is derived from. */
  readonly depositIndex: number
  /** Whole stablecoin units. */
  readonly price: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** What is bought, for people to read: `the id ada`. */
  readonly title: string
}

/** Where to pay, and how much. */
export interface Destination {
  /** An address, or what the operator wrote there; what a payer copies. */
  readonly payTo: string
  /** What is to be paid in, such as `evm:1/0xdac1…` or `usdt`; compared with what arrives. */
  readonly asset: string
  /** In the asset's smallest unit. */
  readonly amount: bigint
  /** The processor's own page, where it has one. */
  readonly hostedPage?: string
}

/** Money that was seen. Told as often as one likes: the reference makes it one payment. */
export interface PaymentSeen {
  /** The provider's own name of it, unique for good: `evm:1/0x<transaction>/3`. */
  readonly reference: string
  /** Where it was seen: `evm:1`, `tron:mainnet`, `webhook`, `manual`, `dev`. */
  readonly scope: string
  /** Which order it is for: by the address it went to, or by name. Where there is none, nothing is recorded. */
  readonly for: { readonly payTo: string } | { readonly orderId: OrderId }
  readonly asset: string
  /** In the asset's smallest unit. */
  readonly amount: bigint
  /** When it was made, in milliseconds since 1970: the time of its block, by which lateness is judged. */
  readonly at: number
  /** The number of its block. */
  readonly height?: number
  /** Whether it can still be taken back. */
  readonly isFinal: boolean
  /** Why it can pay for nothing: recorded for refund. */
  readonly problem?: 'wrong_token' | 'wrong_chain'
}

/** Entries made in one transaction. */
export interface LedgerEntries {
  /**
   * Records a payment, or that one seen before is final now. Until it is final the last word on its amount, time and
   * block counts; then nothing changes it. One that was retracted and is recorded again is back.
   * @returns false where no order is known that it could be for, and nothing was recorded
   */
  record(payment: PaymentSeen): Promise<boolean>
  /** One payment that was not final is not there any more; says nothing of a final one or one never recorded. */
  retract(reference: string): Promise<void>
  /** A reorganisation took away every payment of this scope above this height that was not final. */
  retractAbove(scope: string, height: number): Promise<void>
  /** Every payment of this scope up to this height is final. */
  finalizeUpTo(scope: string, height: number): Promise<void>
}

/** The book of payments, as providers see it. */
export interface Ledger {
  /**
   * Runs `work` in one transaction and, once that is on stable storage, tells the payers of what it confirmed. Nothing but
   * queries may be awaited inside. What a provider keeps of its own position belongs in the same transaction.
   */
  transaction<T>(work: (entries: LedgerEntries, sql: Sql) => Promise<T>): Promise<T>
  /** Addresses of orders of this provider that are open, or closed for less than the time they are watched on. */
  watched(provider: string): Promise<string[]>
  /** Orders of this provider that wait to be paid. */
  pending(provider: string): Promise<readonly OrderPending[]>
}

/** An order that waits to be paid. */
export interface OrderPending {
  readonly orderId: OrderId
  readonly payTo: string
  readonly asset: string
  readonly amount: bigint
  readonly createdAt: number
}

/** How deep a payment is, and how deep it has to be. */
export interface Confirmations {
  readonly have: number
  readonly need: number
}

/** What people read of an asset. */
export interface Unit {
  /** `USDT` */
  readonly symbol: string
  /** How many digits its smallest unit has behind the point. */
  readonly decimals: number
  /** `Ethereum`, `TRON`; empty where there is no telling. */
  readonly network: string
}

/** A request to an address of the provider's own, such as a processor's notification. */
export interface Callback {
  /** Under `/payments/`. */
  readonly name: string
  answer(request: Request): Promise<Response>
}

/** A way of being paid. */
export interface PaymentProvider {
  /** As in the setting `PAYMENTS`. */
  readonly name: string
  readonly unit: Unit
  /**
   * Gives an order somewhere to pay.
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` where none can be given now
   */
  open(order: OrderToOpen): Promise<Destination>
  /** What a wallet takes to fill in a payment (EIP-681 and the like); undefined where there is no such thing. */
  payUri?(destination: { readonly payTo: string; readonly amount: bigint }): string
  /** Begins to look for payments. */
  start(ledger: Ledger): Promise<void>
  stop(): Promise<void>
  /** Up to when it is known what was paid, in milliseconds since 1970. No order that ends later may expire. */
  seenUntil(now: number): number
  /** How deep a block of this height is. */
  confirmations?(height: number): Confirmations
  readonly callback?: Callback
}
