// The interface of a payment provider. A provider gives an order a place to pay, and reports the payments it
// sees to the ledger. It never changes an order; the ledger judges
// (docs/decisions/0009-orders-and-payments.md).
import type { OrderId } from '@sotto/protocol'
import type { Sql } from '../storage/storage.ts'

/** An order that needs a place to pay. */
export interface OrderToOpen {
  readonly orderId: OrderId
  /** A number that is unique in this store, from 0 to 2^31 - 1. Deposit addresses are derived from it. */
  readonly depositIndex: number
  /** Whole stablecoin units. */
  readonly price: number
  /** When the time to pay at this place is over. Milliseconds since 1970. */
  readonly expiresAt: number
  /** A description for people: `the id ada`. */
  readonly title: string
}

/** Where to pay, and how much. */
export interface Destination {
  /** What a payer copies: an address, or the text that the operator set. */
  readonly payTo: string
  /** The asset to pay in: that of the method. It is compared with the asset of payments. */
  readonly asset: string
  /** In the asset's smallest unit. */
  readonly amount: bigint
  /** The processor's own payment page, if it has one. */
  readonly hostedPage?: string
}

/**
 * A payment that was seen. It may be reported any number of times: payments with one reference are one
 * payment.
 */
export interface PaymentSeen {
  /** A permanent, unique name of the payment: `evm:1/0x<transaction>/3`. */
  readonly reference: string
  /** Where it was seen: `evm:1`, `tron:mainnet`, `webhook`, `manual`, `dev`. */
  readonly scope: string
  /**
   * The order it is for: by the address that received it, or by the order's id. If no order matches, nothing
   * is recorded.
   */
  readonly for: { readonly payTo: string } | { readonly orderId: OrderId }
  readonly asset: string
  /** In the asset's smallest unit. */
  readonly amount: bigint
  /** When it was made, in milliseconds since 1970: the time of its block. This decides whether it is late. */
  readonly at: number
  /** The number of its block. */
  readonly height?: number
  /** False while a reorganisation or the processor can still undo it. */
  readonly isFinal: boolean
  /** Why it cannot count; it is then recorded for refund. */
  readonly problem?: 'wrong_token' | 'wrong_chain'
}

/** Records payments in one transaction. At the end of the transaction, the orders concerned are judged. */
export interface LedgerEntries {
  /**
   * Records a payment, or that a known payment is now final. Until it is final, the latest amount and block
   * and the earliest time are stored. After that only its amount may grow, until it is judged. A retracted
   * payment that is recorded again counts again.
   * @returns false if no known order matches; then nothing was recorded
   */
  record(payment: PaymentSeen): Promise<boolean>
  /** Retracts a payment that was not final. Does nothing if the payment is final or unknown. */
  retract(reference: string): Promise<void>
  /**
   * Retracts every payment of this scope above this height after a reorganisation, final ones too. Those that
   * are recorded again are judged again.
   */
  retractAbove(scope: string, height: number): Promise<void>
  /**
   * The final payments of an asset that were seen at each of these addresses. Their orders are locked, so
   * that nothing is added to them before the transaction ends.
   */
  finalAt(addresses: readonly string[], asset: string): Promise<ReadonlyMap<string, FinalAmounts>>
  /** Retracts every payment of this scope above this height that was not final. */
  retractSeen(scope: string, height: number): Promise<void>
  /**
   * Marks every payment of this scope up to this height as final. Payments that counted, were retracted, and
   * were not recorded again are lost once this covers their former height.
   */
  finalizeUpTo(scope: string, height: number): Promise<void>
}

/** The ledger, as providers see it. */
export interface Ledger {
  /**
   * Runs `work` in one transaction and, once it is on stable storage, notifies the payers whose orders it
   * confirmed. `work` must await only queries. A provider that keeps its own position stores it in the same
   * transaction.
   */
  transaction<T>(work: (entries: LedgerEntries, sql: Sql) => Promise<T>): Promise<T>
  /**
   * The addresses opened at providers of this name whose orders are pending, or closed but still watched for
   * late payments.
   */
  watched(provider: string): Promise<string[]>
  /** The pending orders that can be paid at providers of this name, once for each place to pay. */
  pending(provider: string): Promise<readonly OrderPending[]>
}

