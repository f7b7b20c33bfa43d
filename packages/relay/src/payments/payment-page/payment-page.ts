// The payment page: where a buyer sees what to pay and what has arrived. Its token alone gives access.
import { ProtocolError } from '@sotto/protocol'
import { renderSVG } from 'uqr'
import type { Visit, WebPage } from '../../listener/web-pages.ts'
import type { Clock } from '../../operations/clock.ts'
import { type AssetNames, codeText, pageIcon, paymentPageHtml, unknownPageHtml } from './documents.ts'
import { pageScript, pageStyle } from './page-files.ts' with { type: 'macro' }
import type { PaymentView } from './payment-view.ts'
import { receiptOf } from './receipt.ts'
import { isPayable, pageStateOf } from './state.ts'

/** What the payment page is built from. */
export interface PaymentPagesParts {
  /** The order whose page has this token. Called only for well-formed tokens. */
  readonly find: (token: string) => Promise<PaymentView | undefined>
  /**
   * Chooses a way to pay for the order whose page has this token. Called only for well-formed tokens.
   * @throws ProtocolError `ORDER_CLOSED`, `PAYMENTS_UNAVAILABLE`
   */
  readonly choose: (token: string, method: string) => Promise<void>
  readonly clock: Clock
}

/** The path of a token's page, below the relay's own address. */
export function paymentPagePath(token: string): string {
  return `/pay/${token}`
}

/** The payment pages of all orders, for the listener to serve. */
export class PaymentPages {
  readonly pages: readonly WebPage[]
  readonly #parts: PaymentPagesParts
  readonly #version: string

  constructor(parts: PaymentPagesParts) {
    this.#parts = parts
    const [style, script] = [pageStyle(), pageScript()]
    this.#version = new Bun.CryptoHasher('sha256')
      .update(style)
      .update(script)
      .update(pageIcon)
      .digest('hex')
      .slice(0, 16)
    const page = paymentPagePath(':token')
    this.pages = [
      getPage(page, (visit) => this.#page(visit)),
      { path: `${page}/method`, methods: ['POST'], rate: 'page', answer: (visit) => this.#choose(visit) },
      getPage(`${page}/state`, (visit) => this.#state(visit)),
      getPage(`${page}/code.svg`, (visit) => this.#code(visit)),
      getPage(`${page}/receipt.txt`, (visit) => this.#receipt(visit)),
      getPage('/pay/assets/:version/page.css', (visit) => this.#asset(visit, style, 'text/css')),
      getPage('/pay/assets/:version/page.js', (visit) => this.#asset(visit, script, 'text/javascript')),
      getPage('/pay/assets/:version/icon.svg', (visit) => this.#asset(visit, pageIcon, 'image/svg+xml')),
    ]
  }

  async #page({ request, params, host }: Visit): Promise<Response> {
    const { token = '' } = params
    const view = await this.#find(token)
    if (!view) return this.#unknown()
    const state = pageStateOf(view, this.#parts.clock.now())
    const isRefused = new URL(request.url).searchParams.has(REFUSED)
    const assets = this.#assetNames()
    return respond(paymentPageHtml({ view, state, token, host, isRefused, assets }), HTML)
  }

  // The token is the permission, so another site, which does not know it, cannot choose.
  async #choose({ request, params }: Visit): Promise<Response> {
    const { token = '' } = params
    if (!(await this.#find(token))) return this.#unknown()
    const method = new URL(request.url).searchParams.get('to') ?? ''
    const code = await this.#parts.choose(token, method).then(() => undefined, codeOf)
    // If nothing more is to be paid, the page says so.
    const query = code === 'PAYMENTS_UNAVAILABLE' ? `?${REFUSED}` : ''
    return respond('', HTML, { status: 303, location: `../${token}${query}` })
  }

  async #state({ params }: Visit): Promise<Response> {
    const view = await this.#find(params.token)
    if (!view) return this.#unknown()
    return respond(JSON.stringify(pageStateOf(view, this.#parts.clock.now())), 'application/json')
  }

  async #code({ params }: Visit): Promise<Response> {
    const view = await this.#find(params.token)
    const text = view && isPayable(view.state) ? codeText(view) : undefined
    return text === undefined ? this.#unknown() : respond(renderSVG(text, QR), 'image/svg+xml')
  }

  async #receipt({ params, host }: Visit): Promise<Response> {
    const now = this.#parts.clock.now()
    const view = await this.#find(params.token)
    if (!view || !pageStateOf(view, now).hasReceipt) return this.#unknown()
    const attachment = 'attachment; filename="receipt.txt"'
    return respond(receiptOf(view, { host, now }), 'text/plain; charset=utf-8', { attachment })
  }

  // During an update a page of another version may request this file: it gets our version, but must not cache
  // it under that name.
  async #asset({ params }: Visit, text: string, type: string): Promise<Response> {
    const cacheControl = params.version === this.#version ? 'public, max-age=31536000, immutable' : 'no-store'
    return respond(text, `${type}; charset=utf-8`, { cacheControl })
  }

  async #find(token = ''): Promise<PaymentView | undefined> {
    return /^[\w-]{22,128}$/.test(token) ? await this.#parts.find(token) : undefined
  }

  #unknown(): Response {
    return respond(unknownPageHtml(this.#assetNames()), HTML, { status: 404 })
  }

  // Relative to the page's address, so that a proxy may serve the relay under any path.
  #assetNames(): AssetNames {
    const folder = `assets/${this.#version}`
    return { style: `${folder}/page.css`, script: `${folder}/page.js`, icon: `${folder}/icon.svg` }
  }
}

function getPage(path: string, answer: WebPage['answer']): WebPage {
  return { path, methods: ['GET'], rate: 'page', answer }
}

function codeOf(error: unknown): string {
  if (error instanceof ProtocolError) return error.code
  throw error
}

/** In the query of a page that is shown after a choice failed. */
const REFUSED = 'refused'
/** Error correction for scanning a screen at an angle, and the border that the standard requires. */
const QR = { ecc: 'M', border: 4 } as const
const HTML = 'text/html; charset=utf-8'

/**
 * The page has an origin of its own, so that its script could not reach what the web app keeps at this host.
 * (A page with `sandbox` must not name a `cross-origin-opener-policy`.)
 */
const SANDBOX =
  'sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals'

/**
 * Security headers: nothing from other origins, nothing inline, no frames; and browsers send the page's
 * secret address to nobody. The page's requests come from its own origin, which browsers call `null`.
 */
const GUARDS = {
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; ${SANDBOX}`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'access-control-allow-origin': 'null',
  'cross-origin-resource-policy': 'cross-origin',
}

function respond(
  body: string,
  type: string,
  {
    status = 200,
    cacheControl = 'no-store',
    attachment,
    location,
  }: { status?: number; cacheControl?: string; attachment?: string; location?: string } = {},
): Response {
  const headers = {
    ...{ ...GUARDS, 'content-type': type, 'cache-control': cacheControl },
    ...(attachment === undefined ? {} : { 'content-disposition': attachment }),
    ...(location === undefined ? {} : { location }),
  }
  return new Response(body, { status, headers })
}
