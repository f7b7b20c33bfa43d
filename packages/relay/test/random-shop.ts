// A shop that is driven through a random schedule on a model chain: buyers order and pay, the chain
// reorganises, endpoints fail and lie, the relay restarts, prices change, and some orders are paid by hand.
import { AliasId, type ChannelId, check, defaultLimits, ProtocolError } from '@sotto/protocol'
import { setSalePrice } from '../src/channels/catalog.ts'
import { orderChannel, orderSeat } from '../src/channels/trade.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { createGoods } from '../src/goods.ts'
import { createLog } from '../src/operations/log.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import { orderCommands } from '../src/payments/operator-orders.ts'
import type { Order } from '../src/payments/order.ts'
import { sweepOrders } from '../src/payments/order-expiry.ts'
import { Orders } from '../src/payments/orders.ts'
import type { Payment } from '../src/payments/payment.ts'
import { PaymentMethods } from '../src/payments/payment-methods.ts'
import { ChainReader } from '../src/payments/providers/evm-chain-reader.ts'
import { ChainUnreachable, Rpc } from '../src/payments/providers/evm-rpc.ts'
import { ManualPayments } from '../src/payments/providers/manual.ts'
import type { AccountId, Storage } from '../src/storage/storage.ts'
import { bind } from '../src/vanity/bind.ts'
import { purchase } from '../src/vanity/purchase.ts'
import { clockAt } from './mailbox-world.ts'
import {
  type Behaviour,
  LIES,
  ModelChain,
  type ModelEndpoint,
  type ModelTransfer,
  word,
} from './model-chain.ts'
import { chooseByHand, confirmByHand, EndsWatch } from './orders-by-hand.ts'
import { CHANNEL_PRICE, modelPayments, openMarket } from './random-market.ts'
import { randomOf } from './seeded-random.ts'
import { type Aftermath, TOKEN, UNIT } from './shop-books.ts'

const OTHER_TOKEN = `0x${'bb'.repeat(20)}`
const CONFIRMATIONS = 3
const ALIASES = ['river', 'valley', 'island']
const BLOCK_MS = 12_000
/** More than an order lasts. */
const LONG_MS = 16 * 60_000
const HOUR_MS = 3_600_000
const PAYABLE: readonly Behaviour[] = ['honest', 'down', 'behind']

/** Drives a new shop through the schedule of a seed. @param endpoints at least three */
export async function runSchedule(
  storage: Storage,
  endpoints: readonly ModelEndpoint[],
  options: { seed: number; steps: number; lies: boolean; holdHours: number },
): Promise<Aftermath> {
  const shop = new RandomShop(storage, endpoints, options)
  await shop.open()
  for (let step = 0; step < options.steps; step++) await shop.step()
  return await shop.settle()
}

class RandomShop {
  readonly #storage: Storage
  readonly #endpoints: readonly ModelEndpoint[]
  readonly #random: (below: number) => number
  readonly #lies: boolean
  /** How long orders last that are to be paid by hand; 0 for the usual time. */
  readonly #holdHours: number
  readonly #clock = clockAt(1_800_000_000_000)
  readonly #chain = new ModelChain(1_800_000_000)
  readonly #prices = new Map(ALIASES.map((alias): [string, number | undefined] => [alias, 10]))
  readonly #listings = new Map<string, number | null>()
  readonly #orders: Order[] = []
  readonly #placedAt = new Map<string, number>()
  readonly #confirmed = new Set<number>()
  readonly #ends: EndsWatch
  readonly #soldLate: { order: Order; price: number | undefined }[] = []
  #buyers: AccountId[] = []
  #pending: ModelTransfer[] = []
  #transactions = 0
  #relay: ReturnType<RandomShop['start']> | undefined

