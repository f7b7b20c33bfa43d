// Payment pages served by the relay's listener. They show orders that the test creates and changes.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultLimits, endpoints, ProtocolError, type Rates } from '@sotto/protocol'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { readConfig } from '../src/config.ts'
import { Gateway } from '../src/gateway/gateway.ts'
import { startListener } from '../src/listener/listener.ts'
import { RequestRates } from '../src/listener/request-rates.ts'
import type { WebPage } from '../src/listener/web-pages.ts'
import { createMessages } from '../src/messages/messages.ts'
import { systemClock } from '../src/operations/clock.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { RelayMetrics } from '../src/operations/relay-metrics.ts'
import { noSecurityLog } from '../src/operations/security-log.ts'
import { PaymentPages, paymentPagePath } from '../src/payments/payment-page/payment-page.ts'
import type { PaymentView } from '../src/payments/payment-page/payment-view.ts'
import { openStorage } from '../src/storage/open-storage.ts'
import { ampleSpace } from './ample-space.ts'

/** The page of a processor for an order. */
export const HOSTED_PAGE = 'https://nowpayments.example/1'

/** An order that waits for 25.5 USDT on a chain. */
export const WAITING: PaymentView = {
  arrivals: [],
  state: 'waiting',
  method: 'evm:1/0xdac17f958d2ee523a2206206994597c13d831ec7',
  kind: 'transfer',
  choices: [],
  title: 'the id ada',
  payTo: '0x52908400098527886E0F7030069857D2E4169EE7',
  amount: '25.5',
  symbol: 'USDT',
  network: 'Ethereum',
  received: '0',
  missing: '25.5',
  expiresAt: 0,
  payUri:
    'ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7&uint256=25500000',
}

interface Options {
  readonly rates?: Rates
  readonly port?: number
  /** Pages to serve besides the payment pages. */
  readonly pages?: readonly WebPage[]
  /** How far the relay's clock is ahead of this machine's. */
  readonly aheadMs?: number
}

interface Running {
  readonly port: number
  readonly now: () => number
  readonly views: Map<string, PaymentView>
  readonly stop: () => Promise<void>
}

/** Pages and the orders they show. */
export class PaymentWorld {
  readonly url: string
  readonly port: number
  readonly #running: Running

  private constructor(running: Running) {
    this.port = running.port
    this.url = `http://127.0.0.1:${running.port}`
    this.#running = running
  }

  static async start(options: Options = {}): Promise<PaymentWorld> {
    const dataDir = await mkdtemp(join(tmpdir(), 'sotto-page-'))
    const config = readConfig({ PORT: String(options.port ?? 0), DATA_DIR: dataDir })
    const storage = await openStorage(config)
    const log = createLog('warn')
    const clock = { ...systemClock, now: () => systemClock.now() + (options.aheadMs ?? 0) }
    const limits = defaultLimits()
    const shared = {
      ...{ storage, bus: createInProcessBus(), clock, randomBytes: systemRandom, limits, log },
      space: ampleSpace,
      metrics: new RelayMetrics({ log, clock }),
      securityLog: noSecurityLog,
    }
    const messages = createMessages({ ...shared, incarnation: 'one' })
    const views = new Map<string, PaymentView>()
    const choose = async (token: string, method: string): Promise<void> => {
      const view = views.get(token)
      const choice = view?.choices.find((one) => one.method === method)
      if (!view || !choice) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
      const { kind, symbol, network } = choice
      const payTo = kind === 'hosted' ? HOSTED_PAGE : view.payTo
      views.set(token, { ...view, method, kind, symbol, network, payTo, payUri: undefined })
    }
    const refuse = async () => {
      throw new ProtocolError('NOT_FOUND')
    }
    const refusals = Object.keys(endpoints).map((name) => [name, refuse])
    const listener = startListener({
      certificate: undefined,
      sharesPort: false,
      ...config,
      metrics: shared.metrics,
      log,
      space: ampleSpace,
      clock,
      descriptorLimit: 1024,
      publicHost: undefined,
      isSecure: false,
      version: '0.0.0',
      gateway: new Gateway({
        ...shared,
        epochs: undefined,
        rates: undefined,
        handlers: messages.frames,
        calls: refuse,
        follower: messages.follower,
        watchers: [],
        deadTokenReasonsOf: async () => [],
        retireToken: async () => undefined,
      }),
      rates: new RequestRates(options.rates, shared),
      app: undefined,
      pages: [
        ...new PaymentPages({ find: async (token) => views.get(token), choose, clock }).pages,
        ...(options.pages ?? []),
      ],
      authenticate: refuse,
      admit: refuse,
      // These tests do not use the HTTP interface.
      handlers: Object.fromEntries(refusals),
      readiness: async () => ({ ready: true, parts: {} }),
    })
    return new PaymentWorld({
      port: listener.port,
      now: clock.now,
      views,
      stop: async () => {
        await listener.close(0)
        await storage.close()
        await rm(dataDir, { recursive: true, force: true })
      },
    })
  }

  /** Places a waiting order, changed by `view`. @returns its token */
  place(view: Partial<PaymentView> = {}): string {
    const token = Buffer.from(systemRandom(16)).toString('base64url')
    this.#running.views.set(token, { ...WAITING, expiresAt: this.#running.now() + 870_500, ...view })
    return token
  }

  /** Changes an order. */
  change(token: string, change: Partial<PaymentView>): void {
    const view = this.#running.views.get(token)
    if (!view) throw new Error('no such order')
    this.#running.views.set(token, { ...view, ...change })
  }

  /** The address of an order's page. */
  pageOf(token: string): string {
    return this.url + paymentPagePath(token)
  }

  stop(): Promise<void> {
    return this.#running.stop()
  }
}
