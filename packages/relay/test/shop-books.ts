// Compares the books that a random schedule of a shop left with the chain.
import type { Order } from '../src/payments/order.ts'
import type { Payment } from '../src/payments/payment.ts'
import type { ModelChain } from './model-chain.ts'

/** The token to pay in. */
export const TOKEN = `0x${'aa'.repeat(20)}`
/** One whole unit of the token. */
export const UNIT = 1_000_000n

/** What a schedule left, to be compared. */
export interface Aftermath {
  readonly chain: ModelChain
  readonly orders: readonly Order[]
  /** Every place that was opened. */
  readonly destinations: readonly { readonly pay_to: string }[]
  readonly payments: readonly Payment[]
  /** The price at which each order was placed, by its id. */
  readonly placedAt: ReadonlyMap<string, number>
  /** Every order that was confirmed by late money, with the price on sale at that moment. */
  readonly soldLate: readonly { readonly order: Order; readonly price: number | undefined }[]
  /** The ids of orders that the operator's list shows for refunds, and for lost payments. */
  readonly listed: { readonly refunds: readonly string[]; readonly lost: readonly string[] }
  readonly payouts: readonly { readonly order_number: number; readonly amount: number }[]
  readonly seats: number
  /** How often an order was seen that is held for longer than usual. */
  readonly longHolds: number
}

/** How often the schedules reached what they are for. */
export interface Totals {
  confirmed: number
  expired: number
  late: number
  lost: number
  refunds: number
  longHolds: number
}

/** Everything that is wrong with the books. */
export function problemsOf(left: Aftermath, totals: Totals): string[] {
  totals.longHolds += left.longHolds
  return [...booksAgainstChain(left), ...givenAway(left, totals), ...forgotten(left, totals)]
}

function booksAgainstChain({ chain, destinations, payments }: Aftermath): string[] {
  const problems: string[] = []
  const addresses = new Set(destinations.map(({ pay_to }) => pay_to))
  const onChain = new Map<string, bigint>()
  for (const { transaction, token, to, amount } of chain.blocks.flatMap(({ transfers }) => transfers))
    if (token === TOKEN && addresses.has(to)) onChain.set(`evm:31337/${transaction}/${TOKEN}/0`, amount)
  const inBooks = payments.filter(({ asset, state }) => asset.endsWith(TOKEN) && state === 'final')
  for (const { reference, amount, outcome, refund_amount } of inBooks) {
    if (onChain.get(reference) !== BigInt(amount)) problems.push(`${reference} is not on the chain`)
    if (outcome === null) problems.push(`${reference} is not judged`)
    if (outcome === 'refund' && refund_amount === null) problems.push(`${reference} names no refund`)
    onChain.delete(reference)
  }
  for (const reference of onChain.keys()) problems.push(`${reference} is missing in the books`)
  const seen = payments.filter(({ state, asset }) => state === 'seen' && asset.endsWith(TOKEN))
  for (const { reference } of seen) problems.push(`${reference} never became final`)
  return problems
}

function givenAway(
  { orders, payments, placedAt, soldLate, payouts, seats, listed }: Aftermath,
  totals: Totals,
): string[] {
  const problems: string[] = []
  const confirmed = orders.filter(({ status }) => status === 'confirmed')
  totals.confirmed += confirmed.length
  totals.late += soldLate.length
  totals.lost += listed.lost.length
  for (const order of confirmed) {
    const own = payments.filter(({ order_number }) => order_number === order.id)
    const counted = own.filter(({ outcome, state }) => outcome === 'counted' && state === 'final')
    const net = counted.reduce(
      (sum, { amount, refund_amount }) => sum + BigInt(amount) - BigInt(refund_amount ?? 0),
      0n,
    )
    const price = BigInt(order.price) * UNIT
    const isLost = own.some(({ lost }) => lost === 'lost')
    if (net > price) problems.push(`${order.order_id} took ${net} for ${price}`)
    if (net < price && !isLost) problems.push(`${order.order_id} was sold for ${net}, not ${price}`)
    if (isLost !== listed.lost.includes(order.order_id))
      problems.push(`${order.order_id} is listed wrongly as lost`)
    const late = soldLate.find(({ order: { id } }) => id === order.id)
    const asked = late ? late.price : placedAt.get(order.order_id)
    // A channel that was sold is no longer listed, so its price is compared with what was listed before.
    if (order.price !== asked)
      problems.push(`${order.order_id} was sold at ${order.price}, and it cost ${asked}`)
  }
  const things = confirmed.filter(({ kind }) => kind !== 'quota').map(({ ref_id }) => ref_id)
  if (new Set(things).size < things.length) problems.push(`sold twice: ${things.join(' ')}`)
  const channels = confirmed.filter(({ kind }) => kind === 'channel')
  if (payouts.length !== channels.length)
    problems.push(`${payouts.length} payouts for ${channels.length} channels`)
  for (const { id, price } of channels)
    if (!payouts.some(({ order_number, amount }) => order_number === id && amount === price))
      problems.push(`the seller of order ${id} is not owed ${price}`)
  const quotas = confirmed.filter(({ kind }) => kind === 'quota').length
  if (seats !== quotas) problems.push(`${seats} seats for ${quotas} orders`)
  return problems
}

function forgotten({ orders, payments, listed }: Aftermath, totals: Totals): string[] {
  const problems: string[] = []
  for (const order of orders) {
    if (order.status === 'pending') problems.push(`${order.order_id} never ended`)
    const own = payments.filter(({ order_number }) => order_number === order.id)
    const right = own.filter(({ asset, state }) => asset.endsWith(TOKEN) && state === 'final')
    const isDue = own.some(({ refund_amount, refunded_at }) => refund_amount !== null && refunded_at === null)
    if (isDue) totals.refunds += 1
    if (isDue !== listed.refunds.includes(order.order_id))
      problems.push(`${order.order_id}: its refund is not listed`)
    if (order.status !== 'expired') continue
    totals.expired += 1
    const inTime = right.filter(({ at }) => at <= order.expires_at)
    const sum = inTime.reduce((total, { amount }) => total + BigInt(amount), 0n)
    if (sum < BigInt(order.amount)) continue
    const isTaken = orders.some(
      ({ ref_id, id, kind }) => ref_id === order.ref_id && id !== order.id && kind !== 'quota',
    )
    if (!isTaken) problems.push(`${order.order_id} was paid in time and got nothing`)
  }
  return problems
}