/** A pending order, and one place where it can be paid. */
export interface OrderPending {
  readonly orderId: OrderId
  readonly payTo: string
  readonly asset: string
  readonly amount: bigint
  readonly createdAt: number
}

/** The amounts of final payments, by reference. */
export type FinalAmounts = ReadonlyMap<string, bigint>

/** How many confirmations a payment has, and how many it needs. */
export interface Confirmations {
  readonly have: number
  readonly need: number
}

/** One way to pay: an asset that a provider accepts. One unit of every asset pays one unit of a price. */
export interface PaymentMethod {
  /**
   * The asset, which is also the method's id: `evm:1/0xdac1…`, `tron:mainnet/TR7…`, `usdt`, `manual`. The
   * part before the slash names the chain; assets with the same part belong to the same provider. Stored
   * with orders and payments, so it must never change.
   */
  readonly asset: string
  /** `USDT` */
  readonly symbol: string
  /** The number of its decimal places, from 0 to 18. */
  readonly decimals: number
  /** `Ethereum`, `TRON`; empty if not known. */
  readonly network: string
  /** The address of the token's contract, for people to compare; absent if there is none. */
  readonly contract?: string
}

/** What an address holds. */
export interface Holding {
  readonly payTo: string
  readonly asset: string
  /** In the asset's smallest unit. */
  readonly balance: bigint
}

/** What addresses hold. */
export interface Holdings {
  /** The block after which they hold it; undefined: now. */
  readonly height: number | undefined
  /** Of every address and every method of the provider. */
  readonly holdings: readonly Holding[]
}

/** An HTTP endpoint of the provider, such as for a processor's notifications. */
export interface Callback {
  /** Its path below `/payments/`. */
  readonly name: string
  /** Answers a POST request. The body was not read yet, and may have any length. */
  answer(request: Request): Promise<Response>
}

/** A payment provider. */
export interface PaymentProvider {
  /**
   * Its value in the setting `PAYMENTS`. Providers with the same name share the addresses of orders: the same
   * address is watched on every chain.
   */
  readonly name: string
  /** At least one. The assets of all begin with the same part before the slash. */
  readonly methods: readonly PaymentMethod[]
  /**
   * How long an order of an account may last if it is paid here, from when it was placed. Absent: as long as
   * any other.
   */
  readonly holdMs?: number | undefined
  /** Whether buyers should be offered to pay by this method now. */
  isAvailable(method: PaymentMethod): boolean
  /**
   * Gives an order a place to pay by one of the methods.
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if there is none now
   */
  open(order: OrderToOpen, method: PaymentMethod): Promise<Destination>
  /**
   * A URI that fills in a payment in a wallet (EIP-681 and the like); undefined if there is no such scheme.
   */
  payUri?(destination: Pick<Destination, 'payTo' | 'asset' | 'amount'>): string
  /** Starts to watch for payments. Only one node does so at a time. */
  start(ledger: Ledger): Promise<void>
  /** Starts to learn what it needs for opening orders, while another node watches for payments. */
  follow?(ledger: Ledger): Promise<void>
  /** Ends either. Neither begins again. */
  stop(): Promise<void>
  /**
   * The time up to which all payments are known, in milliseconds since 1970. An order that ends later must
   * not expire yet.
   */
  seenUntil(now: number): number
  /**
   * Why payments wait: `few`, because too few endpoints can be asked; `disagree`, because they contradict
   * each other. Chains whose state is in the store say it there.
   */
  trouble?(): 'few' | 'disagree' | undefined
  /** The confirmations of a payment in the block at this height. */
  confirmations?(height: number): Confirmations
  /**
   * What deposit addresses hold, for the operator.
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if the chain cannot be read
   */
  holdings?(addresses: readonly string[]): Promise<Holdings>
  /**
   * How much of an asset left a deposit address, in blocks from one height to another, or until now.
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if the chain cannot be read
   */
  movedOut?(what: { payTo: string; asset: string; from: number; to: number | undefined }): Promise<bigint>
  /** The page of a transaction in a block explorer; undefined if the operator has set none. */
  transactionPage?(transaction: string): string | undefined
  readonly callback?: Callback
}
