// What the tests of orders and payments share: accounts, a clock that tests move, a shop, and a simulated
// chain. (payments/providers/evm*.test.ts and evm-shop.test.ts use a real chain.)
import {
  AliasId,
  type ChannelId,
  check,
  defaultLimits,
  type Limits,
  type OrderId,
  rates,
} from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { AccountDeletion } from '../src/accounts/deletion.ts'
import { createChannel, getChannel, setSalePrice } from '../src/channels/catalog.ts'
import { endChannels, eraseChannels } from '../src/channels/channels.ts'
import { orderChannel, orderSeat } from '../src/channels/trade.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { createGoods } from '../src/goods.ts'
import { ClockTrust } from '../src/operations/clock-trust.ts'
import { systemRandom } from '../src/operations/random.ts'
import { RelayMetrics } from '../src/operations/relay-metrics.ts'
import { noSecurityLog } from '../src/operations/security-log.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import { findOrder, type Order } from '../src/payments/order.ts'
import { OrderEnds } from '../src/payments/order-ends.ts'
import { forgetParties, sweepOrders } from '../src/payments/order-expiry.ts'
import { Orders } from '../src/payments/orders.ts'
import { listPayments } from '../src/payments/payment.ts'
import { PaymentMethods } from '../src/payments/payment-methods.ts'
import { eraseOrders } from '../src/payments/payments.ts'
import type { PaymentProvider, PaymentSeen } from '../src/payments/provider.ts'
import type { Storage } from '../src/storage/storage.ts'
import { bind } from '../src/vanity/bind.ts'
import { purchase, reserve } from '../src/vanity/purchase.ts'
import { ReserveRate } from '../src/vanity/reserve-rate.ts'
import { VanityRules } from '../src/vanity/vanity.ts'
import type { engines } from './engines.ts'
import { clockAt, type Person } from './mailbox-world.ts'
import { recordingLog } from './payment-watch.ts'

export const MINUTE_MS = 60_000
/** One whole unit of the token, in its smallest unit. */
export const UNIT = 1_000_000n

/** A shop on one engine. */
export type ShopWorld = Awaited<ReturnType<typeof openShopWorld>>

/**
 * Opens a new shop.
 * @param vanityRules the file of the price list; by default the list of the relay
 * @param others providers besides that of the simulated chain, which is the first
 */
