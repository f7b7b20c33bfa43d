// Places orders. A unique index on what an order holds makes sure that only one of several simultaneous
// orders succeeds.
import {
  type ErrorCode,
  type Limits,
  type OrderId,
  type OrderKind,
  ProtocolError,
  type RefId,
} from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { type AccountId, isUniqueViolation, type Sql, type Storage } from '../storage/storage.ts'
import {
  addDestination,
  chooseDestination,
  findDestination,
  type OpenedDestination,
  openedAssets,
} from './destinations.ts'
import type { AllGoods } from './goods.ts'
import { isPaidUnlessLost } from './judgement.ts'
import { holdLonger } from './long-holds.ts'
import { addEvent, findOrder, lockBuyers, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import { isOver, makeRoom } from './order-expiry.ts'
import { listPayments } from './payment.ts'
import type { Offer, PaymentMethods } from './payment-methods.ts'

/** A request to order something. */
export interface OrderRequest {
  readonly kind: OrderKind
  readonly refId: RefId
  readonly seller?: AccountId
  /** Whole stablecoin units, at the current price. */
  readonly price: number
  /**
   * The party, an account or a network address, that cannot order the same thing again for a while if this
   * order expires.
   */
  readonly party: string
  /** The error for a buyer who comes too late. */
  readonly taken: ErrorCode
  /** A description for people: `the id ada`. */
  readonly title: string
  /**
   * Whether the goods are available. Called after the order holds them, because they may have been delivered
   * just before.
   */
  readonly isFree?: (sql: Sql) => Promise<boolean>
}

/** The parts that placing orders needs. */
export interface OrderParts {
  readonly storage: Storage
  readonly methods: PaymentMethods
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly goods: AllGoods
  /** Resolves to false while the clock is not trusted; then no order expires. */
  readonly isClockTrusted: () => Promise<boolean>
}

/** An attempt to place an order. */
interface Attempt {
  readonly buyer: AccountId | undefined
  readonly request: OrderRequest
  /** The key that the order will hold; undefined if any number can be sold. */
  readonly holds: string | undefined
  /** Whether an order is over, in the transaction of the attempt. */
  readonly isDue: (order: Order, now: number) => Promise<boolean>
}

/** From this index on, BIP-32 derives hardened keys, so deposit indexes end here. */
const INDEX_END = 2 ** 31
/** The row of relay_state that counts deposit indexes. */
const INDEX_ROW = 'deposit_index'

/** Places orders and asks the providers where to pay for them. */
export class Orders {
  readonly #parts: OrderParts
  /** The openings that run for a choice, by order and method. */
  readonly #opening = new Map<string, Promise<Order>>()

  constructor(parts: OrderParts) {
    this.#parts = parts
  }

  /**
   * Places an order. If the same buyer already has a pending order for the same thing, returns that one.
   * @param buyer undefined for a buyer without an account
   * @param prepare decides what is ordered, inside the transaction that places the order
   * @throws ProtocolError what `prepare` throws, the request's `taken`, `TOO_MANY_ORDERS`, `RATE_LIMITED` if
   *   the party's previous order for the same thing expired recently, `PAYMENTS_UNAVAILABLE`
   */
  async place(buyer: AccountId | undefined, prepare: (sql: Sql) => Promise<OrderRequest>): Promise<Order> {
    const { storage, methods, goods } = this.#parts
    const tried: { request?: OrderRequest } = {}
    // Asked before the transaction, which must not wait for another database connection.
    const isClockTrusted = await this.#parts.isClockTrusted()
    const placed = await storage
      .transaction(async (sql) => {
        // Lock the account, so that two requests at the same time cannot both be the last one allowed. The
        // account is locked first, as everywhere.
        if (buyer !== undefined && !(await lockAccounts(sql, [buyer]))) throw new ProtocolError('TOKEN_DEAD')
        const request = await prepare(sql)
        tried.request = request
        const isDue = async (order: Order, now: number): Promise<boolean> =>
          isClockTrusted && isOver(order, await openedAssets(sql, order.id), { methods, now })
        const attempt = { buyer, request, holds: goods[request.kind].holdOf(request.refId), isDue }
        return (await this.#findHeld(sql, attempt)) ?? (await this.#add(sql, attempt))
      })
      .catch((error) => {
        throw tried.request && isUniqueViolation(error) ? new ProtocolError(tried.request.taken) : error
      })
    return placed.pay_to === '' ? await this.#openFirst(placed) : placed
  }

  /**
   * Chooses the way to pay for an order, and opens its place if it is chosen for the first time. Places that
   * were opened before stay valid.
   * @param asset the method
   * @returns undefined if there is no such order or method
   * @throws ProtocolError `ORDER_CLOSED` if nothing more is to be paid, `PAYMENTS_UNAVAILABLE`
   */
  async choose(id: OrderId, asset: string): Promise<Order | undefined> {
    const { storage, methods } = this.#parts
    const [order, offer] = [await findOrder(storage.sql, id), methods.find(asset)]
    if (!order || order.pay_to === '' || !offer) return undefined
    await this.#checkPayable(storage.sql, order)
    if (!offer.provider.isAvailable(offer.method)) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    const opened = await findDestination(storage.sql, order.id, asset)
    return await (opened ? this.#makeChosen(opened) : this.#openOnce(order, offer))
  }

  // A processor may be asked, so requests at the same time share one opening.
  async #openOnce(order: Order, offer: Offer): Promise<Order> {
    const key = `${order.id} ${offer.method.asset}`
    const running = this.#opening.get(key) ?? this.#openAndChoose(order, offer)
    this.#opening.set(key, running)
    try {
      return await running
    } finally {
      this.#opening.delete(key)
    }
  }

  async #openAndChoose(order: Order, offer: Offer): Promise<Order> {
    return await this.#makeChosen(await this.#askForPlace(order, offer))
  }

  async #makeChosen(destination: OpenedDestination): Promise<Order> {
    return await this.#parts.storage.transaction(async (sql) => {
      await lockBuyers(sql, [destination.order_number])
      const order = await lockOrderNumber(sql, destination.order_number)
      await this.#checkPayable(sql, order)
      return await this.#nameDestination(sql, order, await addDestination(sql, destination))
    })
  }

  // Its way to pay may give the order more time.
  async #nameDestination(sql: Sql, order: Order, opened: OpenedDestination): Promise<Order> {
    const { methods, clock } = this.#parts
    await chooseDestination(sql, opened)
    const holdMs = methods.find(opened.asset)?.provider.holdMs
    if (holdMs !== undefined) await holdLonger(sql, order, { holdMs, now: clock.now() })
    return await lockOrderNumber(sql, order.id)
  }

  async #checkPayable(sql: Sql, order: Order): Promise<void> {
    const isOver = this.#parts.clock.now() > order.expires_at
    const payments = order.status === 'pending' && !isOver ? await listPayments(sql, order.id) : []
    if (order.status !== 'pending' || isOver || isPaidUnlessLost(order, payments))
      throw new ProtocolError('ORDER_CLOSED')
  }

  /**
   * The order that holds the same key, if it belongs to the same buyer. @throws ProtocolError if it belongs
   * to another buyer
   */
  async #findHeld(sql: Sql, { buyer, request, holds, isDue }: Attempt): Promise<Order | undefined> {
    if (holds === undefined) return undefined
    const [found] = await sql<{ id: OrderNumber }>`SELECT id FROM orders WHERE holds = ${holds}`
    if (!found) return undefined
    const order = await lockOrderNumber(sql, found.id)
    if (order.holds === null) return undefined
    const now = this.#parts.clock.now()
    // The sweep may not have expired it yet.
    if ((await isDue(order, now)) && (await makeRoom(sql, order, { ...this.#parts, now }))) return undefined
    const isOwn = order.buyer_id !== null && order.buyer_id === buyer && order.kind === request.kind
    if (!isOwn || order.status !== 'pending') throw new ProtocolError(request.taken)
    return order
  }

  async #add(sql: Sql, { buyer, request, holds, isDue }: Attempt): Promise<Order> {
    const { clock, randomBytes, limits } = this.#parts
    const now = clock.now()
    const isDueNow = (pending: Order): Promise<boolean> => isDue(pending, now)
    if (buyer !== undefined && (await countPending(sql, buyer, isDueNow)) >= limits.pendingOrders)
      throw new ProtocolError('TOO_MANY_ORDERS')
    if (holds !== undefined) await this.#checkParty(sql, request, now)
    const [order] = await sql<Order>`
      INSERT INTO orders (order_id, kind, ref_id, title, holds, buyer_id, seller_id, party, price, provider, deposit_index,
        pay_to, asset, amount, page_token, status, created_at, expires_at)
      VALUES (${`ord_${randomText(randomBytes, 18)}`}, ${request.kind}, ${request.refId}, ${request.title},
        ${holds ?? null}, ${buyer ?? null}, ${request.seller ?? null}, ${request.party}, ${request.price}, '',
        ${await nextDepositIndex(sql)}, '', '', '', ${randomText(randomBytes, 24)}, 'pending', ${now},
        ${now + limits.orderSeconds * 1000})
      RETURNING *`
    if (!order) throw new Error('the order was not placed')
    if (request.isFree && !(await request.isFree(sql))) throw new ProtocolError(request.taken)
    await addEvent(sql, order.id, { at: now, who: 'relay', what: 'placed', why: request.title })
    return order
  }

  // Stops a party from blocking sales by ordering again and again without paying.
  async #checkParty(sql: Sql, request: OrderRequest, now: number): Promise<void> {
    const againMs = this.#parts.limits.holdAgainSeconds * 1000
    const [last] = await sql<{ at: number | null }>`
      SELECT MAX(expires_at) AS at FROM orders WHERE party = ${request.party} AND ref_id = ${request.refId}
        AND status = 'expired'`
    const free = (last?.at ?? 0) + againMs
    if (last?.at && free > now) {
      throw new ProtocolError('RATE_LIMITED', { limit: 'holdAgainSeconds', retryAfterMs: free - now })
    }
  }

  // By the operator's first method that is available. An order that nobody knows where to pay is withdrawn.
  async #openFirst(order: Order): Promise<Order> {
    try {
      for (const offer of this.#parts.methods.byAvailability()) {
        const opened = await this.#openAt(order, offer).catch(ifUnavailable)
        if (opened) return opened
      }
      throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    } catch (error) {
      await this.#parts.storage.transaction(async (sql) => {
        await sql`DELETE FROM order_events WHERE order_number IN (SELECT id FROM orders WHERE id = ${order.id} AND pay_to = '')`
        await sql`DELETE FROM orders WHERE id = ${order.id} AND pay_to = ''`
      })
      throw error
    }
  }

  // Not in the transaction that placed the order, because the provider may send requests to a payment
  // processor.
  async #openAt(order: Order, offer: Offer): Promise<Order> {
    const { id } = order
    const destination = await this.#askForPlace(order, offer)
    return await this.#parts.storage.transaction(async (sql) => {
      await lockBuyers(sql, [id])
      const [locked] = await sql<Order>`UPDATE orders SET status = status WHERE id = ${id} RETURNING *`
      // If two requests opened it at the same time, the other one may have failed and deleted it.
      if (!locked) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
      const opened = await addDestination(sql, destination)
      return locked.pay_to === '' ? await this.#nameDestination(sql, locked, opened) : locked
    })
  }

  async #askForPlace(order: Order, { method, provider }: Offer): Promise<OpenedDestination> {
    const { id, order_id: orderId, deposit_index: depositIndex, price, title } = order
    const { clock, limits } = this.#parts
    // A processor keeps its rate of exchange that long, which must not be days.
    const expiresAt = Math.min(order.expires_at, clock.now() + limits.orderSeconds * 1000)
    const toOpen = { orderId, depositIndex, price, expiresAt, title }
    const { payTo, asset, amount, hostedPage } = await provider.open(toOpen, method)
    return {
      ...{ order_number: id, asset, provider: provider.name, pay_to: payTo, decimals: method.decimals },
      ...{ amount: amount.toString(), hosted_page: hostedPage ?? null },
    }
  }
}

