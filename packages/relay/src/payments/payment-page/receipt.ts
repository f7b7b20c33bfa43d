// The receipt of an order: a text that its payer can keep.
import { cleanName } from '@sotto/protocol'
import { detailOf, textOf } from './arrivals.ts'
import type { PaymentView } from './payment-view.ts'

/**
 * The receipt as plain text with a line for each fact. It does not contain the order's id: a reserved id goes
 * to the first account that presents this id, and the page's address alone must not give that right.
 * @param parts.host the relay's host
 * @param parts.now milliseconds since 1970
 */
export function receiptOf(view: PaymentView, { host, now }: { host: string; now: number }): string {
  const { symbol, network, contract, arrivals, confirmedAt } = view
  const price = `${view.amount}${symbol === '' ? '' : ` ${symbol}`}`
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['For', cleanName(view.title)],
    ['Price', price],
    ['Network', network === '' ? undefined : network],
    ['Token contract', contract],
    ['Paid to', view.payTo.replaceAll(/\s+/g, ' ')],
    ['Confirmed', confirmedAt === undefined ? 'no' : timeOf(confirmedAt)],
    ['Relay', host],
    ['Written', timeOf(now)],
  ]
  const width = Math.max(...facts.map(([name]) => name.length))
  const lines = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(width)}  ${value}`],
  )
  const payments = arrivals.flatMap((arrival) => [
    ...['', `${timeOf(arrival.at)}  ${textOf(arrival)}`, `  ${detailOf(arrival)}`],
    `  ${arrival.reference}`,
    ...(arrival.page === undefined ? [] : [`  ${arrival.page}`]),
  ])
  const title = confirmedAt === undefined ? 'PAYMENTS FOR AN ORDER' : 'RECEIPT'
  return `${[title, '', ...lines, '', 'What arrived', ...(payments.length > 0 ? payments : ['', 'Nothing.'])].join('\n')}\n`
}

function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
