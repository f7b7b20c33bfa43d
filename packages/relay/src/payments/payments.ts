// Payments as the rest of the relay uses them: placing orders, checking what is held, and deleting an
// account's orders.
import type { Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { WebPage } from '../listener/web-pages.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { Turns } from '../operations/turns.ts'
import type { Storage } from '../storage/storage.ts'
import { listChains } from './chain-store.ts'
import type { AllGoods } from './goods.ts'
import { PaymentLedger } from './ledger.ts'
import { isAnyLost } from './lost-payments.ts'
import { findOrderByPage } from './order.ts'
import { forgetParties } from './order-expiry.ts'
import { Orders } from './orders.ts'
import { createProviders, type PaymentConfig } from './payment-config.ts'
import { PaymentMethods } from './payment-methods.ts'
import { PaymentPages } from './payment-page/payment-page.ts'
import { findPaymentView } from './payment-views.ts'
import { PaymentWatcher } from './payment-watcher.ts'
import { describePayingWith, orderRoutes } from './routes.ts'

export { endHold, eraseOrders } from './erase.ts'
export type { Goods } from './goods.ts'
export { findOrder, isHeld, lockOrder, markBound, type Order, soldAt } from './order.ts'
export { moveDepositIndexAhead, type OrderRequest, type Orders } from './orders.ts'
export { describePayments } from './payment-config.ts'
export type { DescribePaying } from './routes.ts'

/** Builds payments. */
export function createPayments(given: {
  storage: Storage
  bus: Bus
  clock: Clock
  randomBytes: RandomBytes
  limits: Limits
  log: Log
  publicUrl: URL | undefined
  config: PaymentConfig
  goods: AllGoods
  isClockTrusted: () => Promise<boolean>
  /** The turns of watching for payments and ending orders. */
  turns: Turns
}) {
  const { storage } = given
  const providersOn = (on: Storage) => createProviders(given.config, { ...given, storage: on })
  const methods = new PaymentMethods(providersOn(storage))
  const parts = { ...given, methods }
  const ledger = new PaymentLedger(parts)
  const orders = new Orders(parts)
  const describePaying = describePayingWith(parts)
  const find = (token: string) => findPaymentView(token, parts)
  const choose = async (token: string, method: string): Promise<void> => {
    const order = await findOrderByPage(parts.storage.sql, token)
    if (order) await orders.choose(order.order_id, method)
  }
  const watcher = new PaymentWatcher({ ...parts, ledger, providersOn })
  return {
    orders,
    describePaying,
    routes: orderRoutes({ ...parts, orders, describePaying }),
    ledger,
    methods,
    pages: [...new PaymentPages({ ...parts, find, choose }).pages, ...callbackPages(methods)],
    watcher,
    forgetParties: (on: Storage) => forgetParties({ ...parts, storage: on }),
    /**
     * Why payments of chains wait: `evm:1 stopped`, `tron few`; and `lost` if a payment is lost that had
     * counted, and the operator has not settled it.
     */
    troubles: async (): Promise<string[]> => {
      const chains = await listChains(parts.storage)
      const waiting = chains.flatMap(({ scope, trouble }) => (trouble ? [`${scope} ${trouble}`] : []))
      for (const provider of methods.providers) {
        const trouble = provider.trouble?.()
        if (trouble) waiting.push(`${provider.name} ${trouble}`)
      }
      return (await isAnyLost(parts.storage)) ? ['lost', ...waiting] : waiting
    },
  }
}

// The providers change with each turn, and their callbacks with them.
function callbackPages(methods: PaymentMethods): WebPage[] {
  return methods.providers.flatMap(({ callback: first }): WebPage[] => {
    if (!first) return []
    const { name } = first
    const answer: WebPage['answer'] = ({ request }) => {
      const callback = methods.providers.map(({ callback }) => callback).find((each) => each?.name === name)
      return (callback ?? first).answer(request)
    }
    return [{ path: `/payments/${name}`, methods: ['POST'], rate: 'callback', answer }]
  })
}