export async function openShopWorld(
  engine: (typeof engines)[number],
  changed: Partial<Limits> = {},
  vanityRules?: string,
  others: readonly PaymentProvider[] = [],
) {
  const store = await engine.open()
  const { storage } = store
  const clock = clockAt(1_800_000_000_000)
  const limits: Limits = { ...defaultLimits(), ...changed }
  const parts = { storage, clock, limits, randomBytes: systemRandom, bus: createInProcessBus() }
  const { log, events: logEvents, fields: logFields } = recordingLog()
  const chain = { isBroken: false, seenUntil: Number.POSITIVE_INFINITY, opened: 0 }
  const provider: PaymentProvider = {
    name: 'chain',
    methods: [{ asset: 'chain:1/token', symbol: 'USDT', decimals: 6, network: 'Test' }],
    isAvailable: () => !chain.isBroken,
    open: async ({ depositIndex, price }) => {
      if (chain.isBroken) throw new Error('the chain is unreachable')
      chain.opened += 1
      return { payTo: `address ${depositIndex}`, asset: 'chain:1/token', amount: BigInt(price) * UNIT }
    },
    start: async () => undefined,
    stop: async () => undefined,
    seenUntil: () => chain.seenUntil,
  }
  const rules = new VanityRules(vanityRules, { clock, log })
  const goods = createGoods(rules)
  const methods = new PaymentMethods([provider, ...others])
  const ledger = new PaymentLedger({ ...parts, log, goods, methods })
  const clockTrust = new ClockTrust({ ...parts, log })
  const isClockTrusted = (): Promise<boolean> => clockTrust.isTrusted()
  const orders = new Orders({ ...parts, goods, methods, isClockTrusted })
  const reserveRate = new ReserveRate({
    ...{ ...parts, rates, secret: systemRandom(32), securityLog: noSecurityLog },
    metrics: new RelayMetrics({ clock: parts.clock, log }),
  })
  const endings = [eraseOrders, endChannels]
  const deletion = new AccountDeletion({ ...parts, log, endings, erasers: [eraseChannels] })

  const add = (): Promise<Person> =>
    storage.transaction(async (sql) => {
      const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
      const added = await addAccount(sql, { ...keys, nickname: 'n' }, parts)
      const alias = check(AliasId, added?.alias_id)
      const account = await findAccountByAlias(sql, alias)
      if (!account) throw new Error('no account was added')
      return { id: account.id, alias }
    })
  const [alice, bob, carol] = [await add(), await add(), await add()]
  let transfers = 0

  const world = {
    ...{
      store,
      storage,
      clock,
      chain,
      ledger,
      orders,
      clockTrust,
      rules,
      limits,
      alice,
      bob,
      carol,
      bus: parts.bus,
      /** What was logged: levels with events, and the fields of each. */
      logEvents,
      logFields,
      methods,
    },
    /** The ledger and the orders of the same shop, over another connection to the store. */
    on: (other: Storage) => ({
      ledger: new PaymentLedger({ ...parts, log, storage: other, goods, methods }),
      orders: new Orders({ ...parts, goods, storage: other, methods, isClockTrusted }),
    }),
    /** The same shop after a restart with other providers besides that of the simulated chain. */
    restarted: (others: readonly PaymentProvider[]) => {
      const changed = { ...parts, goods, log, methods: new PaymentMethods([provider, ...others]) }
      const ledger = new PaymentLedger(changed)
      return {
        ...{ methods: changed.methods, ledger, sweep: () => sweepOrders({ ...changed, ledger }) },
        orders: new Orders({ ...changed, isClockTrusted }),
      }
    },
    /** Orders an id. */
    buyAlias: (buyer: Person, alias = 'river') =>
      purchase(check(AliasId, alias), buyer.id, { orders, rules }),
    /** Orders an id without an account. */
    reserve: (address: string, alias = 'river') =>
      reserve(check(AliasId, alias), address, { orders, rules, reserveRate }),
    reserveRate,
    /** Makes a channel of this owner that is for sale. */
    offer: async (owner: Person, price = 40): Promise<ChannelId> =>
      storage.transaction(async (sql) => {
        const details = { name: 'Cats', description: '', isPublic: true }
        const id = await createChannel(sql, owner.id, details, parts)
        await setSalePrice(sql, { id, caller: owner.id }, price)
        return id
      }),
    buyChannel: (buyer: Person, channel: ChannelId) =>
      orderChannel({ channel, buyer: buyer.id }, { orders, clock }),
    buySeat: (buyer: Person) => orderSeat(buyer.id, { orders }),
    bind: (account: Person, order: OrderId) =>
      storage.transaction((sql) => bind(sql, { order, account: account.id }, { clock })),
    channel: (id: ChannelId, viewer: Person) => getChannel(storage.sql, id, viewer.id),
    remove: (account: Person) => deletion.delete(account.id),
    /** Records a payment for an order: by default its price, now, and final. */
    pay: async (order: Order, change: Partial<PaymentSeen> = {}): Promise<string> => {
      transfers += 1
      const seen: PaymentSeen = {
        ...{ reference: `chain:1/${transfers}`, scope: 'chain:1', for: { payTo: order.pay_to } },
        ...{ asset: order.asset, amount: BigInt(order.amount), at: clock.now(), isFinal: true },
        ...change,
      }
      await ledger.transaction((entries) => entries.record(seen))
      return seen.reference
    },
    sweep: async (options?: { batchSize?: number; after?: Order | undefined }) => {
      await forgetParties(parts)
      return await sweepOrders({ ...parts, ledger, methods, log }, options)
    },
    /** Ends expired orders over another connection to the store. */
    sweepOn: (other: Storage) => sweepOrders({ ...parts, storage: other, ledger, methods, log }),
    /** The watcher of orders' ends, over this connection to the store. */
    endsOn: (other: Storage) =>
      new OrderEnds({
        ...{ ...parts, storage: other, log, isClockTrusted, seenUntil: () => [chain.seenUntil] },
        sweep: async () => void (await sweepOrders({ ...parts, storage: other, ledger, methods, log })),
      }),
    status: async ({ order_id }: Order) => (await findOrder(storage.sql, order_id))?.status,
    /** The outcome of each payment for an order: `counted`, or why it is refunded. */
    outcomes: async ({ id }: Order): Promise<string[]> => {
      const payments = await listPayments(storage.sql, id)
      return payments.map(({ state, outcome, reason, refund_amount, amount }) => {
        if (outcome === null) return state
        const back =
          refund_amount === null ? '' : ` ${reason} ${refund_amount === amount ? 'all' : refund_amount}`
        return outcome + back
      })
    },
    /** The notices stored for an account. */
    notices: async (account: Person): Promise<unknown[]> => {
      const rows = await storage.sql<{ frame: string }>`
        SELECT frame FROM notices WHERE account_id = ${account.id} ORDER BY id`
      return rows.map(({ frame }) => JSON.parse(frame))
    },
  }
  return world
}
