// What a payment page says about each thing that arrived.
import { type Html, html } from './html.ts'
import type { Arrival, PaymentView } from './payment-view.ts'

/** Something that arrived, in words. */
export interface ArrivalLine {
  readonly text: string
  /** What became of it, and what to do. */
  readonly detail: string
  /** The transaction, or the processor's name for the payment. */
  readonly reference: string
  /** Its page in a block explorer. */
  readonly page?: string
}

/** Anybody can send worthless tokens to an address. */
const MOST_OTHERS = 5

/** All payments, and the newest of the other things that arrived. */
export function arrivalLines(view: PaymentView): ArrivalLine[] {
  const others = view.arrivals.filter(({ kind }) => kind !== 'payment')
  const hidden = new Set(others.slice(0, Math.max(0, others.length - MOST_OTHERS)))
  return view.arrivals
    .filter((arrival) => !hidden.has(arrival))
    .map((arrival) => ({
      text: textOf(arrival),
      detail: detailOf(arrival),
      reference: arrival.reference,
      ...(arrival.page === undefined ? {} : { page: arrival.page }),
    }))
}

/** Whether something arrived that does not pay for the order and still exists. */
export function hasOthers({ arrivals }: PaymentView): boolean {
  return arrivals.some(({ kind, state }) => kind !== 'payment' && state !== 'gone')
}

/** The list of what arrived. The page's script replaces its items. */
export function arrivalsHtml(lines: readonly ArrivalLine[]): Html {
  return html`<section class="arrivals" aria-labelledby="arrived" data-part="arrivals"${lines.length > 0 ? undefined : html` hidden`}>
<h2 id="arrived">What arrived</h2>
<ul data-list="arrivals">${lines.map(lineHtml)}</ul>
</section>`
}

function lineHtml({ text, detail, reference, page }: ArrivalLine): Html {
  const name =
    page === undefined
      ? html`<span class="reference">${reference}</span>`
      : html`<a class="reference" href="${page}" target="_blank" rel="noopener noreferrer">${reference}</a>`
  return html`<li><p>${text}</p><p class="detail">${detail}</p>${name}</li>`
}

/** `25.5 USDT on Ethereum`, or what it is if its amount is not known. */
export function textOf({ kind, amount, symbol, network, contract }: Arrival): string {
  const place = network === '' ? '' : ` on ${network}`
  switch (kind) {
    case 'payment':
      return `${[amount ?? '?', symbol].filter((word) => word !== '').join(' ')}${place}`
    case 'own_coin':
      return `${amount ?? '?'} of the chain’s own coin${place}`
    case 'other_token':
      return `Another token${place}, contract ${contract ?? 'unknown'}`
    case 'other_chain':
      return 'Something on another chain'
    default:
      return kind satisfies never
  }
}

/** What became of it, and what to do. */
export function detailOf({ kind, state, outcome, confirmations, refund, symbol }: Arrival): string {
  if (state === 'gone') {
    return 'The chain has removed this transaction, so it does not count. Your wallet shows whether it was sent again.'
  }
  const isWrong = kind !== 'payment'
  const wrong = isWrong ? 'This does not pay for the order. ' : ''
  const part = refund?.amount === undefined ? 'It' : `${refund.amount} ${symbol}`.trim()
  if (refund) {
    const result =
      refund.reference === null
        ? `${part} is recorded: the operator sees it and can give it back.`
        : `${part} was given back: ${refund.reference}.`
    return `${outcome === 'counted' ? 'Confirmed. ' : wrong}${result}`
  }
  if (isWrong)
    return `${wrong}It is recorded once it is confirmed: the operator sees it and can give it back.`
  if (state === 'final') return outcome === 'counted' ? 'Confirmed.' : 'Confirmed, and not enough yet.'
  if (!confirmations) return 'Seen. It counts once it is confirmed.'
  return `Seen, ${Math.min(confirmations.have, confirmations.need)} of ${confirmations.need} confirmations.`
}
