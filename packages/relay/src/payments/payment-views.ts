// An order as its payment page shows it: what has arrived, what is missing, and its state.
import type { Clock } from '../operations/clock.ts'
import type { Storage } from '../storage/storage.ts'
import type { Order } from './order.ts'
import { listPayments, type Payment } from './payment.ts'
import {
  decimalText,
  type PaymentMethod,
  type PaymentState,
  type PaymentView,
} from './payment-page/payment-view.ts'
import type { PaymentProvider } from './provider.ts'

interface ViewParts {
  readonly storage: Storage
  readonly provider: PaymentProvider
  readonly clock: Clock
}

/** The order whose payment page has this token, as the page shows it. */
export async function findPaymentView(token: string, parts: ViewParts): Promise<PaymentView | undefined> {
  const [order] = await parts.storage.sql<Order>`
    SELECT * FROM orders WHERE page_token = ${token} AND pay_to <> ''`
  if (!order) return undefined
  return viewOf(order, await listPayments(parts.storage.sql, order.id), parts)
}

function viewOf(order: Order, payments: readonly Payment[], { provider, clock }: ViewParts): PaymentView {
  const price = BigInt(order.amount)
  // Amounts of other tokens have other units, and anybody can send such tokens, so they are not counted.
  const right = payments.filter(({ asset, problem }) => asset === order.asset && problem === null)
  const arrived = right.filter(({ state }) => state !== 'gone')
  const received = sum(arrived.map(({ amount }) => amount))
  const excess = sum(right.map(({ refund_amount }) => refund_amount ?? '0'))
  const missing = received < price ? price - received : 0n
  const text = (amount: bigint): string => decimalText(amount, decimalsOf(order))
  const isOurs = order.provider === provider.name
  const state = stateOf(order, arrived, clock.now())
  const height = Math.max(...arrived.map((payment) => payment.height ?? 0))
  const confirmations =
    state === 'seen' && height > 0 && isOurs ? provider.confirmations?.(height) : undefined
  const payUri =
    isOurs && missing > 0n ? provider.payUri?.({ payTo: order.pay_to, amount: missing }) : undefined
  return {
    ...{
      state,
      method: methodOf(order),
      title: order.title,
      payTo: order.pay_to,
      expiresAt: order.expires_at,
    },
    ...{ amount: text(price), received: text(received), missing: text(missing) },
    symbol: provider.unit.symbol,
    network: isOurs ? provider.unit.network : '',
    ...(excess > 0n ? { excess: text(excess) } : {}),
    ...(confirmations ? { confirmations } : {}),
    ...(payUri === undefined ? {} : { payUri }),
  }
}

function stateOf(order: Order, arrived: readonly Payment[], now: number): PaymentState {
  if (order.status === 'confirmed') return 'confirmed'
  const price = BigInt(order.amount)
  const open = arrived.filter(({ outcome }) => outcome === null)
  const paid = sum(open.map(({ amount }) => amount))
  if (paid >= price) return 'seen'
  if (order.status === 'pending' && paid > 0n) return 'short'
  if (order.status === 'pending' && now <= order.expires_at) return 'waiting'
  return arrived.length > 0 ? 'refund' : 'expired'
}

function methodOf({ provider }: Order): PaymentMethod {
  return provider === 'manual' || provider === 'dev' ? provider : 'transfer'
}

// The number of decimals follows from the price in whole units and in the smallest unit. This also works for
// an order of a provider that is no longer set up.
function decimalsOf({ amount, price }: Order): number {
  return (BigInt(amount) / BigInt(price)).toString().length - 1
}

function sum(amounts: readonly string[]): bigint {
  return amounts.reduce((total, amount) => total + BigInt(amount), 0n)
}