function ifUnavailable(error: unknown): undefined {
  if (!(error instanceof ProtocolError && error.code === 'PAYMENTS_UNAVAILABLE')) throw error
}

// An overdue order counts, and keeps its hold, until it is known whether it was paid.
async function countPending(
  sql: Sql,
  buyer: AccountId,
  isDueNow: (order: Order) => Promise<boolean>,
): Promise<number> {
  const pending = await sql<Order>`SELECT * FROM orders WHERE buyer_id = ${buyer} AND status = 'pending'`
  let count = 0
  for (const order of pending) if (!(await isDueNow(order))) count += 1
  return count
}

/**
 * Moves deposit indexes ahead, once after a backup was restored: an address must not be used for a second
 * order.
 */
export async function moveDepositIndexAhead(sql: Sql, by: number): Promise<void> {
  // Also if the backup contains no order: orders may have been placed after it was made.
  await sql`
    INSERT INTO relay_state (name, value) VALUES (${INDEX_ROW}, ${String(by)})
    ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(relay_state.value AS BIGINT) + ${by} AS TEXT)`
}

async function nextDepositIndex(sql: Sql): Promise<number> {
  const [row] = await sql<{ value: string }>`
    INSERT INTO relay_state (name, value) VALUES (${INDEX_ROW}, '0')
    ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(relay_state.value AS BIGINT) + 1 AS TEXT)
    RETURNING value`
  const index = Number(row?.value)
  if (!(index < INDEX_END)) throw new Error('the deposit addresses are used up')
  return index
}
