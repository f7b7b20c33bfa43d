// What the tests of orders and payments are made of: people, a clock of their own, a shop, and a chain that is told what
// happens on it. (The chain itself is real in payments/providers/evm*.test.ts and evm-shop.test.ts.)
import { AliasId, type ChannelId, check, defaultLimits, type Limits, type OrderId } from '@sotto/protocol'
import { addAccount, deleteAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { createChannel, eraseChannels, getChannel, setSalePrice } from '../src/channels/catalog.ts'
import { channelGoods, seatGoods } from '../src/channels/channels.ts'
import { orderChannel, orderSeat } from '../src/channels/trade.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { Expiry } from '../src/messages/expiry.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { sweepOrders } from '../src/payments/expiry.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import { findOrder, type Order } from '../src/payments/order.ts'
import { Orders } from '../src/payments/orders.ts'
import { listPayments } from '../src/payments/payment.ts'
import { eraseOrders } from '../src/payments/payments.ts'
import type { PaymentProvider, PaymentSeen } from '../src/payments/provider.ts'
import type { Storage } from '../src/storage/storage.ts'
import { bind } from '../src/vanity/bind.ts'
import { purchase } from '../src/vanity/purchase.ts'
import { VanityRules, vanityGoods } from '../src/vanity/vanity.ts'
import type { engines } from './engines.ts'
import { clockAt, type Person } from './mailbox-world.ts'

export const MINUTE_MS = 60_000
/** One whole unit, in the smallest ones. */
export const UNIT = 1_000_000n

/** A shop on one engine. */
export type ShopWorld = Awaited<ReturnType<typeof openShopWorld>>

/** Opens a shop of its own. */
export async function openShopWorld(engine: (typeof engines)[number], changed: Partial<Limits> = {}) {
  const store = await engine.open()
  const { storage } = store
  const clock = clockAt(1_800_000_000_000)
  const limits: Limits = { ...defaultLimits(), ...changed }
  const parts = { storage, clock, limits, randomBytes: systemRandom, bus: createInProcessBus() }
  const log = createLog('silent')
  const chain = { isBroken: false, seenUntil: Number.POSITIVE_INFINITY, opened: 0 }
  const provider: PaymentProvider = {
    name: 'chain',
    unit: { symbol: 'USDT', decimals: 6, network: 'Test' },
    open: async ({ depositIndex, price }) => {
      if (chain.isBroken) throw new Error('the chain is not there')
      chain.opened += 1
      return { payTo: `address ${depositIndex}`, asset: 'chain:1/token', amount: BigInt(price) * UNIT }
    },
    start: async () => undefined,
    stop: async () => undefined,
    seenUntil: () => chain.seenUntil,
  }
  const goods = { vanity: vanityGoods, reserve: vanityGoods, channel: channelGoods, quota: seatGoods }
  const ledger = new PaymentLedger({ ...parts, goods })
  const expiry = new Expiry({ ...parts, log })
  const mayExpire = (): Promise<boolean> => expiry.mayExpire()
  const orders = new Orders({ ...parts, provider, mayExpire })
  const rules = new VanityRules(undefined, { clock, log })

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
      expiry,
      rules,
      limits,
      alice,
      bob,
      carol,
      bus: parts.bus,
      provider,
    },
    /** The same book and the same counter on another way into the store. */
    on: (other: Storage) => ({
      ledger: new PaymentLedger({ ...parts, storage: other, goods }),
      orders: new Orders({ ...parts, storage: other, provider, mayExpire }),
    }),
    /** Orders an id. */
    buyAlias: (buyer: Person, alias = 'river') =>
      purchase(check(AliasId, alias), { account: buyer.id }, { orders, rules }),
    reserve: (address: string, alias = 'river') =>
      purchase(check(AliasId, alias), { address }, { orders, rules }),
    /** A channel of somebody's that is for sale. */
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
    remove: (account: Person) =>
      deleteAccount(storage, account.id, { clock, erasers: [eraseChannels, eraseOrders] }),
    /** Money arrives for an order: its price, now, and for good, unless told otherwise. */
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
    sweep: (options?: { pageSize?: number; after?: Order | undefined }) =>
      sweepOrders({ ...parts, provider, log }, options),
    status: async ({ order_id }: Order) => (await findOrder(storage.sql, order_id))?.status,
    /** What became of the money for an order: `counted`, or why it goes back. */
    outcomes: async ({ id }: Order): Promise<string[]> => {
      const payments = await listPayments(storage.sql, id)
      return payments.map(({ state, outcome, reason, refund_amount, amount }) => {
        if (outcome === null) return state
        const back =
          refund_amount === null ? '' : ` ${reason} ${refund_amount === amount ? 'all' : refund_amount}`
        return outcome + back
      })
    },
    /** The frames kept for an account. */
    notices: async (account: Person): Promise<unknown[]> => {
      const rows = await storage.sql<{ frame: string }>`
        SELECT frame FROM notices WHERE account_id = ${account.id} ORDER BY id`
      return rows.map(({ frame }) => JSON.parse(frame))
    },
  }
  return world
}
