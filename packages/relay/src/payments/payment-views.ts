// An order as its payment page shows it: what has arrived, what is missing, and its state.
import type { Clock } from '../operations/clock.ts'
import type { Storage } from '../storage/storage.ts'
import { sumOf, unitsThatPay, VALUE_DECIMALS, valueOfPrice } from './amounts.ts'
import { findDestination, type OpenedDestination } from './destinations.ts'
import { findOrderByPage, type Order } from './order.ts'
import { listPayments, type Payment } from './payment.ts'
import type { PaymentMethods } from './payment-methods.ts'
import {
  type Arrival,
  type ArrivalKind,
  type Choice,
  decimalText,
  type PaymentKind,
  type PaymentState,
  type PaymentView,
} from './payment-page/payment-view.ts'
import type { Confirmations } from './provider.ts'

/** The decimal places of the own coin of every EVM chain. */
const COIN_DECIMALS = 18

interface ViewParts {
  readonly storage: Storage
  readonly methods: PaymentMethods
  readonly clock: Clock
}

/** The order whose payment page has this token, as the page shows it. */
export async function findPaymentView(token: string, parts: ViewParts): Promise<PaymentView | undefined> {
  const order = await findOrderByPage(parts.storage.sql, token)
  const opened = order && (await findDestination(parts.storage.sql, order.id, order.asset))
  if (!order || !opened) return undefined
  return viewOf(order, opened, { ...parts, payments: await listPayments(parts.storage.sql, order.id) })
}

function viewOf(
  order: Order,
  { decimals }: OpenedDestination,
  { payments, methods, clock }: ViewParts & { payments: readonly Payment[] },
): PaymentView {
  const price = valueOfPrice(order.price)
  // Anybody can send other tokens, so they are not counted.
  const right = payments.filter((payment) => payment.decimals !== null && payment.problem === null)
  const arrived = right.filter(({ state }) => state !== 'gone')
  const received = sumOf(arrived)
  const excess = sumOf(right.map((payment) => ({ ...payment, amount: payment.refund_amount ?? '0' })))
  const missing = unitsThatPay(received < price ? price - received : 0n, decimals)
  const state = stateOf(order, arrived, clock.now())
  const offer = methods.find(order.asset)
  const { method: { symbol = '', network = '' } = {}, provider } = offer ?? {}
  const destination = { payTo: order.pay_to, asset: order.asset, amount: missing }
  const payUri = missing > 0n ? provider?.payUri?.(destination) : undefined
  const confirmations = state === 'seen' ? confirmationsOf(arrived, methods) : undefined
  return {
    arrivals: payments.map((payment) => arrivalOf(payment, order, methods)),
    ...(order.confirmed_at === null ? {} : { confirmedAt: order.confirmed_at }),
    ...(offer?.method.contract === undefined ? {} : { contract: offer.method.contract }),
    ...{ state, method: order.asset, kind: kindOf(order), choices: choicesOf(order, methods) },
    ...{ title: order.title, payTo: order.pay_to, symbol, network },
    expiresAt: order.expires_at,
    amount: decimalText(price, VALUE_DECIMALS),
    received: decimalText(received, VALUE_DECIMALS),
    missing: decimalText(missing, decimals),
    ...(excess > 0n ? { excess: decimalText(excess, VALUE_DECIMALS) } : {}),
    ...(confirmations ? { confirmations } : {}),
    ...(payUri === undefined ? {} : { payUri }),
  }
}

function arrivalOf(payment: Payment, order: Order, methods: PaymentMethods): Arrival {
  const { asset, amount, at, height, state, outcome, refund_amount, refund_reference } = payment
  const kind = arrivalKindOf(payment)
  const provider = methods.providerOf(asset)
  const method = methods.find(asset)?.method
  const decimals = payment.decimals ?? (kind === 'own_coin' ? COIN_DECIMALS : undefined)
  const text = (units: string): string | undefined =>
    decimals === undefined ? undefined : decimalText(BigInt(units), decimals)
  // The id of an order gives the right to bind what it bought, and the page must not give that away. Names of
  // payments that the operator or a processor chose may contain it.
  const withoutId = (name: string): string => name.replaceAll(order.order_id, '…')
  const transaction = /^(?:evm|tron):[^/]+\/([^/]+)/.exec(payment.reference)?.[1]
  const isSeen = state === 'seen' && height !== null
  return {
    ...{ kind, at, state, outcome, symbol: method?.symbol ?? '' },
    network: method?.network ?? provider?.methods[0]?.network ?? '',
    amount: text(amount),
    contract: kind === 'other_token' ? asset.slice(asset.indexOf('/') + 1) : undefined,
    reference: transaction ?? withoutId(payment.reference),
    page: transaction === undefined ? undefined : provider?.transactionPage?.(transaction),
    confirmations: isSeen ? provider?.confirmations?.(height) : undefined,
    refund:
      refund_amount === null
        ? undefined
        : { amount: text(refund_amount), reference: refund_reference && withoutId(refund_reference) },
  }
}

function arrivalKindOf({ problem, decimals, asset }: Payment): ArrivalKind {
  if (problem === 'wrong_chain') return 'other_chain'
  if (asset.endsWith('/native')) return 'own_coin'
  return problem === null && decimals !== null ? 'payment' : 'other_token'
}

// Of the payment that has the fewest relative to what it needs, because the order waits for it.
function confirmationsOf(arrived: readonly Payment[], methods: PaymentMethods): Confirmations | undefined {
  const counts = arrived
    .filter(({ state }) => state === 'seen')
    .flatMap(({ asset, height }) =>
      height === null ? [] : (methods.providerOf(asset)?.confirmations?.(height) ?? []),
    )
  return counts.sort((a, b) => a.have / a.need - b.have / b.need)[0]
}

function stateOf(order: Order, arrived: readonly Payment[], now: number): PaymentState {
  if (order.status === 'confirmed') return 'confirmed'
  const paid = sumOf(arrived.filter(({ outcome }) => outcome === null))
  if (paid >= valueOfPrice(order.price)) return 'seen'
  if (order.status === 'pending' && paid > 0n) return 'short'
  if (order.status === 'pending' && now <= order.expires_at) return 'waiting'
  return arrived.length > 0 ? 'refund' : 'expired'
}

function kindOf({ provider }: { readonly provider: string }): PaymentKind {
  if (provider === 'webhook') return 'hosted'
  return provider === 'manual' || provider === 'dev' ? provider : 'transfer'
}

function choicesOf({ asset }: Order, methods: PaymentMethods): Choice[] {
  const available = methods.available()
  const chosen = methods.find(asset)
  const shown = chosen && !available.includes(chosen) ? [chosen, ...available] : available
  return shown.map(({ method, provider }) => ({
    ...{ method: method.asset, kind: kindOf({ provider: provider.name }) },
    ...{ symbol: method.symbol, network: method.network },
  }))
}
