// The payment page as HTML. It is complete without its script; the script only keeps its texts up to date.
import { cleanName } from '@sotto/protocol'
import { arrivalsHtml } from './arrivals.ts'
import { type Html, html } from './html.ts'
import type { Choice, PaymentKind, PaymentView } from './payment-view.ts'
import { isPayable, type PageState } from './state.ts'

/** What a payment page is rendered from. */
export interface PageParts {
  readonly view: PaymentView
  readonly state: PageState
  readonly token: string
  readonly host: string
  /** Whether the buyer's choice of another way to pay just failed. */
  readonly isRefused: boolean
  readonly assets: AssetNames
}

/** The URLs of the page's style, script and icon, relative to the page. */
export interface AssetNames {
  readonly style: string
  readonly script: string
  readonly icon: string
}

/**
 * The refresh interval for browsers without script. It is longer than the script's, because it reloads the
 * page while somebody reads it.
 */
const REFRESH_SECONDS = 20
const HOUR_MS = 3_600_000

export function paymentPageHtml(parts: PageParts): string {
  const { view, state, assets } = parts
  const title = cleanName(view.title)
  const refresh = html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>`
  return documentOf(
    `${state.headline} – ${title}`,
    html`${links(assets)}
<script type="module" src="${assets.script}"></script>
${state.againMs === undefined ? undefined : refresh}`,
    html`<main data-state="${state.state}" data-page="${JSON.stringify(state)}">
<header>
<p class="kicker">Payment for</p>
<h1><bdi>${title}</bdi></h1>
</header>
${view.kind === 'dev' ? banner : undefined}
<section class="status" aria-label="State of the payment">
${icons}
<div role="status" aria-atomic="true">
<p class="headline" data-text="headline">${state.headline}</p>
<p class="detail" data-text="detail">${state.detail}</p>
</div>
</section>
${confirmationsHtml(state)}
${arrivalsHtml(state.arrivals)}
${receiptHtml(parts)}
${payHtml(parts)}
<p class="trouble" role="status" data-text="trouble"></p>
<p class="unseen" role="status" data-text="announcement"></p>
</main>
<footer><p>Served by the Sotto relay at <bdi>${parts.host}</bdi></p></footer>`,
  )
}

/** The page for every wrong address, no matter what is wrong with it. */
export function unknownPageHtml(assets: AssetNames): string {
  return documentOf(
    'No such payment page',
    links(assets),
    html`<main class="unknown">
<h1>There is no such payment page</h1>
<p class="detail">Its address may have been cut short. Open it once more from where you placed the order.</p>
</main>`,
  )
}

function links({ style, icon }: AssetNames): Html {
  return html`<link rel="stylesheet" href="${style}">
<link rel="icon" type="image/svg+xml" href="${icon}">`
}

function documentOf(title: string, head: Html, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`.text
}

function confirmationsHtml({ confirmations }: PageState): Html {
  const { have = 0, need = 1, text = '' } = confirmations ?? {}
  return html`<div class="confirmations" data-part="confirmations"${hiddenUnless(confirmations !== undefined)}>
<label for="progress" data-text="confirmations">${text}</label>
<progress id="progress" max="${need}" value="${Math.min(have, need)}"></progress>
</div>`
}

function receiptHtml({ state, token }: PageParts): Html {
  return html`<p class="receipt" data-part="receipt"${hiddenUnless(state.hasReceipt)}><a href="${token}/receipt.txt" download>Save a receipt</a></p>`
}

function payHtml(parts: PageParts): Html {
  const { view, state, token } = parts
  const { symbol, network, kind, contract } = view
  const payTo = payToWords[kind]
  return html`<section class="pay" aria-label="How to pay" data-part="pay"${hiddenUnless(isPayable(state.state))}>
<p class="timer" role="timer" data-part="timer"><span data-text="timerLabel">Time left</span> <strong data-text="left">${timeLeft(state)}</strong> <span class="until" data-text="until">until ${endTime(state)} UTC</span></p>
${choicesHtml(parts)}
<div class="columns">
<div class="facts">
<div class="fact">
<p class="label"><span data-text="dueLabel">${state.dueLabel}</span></p>
<p class="value amount"><span class="number" data-text="due">${state.due}</span> <span class="symbol">${symbol}</span></p>
${copyButton('due', 'amount')}
</div>
${network === '' ? undefined : html`<div class="fact"><p class="label">Network</p><p class="value">${network}</p></div>`}
${contract === undefined ? undefined : html`<div class="fact"><p class="label">Contract of the token</p><p class="value address" data-text="contract">${emphasised(contract)}</p>${copyButton('contract', 'contract')}</div>`}
${kind === 'hosted' ? hostedHtml(view) : placeHtml(view, payTo)}
</div>
<p class="warning">${warning(view)}</p>
${codeText(view) === undefined ? undefined : codeHtml(state, token)}
</div>
</section>`
}

function placeHtml({ payTo }: PaymentView, { label, name }: PayToWords): Html {
  return html`<div class="fact">
<p class="label">${label}</p>
<p class="value ${isAddress(payTo) ? 'address' : 'words'}" data-text="payTo" dir="auto">${emphasised(payTo)}</p>
${copyButton('payTo', name)}
</div>`
}