  constructor(
    storage: Storage,
    endpoints: readonly ModelEndpoint[],
    { seed, lies, holdHours }: { seed: number; lies: boolean; holdHours: number },
  ) {
    this.#storage = storage
    this.#endpoints = endpoints
    this.#random = randomOf(seed)
    this.#lies = lies
    this.#holdHours = holdHours
    this.#ends = new EndsWatch(this.#limits.orderSeconds * 1000, this.#holdHours * HOUR_MS)
    for (const endpoint of endpoints)
      Object.assign(endpoint, { chain: this.#chain, behaviour: 'honest', onRequest: undefined })
  }

  async open(): Promise<void> {
    const parts = { clock: this.#clock, randomBytes: this.#randomBytes, limits: this.#limits }
    const { seller, buyers, channels } = await openMarket(this.#storage, parts)
    this.#buyers = buyers
    this.#seller = seller
    for (const id of channels) this.#listings.set(id, CHANNEL_PRICE)
    this.#mine(12) // So that reorganisations can be deep from the beginning.
    this.#relay = this.start()
    await this.#read()
  }

  #seller: AccountId | undefined
  readonly #limits = { ...defaultLimits(), pendingOrders: 3, holdAgainSeconds: 0 }
  readonly #randomBytes = (count: number): Uint8Array<ArrayBuffer> =>
    Uint8Array.from({ length: count }, () => this.#random(256))

  start() {
    const [storage, clock, limits] = [this.#storage, this.#clock, this.#limits]
    const log = createLog('silent')
    const randomBytes = this.#randomBytes
    const stopping = new AbortController()
    const bus = createInProcessBus()
    const valuate = (id: string) => {
      const price = this.#prices.get(id)
      return price === undefined ? undefined : { price, tier: 'standard' as const, isFeatured: false }
    }
    const goods = createGoods({ valuate })
    const urls = this.#endpoints.map(({ url }) => url)
    const chainId = this.#chain.chainId
    const rpcParts = { clock, randomBytes, log, stopping: stopping.signal, restMs: 1, chainId }
    const asset = `evm:${chainId}/${TOKEN}`
    const provider = modelPayments(asset, () => reader)
    const byHand = new ManualPayments({ payTo: 'the till', holdHours: this.#holdHours || undefined })
    const methods = new PaymentMethods([provider, byHand])
    const ledger = new PaymentLedger({ storage, bus, clock, limits, log, goods, methods })
    const reader = new ChainReader({
      ...{ rpc: new Rpc(urls, rpcParts), ledger, storage, clock, log, provider: 'evm' },
      ...{ confirmations: CONFIRMATIONS, agree: 2, tokens: [TOKEN] },
    })
    const isClockTrusted = async (): Promise<boolean> => true
    const orders = new Orders({ storage, methods, clock, randomBytes, limits, goods, isClockTrusted })
    return {
      ...{ reader, orders, stopping, valuate, commands: orderCommands({ storage, ledger, clock }) },
      sweep: () => sweepOrders({ storage, ledger, methods, clock, limits, log: loud }),
      resume: () => reader.resume(`evm:${chainId}`),
    }
  }

  get #now(): ReturnType<RandomShop['start']> {
    if (!this.#relay) throw new Error('the shop is not open')
    return this.#relay
  }

  async step(): Promise<void> {
    const kinds: [number, () => unknown][] = [
      [7, () => this.#order()],
      [10, () => this.#pay()],
      [8, () => this.#mine(1 + this.#random(4))],
      [10, () => this.#read()],
      [5, () => this.#purchase()],
      [4, () => this.#wait()],
      [4, () => this.#reorganise()],
      [4, () => this.#misbehave()],
      [2, () => this.#restart()],
      [7, () => this.#changePrice()],
      [1, () => this.#bind()],
      [1, () => this.#refund()],
      [4, () => this.#chooseByHand()],
      [1, () => this.#confirmByHand()],
    ]
    let at = this.#random(kinds.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, act] of kinds) {
      at -= weight
      if (at >= 0) continue
      await act()
      return
    }
  }

  /** Lets every endpoint be honest, and everything be read and ended. */
  async settle(): Promise<Aftermath> {
    for (const endpoint of this.#endpoints) endpoint.behaviour = 'honest'
    this.#mine(2)
    this.#clock.advance(LONG_MS + this.#holdHours * HOUR_MS)
    this.#mine(CONFIRMATIONS + 8)
    for (let rounds = 0; rounds < 6; rounds++) {
      this.#clock.advance(60_000)
      await this.#read()
      this.#mine(1)
    }
    const { sql } = this.#storage
    const listed = async (input: object): Promise<string[]> => {
      const lines = (await this.#now.commands['orders.list']({ ...input, limit: 1000 })) as {
        order_id: string
      }[]
      return lines.map(({ order_id }) => order_id)
    }
    const [seats] = await sql<{ sum: number | null }>`SELECT SUM(bought) AS sum FROM channel_seats`
    return {
      ...{ chain: this.#chain, placedAt: this.#placedAt, soldLate: this.#soldLate },
      destinations: await sql<{ pay_to: string }>`SELECT pay_to FROM order_destinations`,
      orders: await sql<Order>`SELECT * FROM orders ORDER BY id`,
      payments: await sql<Payment>`SELECT * FROM payments ORDER BY id`,
      payouts: await sql<{ order_number: number; amount: number }>`SELECT order_number, amount FROM payouts`,
      listed: { refunds: await listed({ refunds: true }), lost: await listed({ lost: true }) },
      seats: Number(seats?.sum ?? 0),
      longHolds: this.#ends.longHolds,
    }
  }

  async #order(): Promise<void> {
    const { orders, valuate } = this.#now
    const buyer = this.#pick(this.#buyers)
    const channel = this.#pick([...this.#listings.keys()]) as ChannelId
    const rules = { valuate, featured: () => [] }
    const place = this.#pick([
      () => purchase(check(AliasId, this.#pick(ALIASES)), buyer, { orders, rules: rules as never }),
      () => purchase(check(AliasId, this.#pick(ALIASES)), buyer, { orders, rules: rules as never }),
      () => orderChannel({ channel, buyer }, { orders, clock: this.#clock }),
      () => orderSeat(buyer, { orders }),
    ])
    try {
      const order = await place()
      if (this.#placedAt.has(order.order_id)) return
      this.#placedAt.set(order.order_id, order.price)
      this.#orders.push(order)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
    }
  }

  // A whole purchase, so that later steps meet payments that are final.
  async #purchase(): Promise<void> {
    await this.#order()
    this.#pay()
    this.#mine(CONFIRMATIONS + this.#random(2))
    await this.#read()
  }

  #pay(): void {
    if (this.#orders.length === 0) return
    const recent = this.#orders.slice(-4)
    const { pay_to: to, amount } = this.#pick(this.#random(4) === 0 ? this.#orders : recent)
    const price = BigInt(amount)
    const paid = this.#pick([price, price, price, price / 2n, price - price / 2n, price + UNIT, price * 2n])
    this.#send({ token: this.#random(10) === 0 ? OTHER_TOKEN : TOKEN, to, amount: paid })
  }

  #send(transfer: Omit<ModelTransfer, 'transaction'>): void {
    this.#transactions += 1
    this.#pending.push({ ...transfer, transaction: word(this.#transactions + 0x77_0000) })
  }

  #mine(count: number): void {
    for (let n = 0; n < count; n++) {
      this.#clock.advance(BLOCK_MS)
      this.#chain.mine(this.#pending.splice(0), Math.floor(this.#clock.now() / 1000))
    }
  }

  #wait(): void {
    this.#clock.advance(this.#random(LONG_MS))
    this.#mine(1)
  }

  // Mostly less deep than the confirmations, sometimes deeper. Some transactions move to other blocks, some
  // wait, some never return.
  #reorganise(): void {
    const isDeep = this.#random(2) === 0
    const depth = 1 + this.#random(isDeep ? 10 : CONFIRMATIONS - 1)
    const removed = this.#chain.remove(depth)
    const left: ModelTransfer[] = []
    for (const { transfers, at } of removed) {
      const kept: ModelTransfer[] = []
      for (const transfer of [...left.splice(0), ...transfers]) {
        const fate = this.#random(8)
        if (fate < 3) kept.push(transfer)
        else if (fate < 4) left.push(transfer)
        else if (fate < 5) this.#pending.push(transfer)
      }
      this.#chain.mine(kept, at)
    }
    this.#pending.push(...left)
    this.#mine(1)
  }

  #misbehave(): void {
    const endpoint = this.#pick(this.#endpoints)
    const others = this.#endpoints.filter((one) => one !== endpoint)
    const isLying = others.some(({ behaviour }) => LIES.includes(behaviour))
    endpoint.behaviour = this.#pick(this.#lies && !isLying ? [...PAYABLE, ...LIES] : PAYABLE)
    const order = this.#orders.at(-1)
    endpoint.invented = order && {
      ...{ transaction: word(0xbad), token: TOKEN, to: order.pay_to, amount: BigInt(order.amount) },
    }
  }

  // In the middle of reading, if there is something to read.
  async #restart(): Promise<void> {
    const { stopping } = this.#now
    let left = this.#random(12)
    for (const endpoint of this.#endpoints)
      endpoint.onRequest = () => {
        left -= 1
        if (left < 0) stopping.abort()
      }
    await this.#read()
    for (const endpoint of this.#endpoints) endpoint.onRequest = undefined
    stopping.abort()
    this.#relay = this.start()
    await this.#now.resume()
    await this.#now.sweep()
    await this.#note()
  }

  async #changePrice(): Promise<void> {
    const price = this.#pick([5, 10, 20, 500, undefined])
    if (this.#random(2) === 0) {
      this.#prices.set(this.#pick(ALIASES), price)
      return
    }
    const id = this.#pick([...this.#listings.keys()])
    const caller = this.#seller
    if (caller === undefined) return
    await this.#storage
      .transaction((sql) => setSalePrice(sql, { id: id as ChannelId, caller }, price ?? null))
      .then(
        () => this.#listings.set(id, price ?? null),
        (error: unknown) => {
          if (!(error instanceof ProtocolError)) throw error // It was sold.
        },
      )
  }

  async #bind(): Promise<void> {
    const [order] = await this.#storage.sql<Order>`
      SELECT * FROM orders WHERE kind = 'vanity' AND status = 'confirmed' AND bound_at IS NULL LIMIT 1`
    const account = order?.buyer_id
    if (!order || account == null) return
    await this.#storage.transaction((sql) =>
      bind(sql, { order: order.order_id, account }, { clock: this.#clock }),
    )
  }

  async #refund(): Promise<void> {
    const [due] = await this.#storage.sql<Payment>`
      SELECT * FROM payments WHERE refund_amount IS NOT NULL AND refunded_at IS NULL ORDER BY id LIMIT 1`
    if (!due) return
    const by = { who: 'ops', why: 'refund' }
    await this.#now.commands['orders.refund-recorded']({ payment: due.reference, reference: 'r', ...by })
  }

  async #chooseByHand(): Promise<void> {
    const order = this.#orders.length === 0 ? undefined : this.#pick(this.#orders.slice(-4))
    if (order) await chooseByHand(order, this.#now.orders, { andBack: this.#random(2) === 0 })
  }

  async #confirmByHand(): Promise<void> {
    this.#transactions += 1
    await confirmByHand(this.#storage.sql, this.#now.commands, `till ${this.#transactions}`)
    await this.#note()
  }

  async #read(): Promise<void> {
    const { reader, stopping, sweep } = this.#now
    for (let rounds = 0; rounds < 3; rounds++) {
      this.#clock.advance(100) // Endpoints that failed are asked again.
      await reader.read(stopping.signal).catch((error: unknown) => {
        if (!(error instanceof ChainUnreachable || stopping.signal.aborted)) throw error
      })
      await this.#note()
    }
    await sweep()
    await this.#note()
  }

  // Prices do not change while something is judged, so the present price is the one that late money met.
  async #note(): Promise<void> {
    await this.#ends.check(this.#storage.sql, this.#clock.now())
    const confirmed = await this.#storage.sql<Order>`SELECT * FROM orders WHERE status = 'confirmed'`
    for (const order of confirmed.filter(({ id }) => !this.#confirmed.has(id))) {
      this.#confirmed.add(order.id)
      const final = await this.#storage.sql<Payment>`
        SELECT * FROM payments WHERE order_number = ${order.id} AND outcome IS NOT NULL`
      const late = final.filter(({ at }) => at > order.expires_at)
      // Late money may also show that what came in time is enough for a lower price.
      const isAtFirstPrice = order.price === this.#placedAt.get(order.order_id)
      if (late.length === 0 || (isAtFirstPrice && late.every(({ outcome }) => outcome !== 'counted')))
        continue
      const { kind, ref_id } = order
      const price =
        kind === 'quota' ? 5 : kind === 'channel' ? this.#listings.get(ref_id) : this.#prices.get(ref_id)
      this.#soldLate.push({ order, price: price ?? undefined })
    }
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random(from.length)] as T
  }
}

const fail = (event: string, { error }: { error?: unknown } = {}): void => {
  throw error instanceof Error ? error : new Error(event)
}
// An order that cannot be ended is a defect here.
const loud = { error: fail, warn: () => undefined, info: () => undefined, debug: () => undefined }
