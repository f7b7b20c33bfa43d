// The operator's accounts: sales, payments, refunds and payouts, in the order of time.
import { OrderId, OrderKind } from '@sotto/protocol'
import * as v from 'valibot'
import { type OperatorCommand, operatorCommand } from '../listener/operator-command.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import { decimalText } from './payment-page/payment-view.ts'

const PAGE = 1000

/**
 * What an entry says.
 * - `sale`: an order was confirmed. The amount is its price in whole stablecoin units
 * - `payment`: money arrived, and was final. If a reorganisation removed it after that, its outcome says so
 * - `refund`: the operator recorded that money was given back
 * - `payout_due`, `payout`: what the seller of a channel is owed, and that the operator recorded its payment
 */
const ENTRIES = ['sale', 'payment', 'refund', 'payout_due', 'payout'] as const

/** The place of an entry in the accounts. The next page begins after it. */
const Place = v.object({ at: v.number(), rank: v.number(), id: v.number() })

const AccountEntry = v.object({
  /** ISO 8601. For a payment it is the time of its block, so an entry may appear after later ones. */
  at: v.string(),
  entry: v.picklist(ENTRIES),
  order_id: OrderId,
  kind: OrderKind,
  /** The id, the channel's id, or `channel_quota`. */
  ref_id: v.string(),
  /** The buyer, or for payouts the seller; null if there is none. */
  account: v.nullable(v.string()),
  provider: v.string(),
  /** Empty for sales and payouts, whose amounts are in whole stablecoin units. */
  asset: v.string(),
  /** Exact decimal text; null if the decimal places of the asset are not known. */
  amount: v.nullable(v.string()),
  /** In the asset's smallest unit; empty for sales and payouts. */
  smallest_units: v.string(),
  /**
   * Of a payment: `counted`, `refund`, or null while it is not decided. `missing`, `lost` or `settled`: a
   * reorganisation removed it after it had counted or was given back (see `lost` of a payment).
   */
  outcome: v.nullable(v.picklist(['counted', 'refund', 'missing', 'lost', 'settled'])),
  /** Of a payment: how much of `smallest_units` is or was to be given back; null for none. */
  refund_units: v.nullable(v.string()),
  /** Why a payment is given back. */
  reason: v.nullable(v.string()),
  /** How to find the payment; empty for sales. */
  reference: v.string(),
})
/** An entry of the accounts. */
export type AccountEntry = v.InferOutput<typeof AccountEntry>

const OrderAccounts = v.object({ entries: v.array(AccountEntry), next: v.nullable(Place) })
/** A page of the accounts; `next` is null on the last one. */
export type OrderAccounts = v.InferOutput<typeof OrderAccounts>

/** The answers to the commands about accounts. */
export const accountingAnswers = { 'orders.accounts': OrderAccounts } as const

/** The commands about accounts, by name. */
export function accountingCommands({
  storage,
}: {
  storage: Storage
}): Readonly<Record<keyof typeof accountingAnswers, OperatorCommand>> {
  return {
    /** The entries from one time until before another, in milliseconds since 1970, a page at a time. */
    'orders.accounts': operatorCommand(
      v.object({ from: v.number(), until: v.number(), after: v.optional(Place) }),
      async ({ from, until, after }) => {
        const rows = await readEntries(storage.sql, { from, until, after })
        const last = rows.length < PAGE ? undefined : rows.at(-1)
        return {
          entries: rows.map(entryOf),
          next: last ? { at: last.at, rank: last.rank, id: last.id } : null,
        }
      },
    ),
  }
}

interface Row {
  readonly at: number
  readonly rank: number
  readonly id: number
  readonly amount: string
  readonly asset: string
  readonly reference: string
  readonly outcome: AccountEntry['outcome']
  readonly refund_units: string | null
  readonly reason: string | null
  readonly order_id: OrderId
  readonly kind: OrderKind
  readonly ref_id: string
  readonly provider: string
  readonly decimals: number | null
  readonly account: string | null
}

// `rank` is the entry's place in ENTRIES.
function readEntries(
  sql: Sql,
  { from, until, after }: { from: number; until: number; after: v.InferOutput<typeof Place> | undefined },
): Promise<Row[]> {
  const start = after ?? { at: from, rank: -1, id: 0 }
  return sql<Row>`
    SELECT entries.*, orders.order_id, orders.kind, orders.ref_id, orders.provider, accounts.alias_id AS account
    FROM (
      SELECT confirmed_at AS at, 0 AS rank, id, id AS order_number, buyer_id AS account_id, CAST(price AS TEXT) AS amount,
        '' AS asset, CAST(NULL AS BIGINT) AS decimals, '' AS reference, NULL AS outcome, NULL AS refund_units, NULL AS reason
      FROM orders WHERE confirmed_at IS NOT NULL
      UNION ALL
      SELECT payments.at, 1, payments.id, order_number, buyer_id, payments.amount, payments.asset, decimals, reference,
        CASE WHEN state = 'final' THEN outcome ELSE lost END, refund_amount, reason
      FROM payments JOIN orders ON orders.id = order_number WHERE state = 'final' OR lost IS NOT NULL
      UNION ALL
      SELECT refunded_at, 2, payments.id, order_number, buyer_id, refund_amount, payments.asset, decimals, refund_reference, NULL,
        NULL, reason
      FROM payments JOIN orders ON orders.id = order_number WHERE refunded_at IS NOT NULL
      UNION ALL
      SELECT due_at, 3, id, order_number, seller_id, CAST(amount AS TEXT), '', NULL, '', NULL, NULL, NULL FROM payouts
      UNION ALL
      SELECT paid_at, 4, id, order_number, seller_id, CAST(amount AS TEXT), '', NULL, paid_reference, NULL, NULL, NULL
      FROM payouts WHERE paid_at IS NOT NULL
    ) AS entries
    JOIN orders ON orders.id = entries.order_number LEFT JOIN accounts ON accounts.id = entries.account_id
    WHERE entries.at < ${until} AND (entries.at, entries.rank, entries.id) > (${start.at}, ${start.rank}, ${start.id})
    ORDER BY entries.at, entries.rank, entries.id LIMIT ${PAGE}`
}

function entryOf(row: Row): AccountEntry {
  const { at, rank, amount, asset, decimals } = row
  const { order_id, kind, ref_id, account, provider, outcome, refund_units, reason, reference } = row
  const entry = ENTRIES[rank]
  if (!entry) throw new Error('an entry of no known kind')
  const isInWholeUnits = asset === ''
  const text = decimals === null ? null : decimalText(BigInt(amount), decimals)
  return {
    ...{ at: new Date(at).toISOString(), entry, order_id, kind, ref_id, account, provider, asset },
    ...{ amount: isInWholeUnits ? amount : text, smallest_units: isInWholeUnits ? '' : amount },
    ...{ outcome, refund_units, reason, reference },
  }
}