function hostedHtml({ payTo, network }: PaymentView): Html {
  return html`<p class="hosted"><a href="${payTo}" rel="noreferrer">Pay at ${network}</a></p>`
}

// Forms, so that choosing works without a script.
function choicesHtml({ view, token, isRefused }: PageParts): Html | undefined {
  const { choices, method } = view
  if (choices.length < 2) return undefined
  const items = choices.map((choice) =>
    choice.method === method
      ? html`<li aria-current="true">${choiceName(choice)}</li>`
      : html`<li><form method="post" action="${token}/method?to=${encodeURIComponent(choice.method)}"><button>${choiceName(choice)}</button></form></li>`,
  )
  return html`<nav class="choices" aria-label="Ways to pay">
<p class="label">Pay with</p>
${isRefused ? html`<p class="refused" role="alert">This way to pay is not available now. Choose another one, or try again later.</p>` : undefined}
<ul>${items}</ul>
</nav>`
}

function choiceName({ kind, symbol, network }: Choice): string {
  if (kind === 'manual') return 'Directly to the operator'
  return kind === 'hosted' ? network : `${symbol} on ${network}`
}

function codeHtml({ payUri, due, state }: PageState, token: string): Html {
  const source = isPayable(state) ? html` src="${token}/code.svg?${due}"` : undefined
  return html`<div class="scan">
<a class="wallet" data-part="wallet"${payUri === undefined ? undefined : html` href="${payUri}"`}${hiddenUnless(payUri !== undefined)}>Open in a wallet app</a>
<img class="code" data-part="code" width="232" height="232" alt="QR code of this payment, for a wallet app"${source}>
</div>`
}

/**
 * The content of the QR code: the payment URI for wallets, or else the address; undefined if a code would be
 * useless.
 */
export function codeText({ kind, payUri, payTo }: PaymentView): string | undefined {
  if (kind === 'dev' || kind === 'hosted') return undefined
  return payUri ?? (isAddress(payTo) ? payTo : undefined)
}

// The operator's text may be anything, even whole sentences.
function isAddress(payTo: string): boolean {
  return /^[\w:.+-]{16,128}$/.test(payTo)
}

// People compare the first and last characters of an address, so these are emphasised.
function emphasised(payTo: string): Html {
  if (!isAddress(payTo)) return html`${payTo}`
  return html`<b>${payTo.slice(0, 6)}</b>${payTo.slice(6, -6)}<b>${payTo.slice(-6)}</b>`
}

function warning({ kind, symbol, network }: PaymentView): string {
  if (kind === 'dev') return 'Do not send any money: nobody would receive it.'
  if (kind === 'hosted') return `Pay exactly the amount that the page of ${network} names.`
  if (kind === 'manual') return `Pay exactly this amount${symbol === '' ? '' : ` in ${symbol}`}.`
  if (network === '')
    return `Send exactly this amount of ${symbol}. Other tokens are not credited automatically.`
  return `Send exactly this amount of ${symbol} on ${network}. Other tokens or networks are not credited automatically.`
}

interface PayToWords {
  readonly label: string
  readonly name: string
}

const payToWords: Readonly<Record<PaymentKind, PayToWords>> = {
  transfer: { label: 'To this address', name: 'address' },
  hosted: { label: 'On this page', name: 'address' },
  manual: { label: 'Where to pay', name: 'text' },
  dev: { label: 'To this address, if it were real', name: 'address' },
}

function copyButton(part: string, name: string): Html {
  return html`<button type="button" data-copy="${part}" data-name="${name}"><span data-label>Copy</span><span class="unseen"> the ${name}</span></button>`
}

function hiddenUnless(isShown: boolean): Html | undefined {
  return isShown ? undefined : html` hidden`
}

function timeLeft({ now, expiresAt = now }: PageState): string {
  const seconds = Math.max(0, Math.floor((expiresAt - now) / 1000))
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24]
  if (days > 0) return `${days} d ${hours} h`
  const two = (count: number): string => count.toString().padStart(2, '0')
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

// 12:45, or 2026-11-26 12:45 if there are hours left.
function endTime({ now, expiresAt = now }: PageState): string {
  const end = new Date(expiresAt).toISOString()
  return expiresAt - now < HOUR_MS ? end.slice(11, 16) : end.slice(0, 16).replace('T', ' ')
}

const banner = html`<p class="banner" role="note"><strong>For trying things out.</strong> Nothing is to be paid here: this relay only pretends to take payments.</p>`

/** The icon of the page in a browser tab. */
export const pageIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="12" fill="#17614f"/><path d="m7 12.4 3.4 3.4 6.6-7.2" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></svg>\n'

const icons = html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
<circle class="ring" cx="12" cy="12" r="10"/>
<path class="for-waiting for-short for-expired" d="M12 6.8V12l3.4 2"/>
<path class="for-seen" d="M7 12h.01M12 12h.01M17 12h.01"/>
<path class="for-confirmed" d="m7.6 12.4 3 3 5.8-6.2"/>
<path class="for-refund" d="M12 7v6M12 16.8h.01"/>
</svg>`
