// Payments as the rest of the relay uses them: placing orders, checking what is held, and deleting an
// account's orders.
import type { Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { WebPage } from '../listener/web-pages.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { Storage } from '../storage/storage.ts'
import { forgetTroubles, listChains } from './chain-store.ts'
import type { AllGoods } from './goods.ts'
import { PaymentLedger } from './ledger.ts'
import { isAnyLost } from './lost-payments.ts'
import { findOrderByPage, type Order } from './order.ts'
import { OrderEnds } from './order-ends.ts'
import { forgetParties, sweepOrders } from './order-expiry.ts'
import { Orders } from './orders.ts'
import type { PaymentMethods } from './payment-methods.ts'
import { PaymentPages } from './payment-page/payment-page.ts'
import { findPaymentView } from './payment-views.ts'
import type { PaymentProvider } from './provider.ts'
import { describePayingWith, orderRoutes } from './routes.ts'

export { endHold, eraseOrders } from './erase.ts'
export type { Goods } from './goods.ts'
export { findOrder, isHeld, lockOrder, markBound, type Order, soldAt } from './order.ts'
export { moveDepositIndexAhead, type OrderRequest, type Orders } from './orders.ts'
export { createMethods, describePayments } from './payment-config.ts'
export type { DescribePaying } from './routes.ts'

/** Builds payments. */
export function createPayments(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
  randomBytes: RandomBytes
  limits: Limits
  log: Log
  publicUrl: URL | undefined
  methods: PaymentMethods
  goods: AllGoods
  isClockTrusted: () => Promise<boolean>
}) {
  const { providers } = parts.methods
  const ledger = new PaymentLedger(parts)
  const orders = new Orders(parts)
  const describePaying = describePayingWith(parts)
  const find = (token: string) => findPaymentView(token, parts)
  const choose = async (token: string, method: string): Promise<void> => {
    const order = await findOrderByPage(parts.storage.sql, token)
    if (order) await orders.choose(order.order_id, method)
  }
  let failedOrder: Order | undefined
  const ends = new OrderEnds({
    ...parts,
    seenUntil: (now) => providers.map((provider) => provider.seenUntil(now)),
    sweep: async () => {
      failedOrder = await sweepOrders({ ...parts, ledger }, { after: failedOrder })
    },
  })
  return {
    orders,
    describePaying,
    routes: orderRoutes({ ...parts, orders, describePaying }),
    ledger,
    pages: [...new PaymentPages({ ...parts, find, choose }).pages, ...providers.flatMap(callbackPages)],
    start: async (): Promise<void> => {
      await forgetTroubles(parts.storage)
      for (const provider of providers) await provider.start(ledger)
      ends.start()
    },
    stop: async (): Promise<void> => {
      await ends.stop()
      await Promise.all(providers.map((provider) => provider.stop()))
    },
    forgetParties: () => forgetParties(parts),
    /**
     * Why payments of chains wait: `evm:1 stopped`, `tron few`; and `lost` if a payment is lost that had
     * counted, and the operator has not settled it.
     */
    troubles: async (): Promise<string[]> => {
      const chains = await listChains(parts.storage)
      const waiting = chains.flatMap(({ scope, trouble }) => (trouble ? [`${scope} ${trouble}`] : []))
      for (const provider of providers) {
        const trouble = provider.trouble?.()
        if (trouble) waiting.push(`${provider.name} ${trouble}`)
      }
      return (await isAnyLost(parts.storage)) ? ['lost', ...waiting] : waiting
    },
  }
}

function callbackPages({ callback }: PaymentProvider): WebPage[] {
  if (!callback) return []
  const path = `/payments/${callback.name}`
  return [{ path, methods: ['POST'], rate: 'callback', answer: ({ request }) => callback.answer(request) }]
}
