// Computes what a payment page says. Only this file does it; the HTML shows it at load, and the script after
// each update.
import { type ArrivalLine, arrivalLines, hasOthers } from './arrivals.ts'
import type { PaymentKind, PaymentState, PaymentView } from './payment-view.ts'

/** What the page's script needs; the answer of `/pay/<token>/state`. */
export interface PageState {
  readonly state: PaymentState
  /** The way to pay that is shown. If it changes, the page is loaded again. */
  readonly method: string
  /** The relay's time, so that the device's clock does not matter. Milliseconds since 1970. */
  readonly now: number
  /** When the time to pay is over; absent if that no longer matters. Milliseconds since 1970. */
  readonly expiresAt?: number
  /** When to update again, in milliseconds; absent if nothing can change any more. */
  readonly againMs?: number
  readonly headline: string
  readonly detail: string
  /** The amount to send now, without its symbol, as the buyer copies it. */
  readonly due: string
  readonly dueLabel: string
  /** A URI that opens a wallet to pay what is due; absent if there is none or nothing is due. */
  readonly payUri?: string
  readonly confirmations?: { readonly have: number; readonly need: number; readonly text: string }
  /** What arrived, by time. */
  readonly arrivals: readonly ArrivalLine[]
  /** Whether there is a receipt to keep. */
  readonly hasReceipt: boolean
}

const FREQUENT_MS = 3000
const RARE_MS = 30_000

/** @param now milliseconds since 1970 */
export function pageStateOf(view: PaymentView, now: number): PageState {
  const { state, method, kind, confirmations } = view
  const isOpen = isPayable(state)
  const hasConfirmations = state === 'seen' && confirmations !== undefined
  return {
    state,
    method,
    now,
    ...(isOpen ? { expiresAt: view.expiresAt } : {}),
    // Late payments are still noticed, but nobody waits for them, so the page updates less often.
    ...(state === 'confirmed'
      ? {}
      : { againMs: state === 'expired' || state === 'refund' ? RARE_MS : FREQUENT_MS }),
    ...wordsOf(view, kind),
    arrivals: arrivalLines(view),
    hasReceipt: view.confirmedAt !== undefined || view.arrivals.length > 0,
    due: isOpen ? view.missing : view.amount,
    dueLabel: state === 'short' ? 'Still missing' : 'Amount',
    ...(isOpen && view.payUri !== undefined ? { payUri: view.payUri } : {}),
    ...(hasConfirmations
      ? { confirmations: { ...confirmations, text: confirmationsText(confirmations) } }
      : {}),
  }
}

/** Whether something is due. */
export function isPayable(state: PaymentState): boolean {
  return state === 'waiting' || state === 'short'
}

function confirmationsText({ have, need }: { have: number; need: number }): string {
  return `${Math.min(have, need)} of ${need} confirmations`
}

function price({ amount, symbol }: PaymentView): string {
  return money(amount, symbol)
}

// 25.5 USDT
function money(amount: string, symbol: string): string {
  return symbol === '' ? amount : `${amount} ${symbol}`
}

interface Words {
  readonly headline: string
  readonly detail: string
}

function wordsOf(view: PaymentView, kind: PaymentKind): Words {
  const received = money(view.received, view.symbol)
  switch (view.state) {
    case 'waiting':
      return hasOthers(view) ? otherArrivedWords(view) : waitingWords[kind]
    case 'short':
      return {
        headline: `${money(view.missing, view.symbol)} is still missing`,
        detail: `${received} of ${price(view)} arrived. Send the rest to the same place before the time is over.`,
      }
    case 'seen':
      return {
        headline: 'Payment seen',
        detail: `${received} arrived and counts once it is confirmed. There is nothing more to do; you can close this page.`,
      }
    case 'confirmed':
      return {
        headline: 'Paid',
        detail:
          view.excess === undefined
            ? `${price(view)} arrived and is confirmed. You can close this page.`
            : `${received} arrived and is confirmed. That is ${money(view.excess, view.symbol)} more than the price: it is recorded, and the operator sees it and can give it back.`,
      }
    case 'expired':
      return { headline: 'The time to pay is over', detail: expiredDetail[kind] }
    case 'refund':
      return {
        headline: 'This payment could not be used',
        detail: `${received} arrived, but too late or too little for this order. It is not lost: it is recorded, and the operator sees it and can give it back. Please send nothing more here.`,
      }
    default:
      return view.state satisfies never
  }
}

function otherArrivedWords(view: PaymentView): Words {
  const place = view.network === '' ? '' : ` on ${view.network}`
  const wanted = `${money(view.missing, view.symbol)}${place}`
  return {
    headline: 'Something else arrived',
    detail: `It does not pay for this order, which still waits for ${wanted}. What arrived is not lost: it is recorded, and the operator sees it and can give it back.`,
  }
}

const waitingWords: Readonly<Record<PaymentKind, Words>> = {
  transfer: {
    headline: 'Waiting for your payment',
    detail:
      'This page notices by itself when it arrives. You can also close it: the payment is seen all the same.',
  },
  hosted: {
    headline: 'Waiting for your payment',
    detail: 'You pay on another page. This page notices when the payment arrives there.',
  },
  manual: {
    headline: 'Waiting for your payment',
    detail:
      'The operator confirms payments by hand, so this can take a while after you have paid. If your way to pay takes longer than the time left, ask the operator first. You can close this page.',
  },
  dev: {
    headline: 'Waiting to be confirmed',
    detail: 'Orders here are confirmed without any money.',
  },
}

const expiredDetail: Readonly<Record<PaymentKind, string>> = {
  transfer:
    'Please send nothing here any more; order again instead. If you have paid already, your money is not lost: whatever arrives is recorded, and the operator sees it.',
  hosted:
    'Please pay nothing for this order any more; order again instead. If you have paid already, your money is not lost: whatever arrives is recorded, and the operator sees it.',
  manual:
    'Please pay nothing for this order any more; order again instead. If you have paid already, your money is not lost: tell the operator, who can still confirm it or give it back.',
  dev: 'Nothing was paid and nothing is lost. Order again to try once more.',
}
