// Formats orders as text for a terminal.
import type { OrderDetail, OrderLine, PaymentLine, PayoutLine } from '@sotto/relay'
import { cells, cut, sanitizeLine, sanitizeText } from './sanitize.ts'

const COLUMNS = 100
const LONGEST = 600
/** Providers that give each order a separate address, derived from an extended key. */
const WITH_DEPOSIT_ADDRESSES = ['evm', 'tron']

/** One line per order. */
export function ordersTable(orders: readonly OrderLine[]): string {
  const hasRefunds = orders.some(({ refunds_due }) => refunds_due > 0)
  const hasLost = orders.some(({ lost_payments }) => lost_payments > 0)
  const isWaited = orders.some(({ status }) => status === 'pending')
  const countOf = (count: number): string => (count === 0 ? '' : String(count))
  const rows = orders.map((order) => [
    ...[order.order_id, order.kind, order.ref_id, String(order.price_usdt), order.status],
    minutesOf(order.created_at),
    ...(isWaited ? [order.status === 'pending' ? dayAndMinutesOf(order.expires_at) : ''] : []),
    ...(hasRefunds ? [countOf(order.refunds_due)] : []),
    ...(hasLost ? [countOf(order.lost_payments)] : []),
  ])
  const more = [...(hasRefunds ? ['REFUNDS'] : []), ...(hasLost ? ['LOST'] : [])]
  const ends = isWaited ? ['ENDS'] : []
  const titles = ['ORDER', 'KIND', 'FOR', 'PRICE', 'STATUS', 'PLACED', ...ends, ...more]
  return table(titles, rows, 2)
}

/** One line per seller and sale. */
export function payoutsTable(payouts: readonly PayoutLine[]): string {
  const hasHeld = payouts.some(({ is_held }) => is_held)
  const rows = payouts.map(({ order_id, seller, price_usdt, due_at, channel_id, is_held }) => [
    ...[order_id, seller, String(price_usdt), minutesOf(due_at), channel_id],
    ...(hasHeld ? [is_held ? 'held' : ''] : []),
  ])
  return table(['ORDER', 'SELLER', 'OWED', 'SINCE', 'CHANNEL', ...(hasHeld ? ['HELD'] : [])], rows, 4)
}

/** All details of one order. */
export function orderText(detail: OrderDetail): string {
  const { order, asset, amount, destinations, deposit_index, is_bound, payments, payout, events } = detail
  const others = destinations.filter((place) => place.asset !== asset)
  const isId = order.kind === 'vanity' || order.kind === 'reserve'
  const facts: [string, string][] = [
    ['Order', order.order_id],
    ['Number', String(order.number)],
    ['For', `${order.ref_id} (${order.kind}${isId && is_bound ? ', bound' : ''})`],
    [
      'Status',
      order.confirmed_at === null ? order.status : `${order.status} ${secondsOf(order.confirmed_at)}`,
    ],
    ['Price', String(order.price_usdt)],
    ['To pay', amount === '' ? 'not known yet' : amountOf(amount, asset)],
    ['Pay to', order.pay_to || 'not known yet'],
    ...others.map((place): [string, string] => [
      'Or pay',
      `${amountOf(place.amount, place.asset)} to ${place.pay_to}`,
    ]),
    [
      'Provider',
      WITH_DEPOSIT_ADDRESSES.includes(order.provider)
        ? `${order.provider}, address number ${deposit_index}`
        : order.provider,
    ],
    ['Buyer', order.buyer ?? 'none: the first account that binds it'],
    ['Placed', secondsOf(order.created_at)],
    ['Ends', secondsOf(order.expires_at)],
  ]
  const seen = payments.length === 0 ? ['No payments yet.'] : ['Payments', ...payments.flatMap(paymentText)]
  const owed = payout ? ['', 'Payout', `  ${payoutText(payout)}`] : []
  const happened = events.map(({ at, who, what, why }) => `  ${secondsOf(at)}  ${who}: ${what} (${why})`)
  const lines = [...facts.map(([name, value]) => `${name.padEnd(8)}  ${value}`), '', ...seen, ...owed]
  return [...lines, '', 'History', ...happened].map(clean).join('\n')
}

/**
 * JSON that is safe to print: characters that could move the cursor or reorder a line are written as escapes.
 */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const code = character.charCodeAt(at).toString(16).padStart(4, '0')
      return `\\u${code}`
    }).join(''),
  )
}

function paymentText(payment: PaymentLine): string[] {
  const { reference, amount, asset, at, state, outcome, refund_amount, reason, lost } = payment
  const result = outcome === null ? [] : [outcome === 'counted' ? 'counted' : 'not counted']
  const lines = [
    `  ${reference}`,
    `    ${amountOf(amount, asset)}, ${secondsOf(at)}: ${[state, ...result, ...(lost ? [lost] : [])].join(', ')}`,
  ]
  if (refund_amount === null) return lines
  const { refunded_at, refund_reference } = payment
  const back =
    refunded_at === null
      ? `${refund_amount} to be given back (${reason})`
      : `${refund_amount} given back (${reason}) ${secondsOf(refunded_at)}: ${refund_reference}`
  return [...lines, `    ${back}`]
}

function payoutText({ seller, price_usdt, due_at, paid_at, paid_reference, is_held }: PayoutLine): string {
  return paid_at === null
    ? `${price_usdt} owed to ${seller} since ${secondsOf(due_at)}${is_held ? ', held: the payment is lost' : ''}`
    : `${price_usdt} paid to ${seller} ${secondsOf(paid_at)}: ${paid_reference}`
}

/** An amount in its smallest unit as exact decimal text: 25500000 with 6 decimals is `25.5`. */
export function decimalText(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = units
    .toString()
    .replace('-', '')
    .padStart(decimals + 1, '0')
  const at = digits.length - decimals
  return `${sign}${digits.slice(0, at)}.${digits.slice(at)}`.replace(/\.?0*$/, '')
}

function amountOf(amount: string, asset: string): string {
  return `${amount} (smallest units of ${asset})`
}

/** Columns side by side, numbers aligned to the right. The flexible column is cut so that all fit. */
function table(titles: readonly string[], rows: readonly (readonly string[])[], flexible: number): string {
  const lines = [titles, ...rows].map((line) => line.map((cell) => sanitizeLine(cell, COLUMNS)))
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => cells(line[at] ?? ''))))
  const others = widths.reduce((sum, width, at) => (at === flexible ? sum + 2 : sum + width + 2), -2)
  widths[flexible] = Math.min(widths[flexible] ?? 0, Math.max(10, COLUMNS - others))
  return lines
    .map((line) =>
      line
        .map((cell, at) => {
          const width = widths[at] ?? 0
          const text = cut(cell, width)
          const space = ' '.repeat(width - cells(text))
          return NUMBERS.includes(titles[at] ?? '') ? space + text : text + space
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const NUMBERS = ['PRICE', 'OWED', 'REFUNDS', 'LOST']

// A line may contain text by other people, which must not begin a new line.
function clean(line: string): string {
  return cut(sanitizeText(line).replaceAll('\n', ' '), LONGEST)
}

function secondsOf(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

function minutesOf(time: string): string {
  return time.replace(/:\d\d(?:\.\d+)?Z$/, 'Z')
}

// Without the year: `11-26T14:05Z`.
function dayAndMinutesOf(time: string): string {
  return minutesOf(time).replace(/^\d+-/, '')
}
